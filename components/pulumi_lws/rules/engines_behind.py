"""Reading whether a Service or an InferencePool leads to an engine.

A GPU makes no engine: a notebook has one, too. An engine is what a container with accelerators in its pod starts, and
what stands in groups or in a Ray cluster.
"""

from collections.abc import Mapping
from typing import Any, Final

from pulumi_lws.rules.engine_commands import gpus_of
from pulumi_lws.rules.engine_starts import starts_of
from pulumi_lws.rules.groups import HAS_GROUPS, items
from pulumi_lws.rules.pods import Pods
from pulumi_lws.rules.reach import Reachable, namespace_of, reached
from pulumi_lws.rules.rule import Program, RegisteredObject
from pulumi_lws.rules.values import UNKNOWN, value_at

_RAY: Final = "ray.io/"

BACKENDS: Final[Mapping[str, tuple[str, ...]]] = {
    "Service": ("selector",),
    "InferencePool": ("selector", "matchLabels"),
}
"""Kinds that lead to pods, each with where it selects them."""


def engine_behind(backend: RegisteredObject, program: Program) -> Reachable | None:
    """Return pods of engines that a Service or a pool may lead to; None where it leads to none."""
    labels = value_at(backend.properties, "spec", *BACKENDS[backend.kind.partition("/")[2]])
    if not isinstance(labels, Mapping) or not labels:
        return None
    targets = _targets(backend)
    found = reached({"matchLabels": labels}, namespace_of(backend), program)
    return next((pods for pods, _ in found if _is_engine(pods) and _leads_to_engine(targets, pods.pods)), None)


def _is_engine(pods: Reachable) -> bool:
    return pods.pods.has_accelerators and (
        HAS_GROUPS(pods.owner) or pods.owner.kind.startswith(_RAY) or bool(_engines(pods.pods))
    )


def _engines(pods: Pods) -> list[Any]:
    """Return the containers that start an engine, as far as that is known."""
    found = ((container, starts_of(path, container)) for path, container in pods.containers())
    return [container for container, starts in found if isinstance(starts, list) and starts]


def _targets(backend: RegisteredObject) -> list[Any]:
    """Return the numbers or names of the ports of pods that something leads to; nothing where it does not say."""
    spec = value_at(backend.properties, "spec", default={})
    ports = [
        value_at(port, "targetPort", default=value_at(port, "port")) for _, port in items(value_at(spec, "ports"), "")
    ]
    ports += [value_at(port, "number") for _, port in items(value_at(spec, "targetPorts"), "")]
    return [port for port in (*ports, value_at(spec, "targetPortNumber")) if port is not None]


def _leads_to_engine(targets: list[Any], pods: Pods) -> bool:
    """Tell whether a port is none that a container beside the engine has, such as a proxy with authentication."""
    containers = [container for _, container in pods.containers()]
    # Where a script starts it, the engine is in the container that has the accelerators.
    engines = _engines(pods) or [each for each in containers if gpus_of(each) not in (0, UNKNOWN)]
    beside = [container for container in containers if container not in engines]
    theirs = [port for container in beside for port in _declared(container)]
    ours = [port for container in engines for port in _declared(container)]
    return not targets or any(port is UNKNOWN or port in ours or port not in theirs for port in targets)


def _declared(container: Any) -> list[Any]:
    """Return the names and numbers of the ports of a container."""
    ports = [port for _, port in items(value_at(container, "ports"), "")]
    return [each for port in ports for each in (value_at(port, "name"), value_at(port, "containerPort"))]
