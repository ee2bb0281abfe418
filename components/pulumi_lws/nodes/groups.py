"""A pool as groups of nodes: one for each island, one or two for a plain pool."""

from dataclasses import dataclass
from typing import Literal

from pulumi_lws.nodes.capacity import OnDemand, Spot
from pulumi_lws.nodes.cluster import NodeCluster
from pulumi_lws.nodes.settings import GpuPool

CapacityType = Literal["on-demand", "spot", "reserved"]

_WEIGHTS: dict[CapacityType, int] = {"reserved": 100, "on-demand": 50, "spot": 10}


@dataclass(frozen=True)
class NodeGroup:
    """The nodes that one NodePool makes.

    Attributes:
        name: Name of its NodePool, its node class and, below the cluster's, its placement group.
        nodes: Most nodes; of a static pool, all that there are.
        capacity_type: Karpenter's ``karpenter.sh/capacity-type``.
        weight: Which one Karpenter tries first; None where it may not choose.
        is_island: Whether it is an island, whose name is that of the group.
    """

    name: str
    nodes: int
    capacity_type: CapacityType
    weight: int | None
    is_island: bool


def node_groups(name: str, pool: GpuPool) -> list[NodeGroup]:
    """Return the groups of a pool; spot overflow comes last."""
    main: CapacityType = "reserved"
    if isinstance(pool.capacity, OnDemand | Spot):
        main = pool.capacity.kind
    if pool.islands:
        base = pool.islands - pool.spot_overflow
        return [
            _group(pool, f"{name}-{index}", pool.nodes_per_island, main if index < base else "spot")
            for index in range(pool.islands)
        ]
    groups = [_group(pool, name, pool.nodes - pool.spot_overflow, main)]
    if pool.spot_overflow:
        groups.append(_group(pool, f"{name}-spot", pool.spot_overflow, "spot"))
    return groups


def placement_group_name(cluster: NodeCluster, group: NodeGroup) -> str:
    """Return the name of a group's placement group, unique in account and region as cluster names are."""
    return f"{cluster.name}-{group.name}"


def _group(pool: GpuPool, name: str, nodes: int, capacity_type: CapacityType) -> NodeGroup:
    overflows = capacity_type == "spot" and pool.spot_overflow > 0
    weight = _WEIGHTS[capacity_type] if pool.weight is None else pool.weight
    if overflows and pool.weight is not None:
        weight = min(_WEIGHTS["spot"], pool.weight - 1)
    return NodeGroup(name, nodes, capacity_type, None if pool.is_static else weight, is_island=pool.islands > 0)
