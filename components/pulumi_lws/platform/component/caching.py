"""The caches of a platform: images and weights that are there before a pod asks for them."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_lws.caches.component import ImagePrePull, NodeModelCache, SharedModelVolume
from pulumi_lws.caches.images import pre_pull_args
from pulumi_lws.caches.needs import csi_add_ons
from pulumi_lws.caches.node_models import NodeModelArgs
from pulumi_lws.caches.shared_volumes import SharedVolumeArgs
from pulumi_lws.cluster.component import sdk
from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.facts.versions import PINS
from pulumi_lws.platform.component.reached import Reached
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.settings import DeploymentArgs


def make_caches(
    name: str,
    platform: PlatformArgs,
    deployments: Mapping[str, DeploymentArgs],
    reached: Reached,
    opts: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """Make the caches; return what deployments wait for, which is what they read their weights from.

    Args:
        name: Name of the platform.
        platform: The platform.
        deployments: The arguments of its deployments by name.
        reached: Its cluster.
        opts: Options of each cache.
    """
    caches, pools = platform.caches, platform.pools
    pulled = pre_pull_args(caches, pools, deployments, platform.namespace)
    if pulled.images:
        ImagePrePull(f"{name}-pre-pull", pulled, opts)
    for key, model in caches.node_models.items():
        args = NodeModelArgs(**_fields(model), name=key, namespace=platform.namespace, all_pools=pools)
        NodeModelCache(f"{name}-model-{key}", args, opts)
    drivers = _drivers(name, platform, reached, opts.parent)
    after = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=drivers))
    return [
        SharedModelVolume(
            f"{name}-volume-{key}",
            SharedVolumeArgs(name=key, namespace=platform.namespace_of(volume.team), volume=volume),
            after,
        )
        for key, volume in caches.shared_volumes.items()
    ]


def _fields(model: Any) -> dict[str, Any]:
    return {field: getattr(model, field) for field in type(model).model_fields}


def _drivers(
    name: str, platform: PlatformArgs, reached: Reached, parent: pulumi.Resource | None
) -> list[pulumi.Resource]:
    """Install the EKS add-ons that mount shared volumes, where the cluster is ours."""
    cluster, connection = platform.cluster, reached.connection
    if not isinstance(cluster, EksClusterArgs) or connection is None:
        return []
    return [
        sdk("pulumi_aws").eks.Addon(
            f"{name}-{driver}",
            cluster_name=cluster.name,
            addon_name=driver,
            addon_version=PINS[f"eks-{driver}"].version,
            opts=pulumi.ResourceOptions(parent=parent, provider=connection.aws, depends_on=list(connection.ready)),
        )
        for driver in csi_add_ons(platform.caches)
    ]
