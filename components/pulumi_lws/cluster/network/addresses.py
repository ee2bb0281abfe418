"""How many addresses the nodes of a cluster take, and whether the subnets have them."""

from collections import Counter
from collections.abc import Iterator, Mapping

from pulumi_lws.cluster.network.layout import subnets_of
from pulumi_lws.cluster.network.settings import ExistingVpc, Vpc, control_plane_zones
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.nodes.interfaces import POD_ADDRESS_PREFIXES
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem

LEAST_POD_ADDRESSES = 16
"""Addresses that the VPC CNI holds on every node for its pods. A GPU node runs at most 8 packed pods and some
DaemonSets. By its own default it would hold two whole interfaces, 100 addresses on a p5.48xlarge."""

WARM_POD_ADDRESSES = 4
"""Addresses that the VPC CNI holds beyond those in use."""

_POD_ADDRESSES: Mapping[Mode, int] = {
    "karpenter": LEAST_POD_ADDRESSES + WARM_POD_ADDRESSES,
    # Prefixes of 16 addresses each.
    "auto": POD_ADDRESS_PREFIXES * 16,
}

CONTROL_PLANE_ADDRESSES = 16
"""Addresses that EKS wants free in each of its own subnets.
https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html"""


def node_addresses(pool: GpuPool, mode: Mode) -> int:
    """Return how many addresses a node of a pool takes: those of its interfaces, and those held for its pods.

    A dynamic EFA interface has an address of its own, 32 on a p5.48xlarge; an explicit one has none.
    """
    instance = pool.instance
    interfaces = instance.efa_interfaces + instance.ena_only_cards if pool.efa_mode == "dynamic" else 1
    return interfaces + _POD_ADDRESSES.get(mode, 0)


def free_addresses(network: Vpc | ExistingVpc) -> dict[str, int]:
    """Return how many addresses nodes can have in each zone, as far as it is known."""
    if isinstance(network, ExistingVpc):
        return dict(network.free_addresses)
    # An interface endpoint has an address in each zone.
    taken = dict.fromkeys(control_plane_zones(network), CONTROL_PLANE_ADDRESSES)
    return {
        subnet.zone: subnet.addresses - len(network.endpoints) - taken.get(subnet.zone, 0)
        for subnet in subnets_of(network)
        if not subnet.public
    }


def address_problems(
    network: Vpc | ExistingVpc, pools: Mapping[str, GpuPool], mode: Mode, *, system_nodes: int = 0
) -> Iterator[Problem]:
    """Say where the nodes of all pools would not find addresses, with paths below the network's own.

    Args:
        network: The network.
        pools: Pools by name.
        mode: Who makes the nodes.
        system_nodes: Nodes beside the pools'; all of them may lie in one zone.
    """
    free = free_addresses(network)
    path = "cidr" if isinstance(network, Vpc) else "freeAddresses"
    fix = "Choose a larger network" if isinstance(network, Vpc) else "Add subnets"
    if any(pool.efa_mode == "dynamic" for pool in pools.values()):
        fix += ", set efa: explicit (an interface without an address)"
    system = system_nodes * _POD_ADDRESSES.get(mode, 0)
    needed: Counter[str] = Counter()
    reasons: dict[str, list[str]] = {}
    for name, pool in pools.items():
        # Nodes without a zone may lie in any; they are counted over all zones below.
        zone, each = pool.zone or "", node_addresses(pool, mode)
        needed[zone] += pool.most_nodes * each
        reasons.setdefault(zone, []).append(f"{name} takes {pool.most_nodes} x {each}")
    short = [zone for zone in free if zone in needed and needed[zone] + system > free[zone]]
    for zone in short:
        yield Problem(
            path if isinstance(network, Vpc) else f"{path}.{zone}",
            f"{free[zone]} free addresses in {zone}",
            f"{needed[zone] + system} or more: {', '.join(reasons[zone])}, system nodes {system}",
            f"{fix}, or spread the pools over zones.",
        )
    everywhere = needed.total() + system
    if free and not short and set(needed) - {""} <= set(free) and everywhere > sum(free.values()):
        yield Problem(
            path,
            f"{sum(free.values())} free addresses in {', '.join(free)}",
            f"{everywhere} or more: {', '.join(reason for zone in reasons.values() for reason in zone)}, "
            f"system nodes {system}",
            f"{fix}, or use fewer nodes.",
        )
