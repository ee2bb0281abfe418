"""Which images the nodes of a pool need."""

from collections.abc import Mapping
from typing import Literal

from pulumi_lws.caches.pre_pull import ImagePrePullArgs
from pulumi_lws.caches.settings import Caches
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.pods import pod_spec
from pulumi_lws.serving.settings import DeploymentArgs

_POSITIONS: tuple[Literal["leader", "worker"], ...] = ("leader", "worker")


def images_of_pool(deployments: Mapping[str, DeploymentArgs]) -> dict[str, tuple[str, ...]]:
    """Return every image that pods of deployments run on each pool: engines, and what stands before and beside them.

    Routers are left out: they run on nodes without GPUs.
    """
    found: dict[str, dict[str, None]] = {}
    for deployment in deployments.values():
        for role in roles_of(deployment)[0]:
            images = found.setdefault(role.settings.pool, {})
            for position in _POSITIONS[: role.shape.size]:
                spec = pod_spec(role, position)
                # The engine's first: it is the one that takes minutes.
                for container in (*spec["containers"], *spec.get("initContainers", ())):
                    images[str(container["image"])] = None
    return {pool: tuple(images) for pool, images in found.items()}


def pull_secrets(deployments: Mapping[str, DeploymentArgs]) -> tuple[str, ...]:
    """Return the Secrets that open the registries of those images."""
    secrets = (deployment.image_pull_secret for deployment in deployments.values())
    return tuple(dict.fromkeys(secret for secret in secrets if secret is not None))


def pre_pull_args(
    caches: Caches, pools: Mapping[str, GpuPool], deployments: Mapping[str, DeploymentArgs], namespace: str
) -> ImagePrePullArgs:
    """Return what the component ``ImagePrePull`` of a platform pulls; no images where no pool is chosen."""
    images = images_of_pool(deployments)
    return ImagePrePullArgs(
        namespace=namespace,
        pools=pools,
        images={
            name: tuple(dict.fromkeys([*images.get(name, ()), *caches.pre_pull_images]))
            for name in pools
            if caches.pre_pulls(name)
        },
        pull_secrets=pull_secrets(deployments),
        tool_image=caches.tool_image,
    )
