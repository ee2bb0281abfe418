"""A pool as Kubernetes objects: a NodePool and a node class for each island, or for a plain pool."""

from collections.abc import Iterable
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.nodes.cluster import NodeCluster
from pulumi_lws.nodes.groups import node_groups, placement_group_name
from pulumi_lws.nodes.node_classes import node_class
from pulumi_lws.nodes.node_pools import LEAST_CONSOLIDATE_AFTER_MINUTES, node_pool
from pulumi_lws.nodes.settings import GpuPool

HUGEPAGES = "hugepages-2Mi"
HUGEPAGES_PER_NODE = "5120Mi"
"""What pods of a node may request together; the images set 5128 pages of 2 MiB aside."""


def node_objects(
    name: str, pool: GpuPool, cluster: NodeCluster, start_budget_minutes: int = LEAST_CONSOLIDATE_AFTER_MINUTES
) -> dict[str, dict[str, Any]]:
    """Return the objects of a pool by a key of each; a node class comes before its NodePool.

    Args:
        name: Name of the pool.
        pool: The pool; what :func:`pulumi_lws.nodes.checks.pool_problems` refuses gives no useful objects.
        cluster: The cluster.
        start_budget_minutes: Longest start budget of the deployments on the pool.
    """
    objects: dict[str, dict[str, Any]] = {}
    groups = node_groups(name, pool)
    for group in groups:
        objects[f"{group.name}-class"] = node_class(name, pool, group, cluster)
        objects[f"{group.name}-pool"] = node_pool(name, pool, group, cluster, start_budget_minutes)
    if pool.hugepages and cluster.mode == "karpenter":
        objects[f"{name}-overlay"] = {
            "apiVersion": "karpenter.sh/v1alpha1",
            "kind": "NodeOverlay",
            "metadata": {"name": f"{name}-hugepages"},
            "spec": {
                "requirements": [
                    {"key": labels.NODE_POOL, "operator": "In", "values": [group.name for group in groups]}
                ],
                "capacity": {HUGEPAGES: HUGEPAGES_PER_NODE},
            },
        }
    return objects


def placement_groups(name: str, pool: GpuPool, cluster: NodeCluster) -> list[str]:
    """Return the names of the cluster placement groups that the pool's node classes select."""
    if not pool.is_placed or cluster.mode == "lab":
        return []
    return [placement_group_name(cluster, group) for group in node_groups(name, pool)]


def feature_gates(pools: Iterable[GpuPool]) -> dict[str, bool]:
    """Return the gates that a Karpenter of our own needs for some pools, as its chart calls them."""
    pools = list(pools)
    return {
        "staticCapacity": any(pool.is_static for pool in pools),
        "nodeOverlay": any(pool.hugepages for pool in pools),
    }
