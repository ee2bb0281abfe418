"""The subnets of a VPC, and what keeps a network from working."""

import ipaddress
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from pulumi_lws.cluster.network.settings import ExistingVpc, Vpc
from pulumi_lws.nodes.tags import tag_problems
from pulumi_lws.planning.problems import Problem, Severity

RESERVED_ADDRESSES = 5
"""The first four addresses and the last one of a subnet belong to AWS.
https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"""

LEAST_ZONES, MOST_ZONES = 2, 6
"""EKS wants subnets in two zones; no region has more than six."""

LARGEST_PREFIX, SMALLEST_PREFIX = 16, 22
"""AWS takes no larger VPC; in a smaller one the public subnets would be below its /28."""

_PRIVATE_BITS, _PUBLIC_BITS = 3, 6
_BLOCKS = 2**_PRIVATE_BITS

DEFAULT_SERVICES = ("10.100.0.0/16", "172.20.0.0/16")
"""Of what EKS chooses the addresses of Services where nobody does.
https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html"""

_SERVICE_RANGES = [ipaddress.IPv4Network(cidr) for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]

NEEDED_WITHOUT_INTERNET = frozenset({"ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts"})
"""Endpoints without which no node joins where there is no way to the internet; Karpenter needs more of them.
https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html"""
NEEDED_BY_KARPENTER = frozenset({"sqs", "ssm"})
"""Endpoints that Karpenter needs beside these."""


@dataclass(frozen=True)
class Subnet:
    """A subnet to make.

    Attributes:
        zone: Its availability zone.
        cidr: Its addresses.
        public: Whether it has a route from the internet.
    """

    zone: str
    cidr: str
    public: bool

    @property
    def addresses(self) -> int:
        """Addresses that can be used."""
        return ipaddress.IPv4Network(self.cidr).num_addresses - RESERVED_ADDRESSES


def subnets_of(vpc: Vpc) -> list[Subnet]:
    """Return the private subnets of a VPC and then the public ones.

    A VPC is cut into eight blocks: one for the private subnet of each zone, in order, the last for all public ones. So
    a further zone moves no subnet; it would be replaced with everything in it.
    """
    blocks = list(ipaddress.IPv4Network(vpc.cidr).subnets(prefixlen_diff=_PRIVATE_BITS))
    public = blocks[-1].subnets(prefixlen_diff=_PUBLIC_BITS - _PRIVATE_BITS)
    return [
        *(Subnet(zone, str(block), public=False) for zone, block in zip(vpc.zones, blocks[:-1], strict=False)),
        *(Subnet(zone, str(block), public=True) for zone, block in zip(vpc.zones, public, strict=False)),
    ]


def network_problems(network: Vpc | ExistingVpc, region: str, *, karpenter: bool = False) -> list[Problem]:
    """Return what keeps a network from working, with paths below the network's own.

    Args:
        network: The network.
        region: Region of the cluster.
        karpenter: Whether our own Karpenter makes the nodes.
    """
    own = _vpc(network, karpenter=karpenter) if isinstance(network, Vpc) else _existing(network)
    return [*_zones(network, region), *own]


def service_problems(network: Vpc | ExistingVpc, service_cidr: str | None) -> Iterator[Problem]:
    """Say what is wrong with the addresses of a cluster's Services, which it keeps for ever, with no path."""
    cidrs = [network.cidr] if isinstance(network, Vpc) else network.cidrs
    connected = network.connected_cidrs if isinstance(network, Vpc) else ()
    if service_cidr is None:
        if shared := [cidr for cidr in DEFAULT_SERVICES if _sharing(cidr, connected)]:
            yield Problem(
                "",
                f"nothing: EKS chooses {' or '.join(DEFAULT_SERVICES)}, and the VPC is connected with addresses of"
                f" {', '.join(shared)}",
                "a network apart from those that the VPC is connected with",
                "Set it: pods would take what is connected for Services.",
                Severity.WARNING,
            )
        return
    services, shared = ipaddress.IPv4Network(service_cidr), _sharing(service_cidr, cidrs)
    if not 12 <= services.prefixlen <= 24 or not any(services.subnet_of(known) for known in _SERVICE_RANGES):
        yield Problem(
            "",
            f"{service_cidr}, {services.num_addresses} addresses",
            f"/12 to /24 within {', '.join(map(str, _SERVICE_RANGES))}",
            "Choose such a network, or remove it: EKS chooses one then.",
        )
    elif shared:
        yield Problem(
            "",
            f"{service_cidr}, which shares addresses with the VPC's {', '.join(shared)}",
            "a network apart from the VPC's",
            "Choose another, or remove it: EKS chooses one then.",
        )
    elif shared := _sharing(service_cidr, connected):
        yield Problem(
            "",
            f"{service_cidr}, which shares addresses with the connected {', '.join(shared)}",
            "a network apart from those that the VPC is connected with",
            "Choose another: pods would take what is connected for Services.",
        )


def _sharing(cidr: str, others: Sequence[str]) -> list[str]:
    own = ipaddress.IPv4Network(cidr)
    return [other for other in others if own.overlaps(ipaddress.IPv4Network(other))]


def _zones(network: Vpc | ExistingVpc, region: str) -> Iterator[Problem]:
    path = "zones" if isinstance(network, Vpc) else "privateSubnets"
    if not LEAST_ZONES <= len(network.zones) <= MOST_ZONES:
        yield Problem(
            path,
            f"{len(network.zones)} zones" if len(network.zones) != 1 else f"only {network.zones[0]}",
            f"{LEAST_ZONES} to {MOST_ZONES} zones: the control plane lies in two",
            "Name the zones of the pools, and others to make it two.",
        )
    repeated = [zone for zone, times in Counter(network.zones).items() if times > 1]
    if repeated:
        yield Problem(path, f"{', '.join(repeated)} twice", "each zone once", "Remove the second one.")
    foreign = [zone for zone in network.zones if not zone.startswith(region)]
    if foreign:
        yield Problem(
            path,
            ", ".join(foreign),
            f"zones of {region}, such as {region}a",
            "Name zones of the cluster's region, or change cluster.region.",
        )


def _vpc(vpc: Vpc, *, karpenter: bool) -> Iterator[Problem]:
    own = ipaddress.IPv4Network(vpc.cidr)
    if not LARGEST_PREFIX <= own.prefixlen <= SMALLEST_PREFIX:
        yield Problem(
            "cidr",
            f"{vpc.cidr}, {own.num_addresses} addresses",
            f"/{LARGEST_PREFIX} to /{SMALLEST_PREFIX}: 65536 to 1024 addresses",
            "Choose a network of that size.",
        )
    if own.is_global or own.is_loopback or own.is_link_local or own.is_multicast:
        yield Problem(
            "cidr",
            vpc.cidr,
            "private addresses, such as 10.0.0.0/16 or 100.64.0.0/16",
            "Choose addresses that belong to nobody: those of others could no longer be reached.",
        )
    for index, cidr in enumerate(vpc.connected_cidrs):
        if own.overlaps(ipaddress.IPv4Network(cidr)):
            yield Problem(
                f"connectedCidrs[{index}]",
                f"{cidr}, which shares addresses with the VPC's {vpc.cidr}",
                "networks apart from the VPC's",
                "Choose another cidr for the VPC: overlapping networks cannot be connected.",
            )
    yield from tag_problems(vpc.tags)
    repeated = [name for name, times in Counter(vpc.endpoints).items() if times > 1]
    if repeated:
        yield Problem("endpoints", f"{', '.join(repeated)} twice", "each service once", "Remove the second one.")
    needed = NEEDED_WITHOUT_INTERNET | (NEEDED_BY_KARPENTER if karpenter else frozenset())
    missing = sorted(needed.difference(vpc.endpoints))
    if vpc.nat == "none" and missing:
        yield Problem(
            "endpoints",
            f"no {', '.join(missing)}, and no way to the internet (nat: none)",
            ", ".join(sorted(needed)),
            "Add them, or choose nat: single; without them no node joins the cluster.",
        )


def _existing(vpc: ExistingVpc) -> Iterator[Problem]:
    subnets = [subnet for zone in vpc.private_subnets.values() for subnet in zone]
    repeated = [subnet for subnet, times in Counter(subnets).items() if times > 1]
    if repeated:
        yield Problem(
            "privateSubnets",
            f"{', '.join(repeated)} twice",
            "each subnet in one zone",
            "Write each subnet below the zone that it lies in.",
        )
    for zone in vpc.free_addresses:
        if zone not in vpc.private_subnets:
            yield Problem(
                f"freeAddresses.{zone}",
                "a zone without private subnets",
                ", ".join(vpc.private_subnets) or "zones of privateSubnets",
                "Remove it, or add its subnets to privateSubnets.",
            )
    yield from _apart(vpc.cidrs)


def _apart(cidrs: Sequence[str]) -> Iterator[Problem]:
    for one, other in combinations(cidrs, 2):
        if ipaddress.IPv4Network(one).overlaps(ipaddress.IPv4Network(other)):
            yield Problem("cidrs", f"{one} and {other}, which share addresses", "networks apart", "Remove one of them.")
