"""NodePools: which nodes Karpenter may make for a group, and when it may take them away."""

from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.nodes.capacity import CapacityBlock, Reservation
from pulumi_lws.nodes.cluster import LABEL_DOMAINS, Mode, NodeCluster
from pulumi_lws.nodes.groups import NodeGroup
from pulumi_lws.nodes.node_classes import class_reference
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.nodes.taints import taints_of

AUTO_LIFETIME_HOURS = 21 * 24
"""Longest life of a node of EKS Auto Mode. We count the time of its drain in."""

LEAST_CONSOLIDATE_AFTER_MINUTES = 60
"""How long nodes may stand empty at least, unless the stack file says otherwise."""

CAPACITY_ENDS = "pulumi-lws/capacity-ends"
"""Annotation of a NodePool: when its reservation or capacity block ends."""

# By choice only empty nodes go, one at a time. Drift is left to rollouts: Karpenter would move a loaded model for it.
_BUDGETS = (
    {"nodes": "0", "reasons": ["Drifted", "Underutilized"]},
    {"nodes": "1", "reasons": ["Empty"]},
)


def node_labels(name: str, pool: GpuPool, group: NodeGroup) -> dict[str, str]:
    """Return the labels of every node of a group."""
    own = {labels.POOL: name}
    if group.is_island:
        own[labels.ISLAND] = group.name
    if pool.role is not None:
        own[labels.ROLE] = pool.role
    return {**pool.labels, **own}


def node_pool(
    name: str, pool: GpuPool, group: NodeGroup, cluster: NodeCluster, start_budget_minutes: int
) -> dict[str, Any]:
    """Return the NodePool of a group.

    Args:
        name: Name of the pool.
        pool: The pool.
        group: The group.
        cluster: The cluster.
        start_budget_minutes: Longest start budget of the deployments on the pool.
    """
    metadata: dict[str, Any] = {"name": group.name, "labels": node_labels(name, pool, group)}
    if isinstance(pool.capacity, Reservation | CapacityBlock) and pool.capacity.ends is not None:
        metadata["annotations"] = {CAPACITY_ENDS: pool.capacity.ends}
    spec: dict[str, Any] = {
        "disruption": {
            "consolidationPolicy": "WhenEmpty",
            "consolidateAfter": f"{consolidate_after_minutes(pool, start_budget_minutes)}m",
            "budgets": [dict(budget) for budget in _BUDGETS],
        },
        "template": {
            "metadata": {"labels": node_labels(name, pool, group)},
            "spec": {
                "nodeClassRef": class_reference(group, cluster.mode),
                "taints": taints_of(pool),
                "requirements": _requirements(pool, group, cluster),
                **_lifetime(pool, cluster),
            },
        },
    }
    if pool.is_static:
        # The API takes no other limit there.
        spec |= {"replicas": group.nodes, "limits": {"nodes": str(group.nodes)}}
    else:
        limits = {"nodes": str(group.nodes), labels.GPU: str(group.nodes * pool.instance.gpus)}
        spec |= {"weight": group.weight, "limits": limits}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": metadata, "spec": spec}


def consolidate_after_minutes(pool: GpuPool, start_budget_minutes: int) -> int:
    """Return how long a node must be empty before it is taken away."""
    return pool.disruption.consolidate_after_minutes or max(LEAST_CONSOLIDATE_AFTER_MINUTES, start_budget_minutes)


def expire_after_hours(pool: GpuPool, mode: Mode) -> int | None:
    """Return the age at which a node is drained; None for never. The plan prints it."""
    if pool.disruption.expire_after_hours is None and mode == "auto":
        return AUTO_LIFETIME_HOURS - pool.disruption.termination_grace_hours
    return pool.disruption.expire_after_hours


def _lifetime(pool: GpuPool, cluster: NodeCluster) -> dict[str, str]:
    hours = expire_after_hours(pool, cluster.mode)
    if hours is None:
        # No grace period either: with one, drift takes nodes despite do-not-disrupt.
        return {"expireAfter": "Never"}
    # Without a grace period, pods that must not be disrupted hold up the drain for ever.
    return {"expireAfter": f"{hours}h", "terminationGracePeriod": f"{pool.disruption.termination_grace_hours}h"}


def _requirements(pool: GpuPool, group: NodeGroup, cluster: NodeCluster) -> list[dict[str, Any]]:
    values = {labels.INSTANCE_TYPE: pool.instance_type, labels.CAPACITY_TYPE: group.capacity_type}
    if cluster.mode == "lab":
        # Its nodes lie in zones of their own, and it knows no reservation.
        if group.capacity_type == "reserved":
            values[labels.CAPACITY_TYPE] = "on-demand"
    else:
        if pool.zone is not None:
            values[labels.ZONE] = pool.zone
        if isinstance(pool.capacity, Reservation | CapacityBlock) and pool.capacity.id is not None:
            values[f"{LABEL_DOMAINS[cluster.mode]}/capacity-reservation-id"] = pool.capacity.id
    return [{"key": key, "operator": "In", "values": [value]} for key, value in values.items()]
