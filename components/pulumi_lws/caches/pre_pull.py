"""The DaemonSet that pulls images onto the nodes of a pool before a pod needs them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import Field, model_validator

from pulumi_lws.caches.daemons import daemon_set
from pulumi_lws.declarations import Declaration, DnsLabel, NamespaceName, ObjectName
from pulumi_lws.facts import labels
from pulumi_lws.facts.versions import PINS
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import invalid
from pulumi_lws.serving.names import PinnedImage

MILLI_CPUS: Final = 20
"""What the pod takes of a node, for good. Pods of deployments leave room for it: see ``RESERVED_MILLI_CPUS``."""

MEMORY_MIB: Final = 32
"""The same of its memory. The container runtime needs some 10 MiB to start a container at all."""

_TOOL: Final = "/tool"

_NOBODY: Final = 65534

_SECURITY: Final[Mapping[str, Any]] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}


class ImagePrePullArgs(Declaration):
    """Arguments of the component ``ImagePrePull``."""

    namespace: NamespaceName
    """Namespace of the DaemonSets."""
    pools: Mapping[DnsLabel, GpuPool]
    """The pools, by name."""
    images: Mapping[DnsLabel, tuple[PinnedImage, ...]] = Field(examples=[{"p5": ["registry.example.com/vllm:0.26.0"]}])
    """Images of each pool; a pool without any gets no DaemonSet."""
    pull_secrets: tuple[ObjectName, ...] = ()
    """Secrets of the namespace that open their registries. Default none."""
    tool_image: PinnedImage | None = None
    """Image with a static ``/bin/busybox``. Default: the one of the pin table."""

    @model_validator(mode="after")
    def _on_pools(self) -> "ImagePrePullArgs":
        if unknown := [name for name in self.images if name not in self.pools]:
            raise invalid(
                ", ".join(self.pools) or "no pool is given",
                "Name pools of pools.",
                field="images",
                found=", ".join(unknown),
            )
        return self


def tool_image_of(declared: str | None) -> str:
    """Return the image that pre-pulling works with: the declared one, or that of the pin table."""
    return declared or f"{PINS['busybox'].source}:{PINS['busybox'].version}"


def pre_pull_objects(args: ImagePrePullArgs) -> dict[str, dict[str, Any]]:
    """Render the DaemonSet of each pool, and the priority that they share."""
    pools = {name: images for name, images in args.images.items() if images}
    if not pools:
        return {}
    priority = f"{args.namespace}-image-pre-pull"
    return {
        "priority": {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": priority},
            "value": -1,
            "preemptionPolicy": "Never",
            "description": "Pulls images beforehand: any pod that serves goes first.",
        },
        **{name: _pool_daemon_set(args, name, images, priority) for name, images in pools.items()},
    }


def _pool_daemon_set(args: ImagePrePullArgs, name: str, images: Sequence[str], priority: str) -> dict[str, Any]:
    tool_image = tool_image_of(args.tool_image)
    # Not every image has a program that does nothing: one without a shell is given ours, which needs no libraries.
    bring = _container("tool", tool_image, ["cp", "/bin/busybox", f"{_TOOL}/true"], writes=True)
    pulls = [_container(f"image-{number}", image, [f"{_TOOL}/true"]) for number, image in enumerate(images)]
    spec: dict[str, Any] = {
        "priorityClassName": priority,
        # The pod holds nothing that could be saved.
        "terminationGracePeriodSeconds": 1,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": [bring, *pulls],
        # As long as the pod is there, the kubelet counts its images as used.
        "containers": [_container("hold", tool_image, ["sleep", str(2**31 - 1)])],
        "volumes": [{"name": "tool", "emptyDir": {}}],
    }
    if args.pull_secrets:
        spec["imagePullSecrets"] = [{"name": secret} for secret in args.pull_secrets]
    return daemon_set(
        f"pre-pull-{name}",
        args.namespace,
        {labels.CACHE: "images", labels.POOL: name},
        pool_name=name,
        pool=args.pools[name],
        spec=spec,
    )


def _container(name: str, image: str, command: Sequence[str], *, writes: bool = False) -> dict[str, Any]:
    resources = {"cpu": f"{MILLI_CPUS}m", "memory": f"{MEMORY_MIB}Mi"}
    return {
        "name": name,
        "image": image,
        "command": list(command),
        # Images of CUDA ask for every GPU, and for a driver; a container that does nothing needs neither.
        "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
        "resources": {"requests": resources, "limits": resources},
        "securityContext": dict(_SECURITY),
        "volumeMounts": [{"name": "tool", "mountPath": _TOOL, **({} if writes else {"readOnly": True})}],
    }
