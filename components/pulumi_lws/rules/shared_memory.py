"""Rule: pods with several GPUs have shared memory for NCCL."""

from collections.abc import Iterable
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import gpus_of
from pulumi_lws.rules.groups import items
from pulumi_lws.rules.pods import Pods, about_accelerated_pods, makes_pods
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_MOUNT = "/dev/shm"  # noqa: S108 - where NCCL looks
_FIX = "Mount an emptyDir with medium Memory at /dev/shm; its size counts against the memory of the pod."


def _check(pods: Pods, _context: Context) -> Iterable[Problem]:
    host = pods.at("hostIPC")
    if host is True:
        return
    volumes = [volume for _, volume in items(pods.at("volumes"), "")]
    for index, (path, container) in enumerate(pods.containers(before=False)):
        # TPUs exchange without NCCL.
        gpus = gpus_of(container, ("/gpu",))
        if not isinstance(gpus, int) or gpus < 2:
            continue
        where = f"{path}.volumeMounts"
        mounts = [mount for _, mount in items(value_at(container, "volumeMounts"), "")]
        at_place = [mount for mount in mounts if _is_place(value_at(mount, "mountPath"))]
        if not at_place:
            plasma = value_at(pods.ray_parameters, "plasma-directory")
            if index == 0 and pods.ray_parameters is not None and plasma is None:
                # KubeRay mounts memory into the container of Ray: addEmptyDir, in
                # https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/common/pod.go
                continue
            paths = [value_at(mount, "mountPath") for mount in mounts]
            if UNKNOWN in (host, plasma, *mounts, *paths):
                yield unseen(where, "whether there is shared memory")
            else:
                yield Problem(where, f"nothing at {_MOUNT}", f"memory at {_MOUNT} for {gpus} GPUs", _FIX)
            continue
        name = value_at(at_place[0], "name")
        mounted = next((volume for volume in volumes if value_at(volume, "name") == name), None)
        medium = value_at(mounted, "emptyDir", "medium")
        if medium is UNKNOWN:
            yield unseen(pods.path_to("spec", "volumes"), "whether shared memory is memory")
        elif medium != "Memory" and not _is_place(value_at(mounted, "hostPath", "path")):
            where = pods.path_to("spec", "volumes")
            yield Problem(where, f"a disk at {_MOUNT}", "emptyDir with medium Memory", _FIX)


def _is_place(path: Any) -> bool:
    return isinstance(path, str) and path.rstrip("/") == _MOUNT


SHARED_MEMORY = Rule(
    name="shared-memory",
    title="Pods with several GPUs have memory at /dev/shm.",
    why=(
        "Containers get 64 MB there. NCCL and the workers of an engine exchange through it and fail when they start"
        " (https://github.com/vllm-project/vllm/issues/1710). KubeRay mounts memory into containers of Ray by itself."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=makes_pods,
    check=about_accelerated_pods(_check),
    house=True,
)
