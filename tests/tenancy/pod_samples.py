"""Pods with the strictest level that allows each, for our own judgement and for that of the API server."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.serving.routing.sidecar import restricted
from pulumi_lws.tenancy.settings import Level

Spec = dict[str, Any]


def container(context: Mapping[str, Any] | None = None, **fields: Any) -> Spec:
    context = restricted() if context is None else context
    return {"name": "main", "image": "example.com/main:1", "securityContext": dict(context), **fields}


def pod(*containers: Spec, **fields: Any) -> Spec:
    return {"containers": list(containers) or [container()], **fields}


def without(field: str) -> Spec:
    return container({key: value for key, value in restricted().items() if key != field})


def added(**fields: Any) -> Spec:
    return container({**restricted(), **fields})


def capabilities(*names: str) -> Spec:
    return added(capabilities={"drop": ["ALL"], "add": list(names)})


INIT = {**container({}), "name": "before"}

SAMPLES: Mapping[str, tuple[Level, Spec]] = {
    "all that restricted asks for": ("restricted", pod()),
    "a port may be bound": ("restricted", pod(capabilities("NET_BIND_SERVICE"))),
    "the pod says it for its containers": (
        "restricted",
        pod(
            without("seccompProfile"),
            securityContext={"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        ),
    ),
    "volumes of the cluster": (
        "restricted",
        pod(volumes=[{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "b"}}]),
    ),
    "nothing said": ("baseline", pod(container({}))),
    "an init container that says nothing": ("baseline", pod(initContainers=[INIT])),
    "may be root": ("baseline", pod(without("runAsNonRoot"))),
    "is root": ("baseline", pod(added(runAsUser=0, runAsNonRoot=False))),
    "no seccomp": ("baseline", pod(without("seccompProfile"))),
    "keeps capabilities": ("baseline", pod(added(capabilities={}))),
    "may gain privileges": ("baseline", pod(without("allowPrivilegeEscalation"))),
    "a harmless capability": ("baseline", pod(capabilities("CHOWN"))),
    "a volume of another kind": ("baseline", pod(volumes=[{"name": "a", "nfs": {"server": "s", "path": "/"}}])),
    "locks memory": ("privileged", pod(capabilities("IPC_LOCK"))),
    "a folder of the node": ("privileged", pod(volumes=[{"name": "a", "hostPath": {"path": "/a"}}])),
    "the network of the node": ("privileged", pod(hostNetwork=True)),
    "the processes of the node": ("privileged", pod(hostPID=True)),
    "the memory of the node": ("privileged", pod(hostIPC=True)),
    "a privileged container": ("privileged", pod(container({"privileged": True}))),
    "a port of the node": ("privileged", pod(container(ports=[{"containerPort": 80, "hostPort": 80}]))),
    "an unconfined container": ("privileged", pod(added(seccompProfile={"type": "Unconfined"}))),
    "an unconfined profile": ("privileged", pod(added(appArmorProfile={"type": "Unconfined"}))),
    "SELinux of its own": ("privileged", pod(added(seLinuxOptions={"role": "r"}))),
    "a probe of another host": (
        "privileged",
        pod(container(livenessProbe={"tcpSocket": {"port": 80, "host": "10.0.0.1"}})),
    ),
}
