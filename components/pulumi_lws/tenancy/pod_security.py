"""Which level of the Pod Security Standards a pod keeps, and which of its fields keep it from a stricter one.

Source: the Pod Security Standards of Kubernetes 1.35; a test asks its admission controller the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pulumi_lws.tenancy.settings import Level

LEVELS: tuple[Level, ...] = ("privileged", "baseline", "restricted")
"""From what allows everything to what allows least."""

_CAPABILITIES = frozenset(
    {
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP"),
        *("SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    }
)
"""Capabilities that a container may add under ``baseline``; under ``restricted`` only NET_BIND_SERVICE."""

_VOLUMES = frozenset(
    {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
)
"""Kinds of volumes under ``restricted``."""

_SELINUX_TYPES = frozenset({"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"})

_HANDLERS = ("livenessProbe", "readinessProbe", "startupProbe")


@dataclass(frozen=True)
class Violation:
    """A field that keeps a pod from a stricter level.

    Attributes:
        level: The strictest level that allows it.
        part: What it is of.
        name: Name of the volume or container; empty for the pod itself.
        what: What it does, in words.
    """

    level: Level
    part: Literal["pod", "volume", "container"]
    name: str
    what: str


def violations(spec: Mapping[str, Any]) -> list[Violation]:
    """Return what keeps a pod from ``restricted``.

    Args:
        spec: Spec of the pod, as the Kubernetes API has it.
    """
    own = spec.get("securityContext") or {}
    containers = [*spec.get("initContainers", ()), *spec["containers"]]
    found = [
        *(Violation("privileged", "pod", "", what) for what in _pod(spec, own)),
        *(
            Violation(level, "volume", volume["name"], what)
            for volume in spec.get("volumes", ())
            for level, what in _volume(volume)
        ),
    ]
    for container in containers:
        name, context = container["name"], container.get("securityContext") or {}
        found += [Violation("privileged", "container", name, what) for what in _privileged(container, context)]
        found += [Violation("baseline", "container", name, what) for what in _unrestricted(context, own)]
    return found


def strictest(found: list[Violation]) -> Level:
    """Return the strictest level that allows all of it."""
    return LEVELS[min((LEVELS.index(violation.level) for violation in found), default=len(LEVELS) - 1)]


def _pod(spec: Mapping[str, Any], context: Mapping[str, Any]) -> Iterator[str]:
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(field):
            yield f"has {field}"
    yield from _unconfined(context)


def _unconfined(context: Mapping[str, Any]) -> Iterator[str]:
    """Tell what pods and containers both may say, and ``baseline`` forbids."""
    for profile in ("seccompProfile", "appArmorProfile"):
        if (context.get(profile) or {}).get("type") == "Unconfined":
            yield f"has an unconfined {profile}"
    selinux = context.get("seLinuxOptions") or {}
    if selinux.get("user") or selinux.get("role") or selinux.get("type", "") not in _SELINUX_TYPES:
        yield "has SELinux options of its own"
    if (context.get("windowsOptions") or {}).get("hostProcess"):
        yield "is a process of the node"


def _volume(volume: Mapping[str, Any]) -> Iterator[tuple[Level, str]]:
    if "hostPath" in volume:
        yield "privileged", "is a folder of the node"
    elif others := sorted(volume.keys() - _VOLUMES - {"name"}):
        yield "baseline", f"is of the kind {others[0]}"


def _privileged(container: Mapping[str, Any], context: Mapping[str, Any]) -> Iterator[str]:
    if context.get("privileged"):
        yield "is privileged"
    added = (context.get("capabilities") or {}).get("add") or ()
    if beyond := sorted(set(added) - _CAPABILITIES):
        yield f"adds {', '.join(beyond)}"
    if context.get("procMount", "Default") != "Default":
        yield "sees all of /proc"
    if any(port.get("hostPort") for port in container.get("ports") or ()):
        yield "opens a port of the node"
    handlers = [container.get(probe) or {} for probe in _HANDLERS]
    handlers += [handler or {} for handler in (container.get("lifecycle") or {}).values()]
    if any((handler.get(kind) or {}).get("host") for handler in handlers for kind in ("httpGet", "tcpSocket")):
        yield "has a probe of another host"
    yield from _unconfined(context)


def _unrestricted(context: Mapping[str, Any], of_pod: Mapping[str, Any]) -> Iterator[str]:
    if context.get("allowPrivilegeEscalation") is not False:
        yield "may gain privileges"
    capabilities = context.get("capabilities") or {}
    if "ALL" not in (capabilities.get("drop") or ()):
        yield "keeps capabilities"
    if set(capabilities.get("add") or ()) & _CAPABILITIES - {"NET_BIND_SERVICE"}:
        yield "adds capabilities"
    if not context.get("runAsNonRoot", of_pod.get("runAsNonRoot")) or 0 in {
        context.get("runAsUser"),
        of_pod.get("runAsUser"),
    }:
        yield "may run as root"
    if not (context.get("seccompProfile") or of_pod.get("seccompProfile")):
        yield "has no seccomp profile"
