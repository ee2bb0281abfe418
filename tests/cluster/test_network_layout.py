"""How a VPC is laid out, and how many addresses nodes take."""

import ipaddress
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.cluster.network.addresses import free_addresses, node_addresses
from pulumi_lws.cluster.network.layout import Subnet, subnets_of
from pulumi_lws.cluster.network.settings import ExistingVpc, Vpc
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.nodes.settings import GpuPool

ZONES = tuple(f"us-east-2{letter}" for letter in "abcdef")


def vpc(**raw: Any) -> Vpc:
    return Vpc.model_validate({"kind": "vpc", "zones": ZONES[:2]} | raw)


def test_a_private_subnet_has_an_eighth_of_the_addresses_and_a_public_one_a_sixty_fourth() -> None:
    assert subnets_of(vpc()) == [
        Subnet("us-east-2a", "10.0.0.0/19", public=False),
        Subnet("us-east-2b", "10.0.32.0/19", public=False),
        Subnet("us-east-2a", "10.0.224.0/22", public=True),
        Subnet("us-east-2b", "10.0.228.0/22", public=True),
    ]
    assert [subnet.addresses for subnet in subnets_of(vpc())] == [8187, 8187, 1019, 1019]


@given(prefix=st.integers(16, 22), zones=st.integers(2, 6))
def test_subnets_lie_apart_within_the_vpc_and_stay_where_they_are_when_a_zone_is_added(prefix: int, zones: int) -> None:
    cidr = f"10.64.0.0/{prefix}"
    subnets = subnets_of(vpc(cidr=cidr, zones=ZONES[:zones]))
    networks = [ipaddress.IPv4Network(subnet.cidr) for subnet in subnets]
    assert len(subnets) == 2 * zones
    assert not any(one.overlaps(other) for one, other in combinations(networks, 2))
    assert all(network.subnet_of(ipaddress.IPv4Network(cidr)) and network.prefixlen <= 28 for network in networks)
    assert set(subnets) <= set(subnets_of(vpc(cidr=cidr, zones=ZONES)))


@pytest.mark.parametrize(
    ("pool", "mode", "want"),
    [
        # Every EFA interface of a dynamic node has an address; of an explicit one, only its first interface.
        ({"instanceType": "p5.48xlarge"}, "karpenter", 32 + 20),
        ({"instanceType": "p5.48xlarge"}, "auto", 32 + 32),
        ({"instanceType": "p6-b300.48xlarge"}, "karpenter", 16 + 1 + 20),
        ({"instanceType": "p5.48xlarge", "efa": "explicit"}, "karpenter", 1 + 20),
        ({"instanceType": "p5.48xlarge", "static": True}, "auto", 1 + 32),
        ({"instanceType": "g6e.xlarge"}, "karpenter", 1 + 20),
    ],
)
def test_a_node_takes_the_addresses_of_its_interfaces_and_pods(pool: dict[str, Any], mode: Mode, want: int) -> None:
    assert node_addresses(GpuPool.model_validate(pool), mode) == want


def test_endpoints_and_the_control_plane_take_addresses_before_nodes_do() -> None:
    assert free_addresses(vpc(zones=ZONES[:3], cidr="10.0.0.0/22")) == {
        "us-east-2a": 123 - 5 - 16,
        "us-east-2b": 123 - 5 - 16,
        "us-east-2c": 123 - 5,
    }


def test_addresses_of_an_existing_vpc_are_known_only_where_they_are_told() -> None:
    subnets = {"us-east-2b": ["subnet-0000000b"], "us-east-2a": ["subnet-0000000a"]}
    existing = ExistingVpc.model_validate(
        {"kind": "existing", "vpcId": "vpc-00000001", "privateSubnets": subnets, "freeAddresses": {"us-east-2a": 100}}
    )
    assert free_addresses(existing) == {"us-east-2a": 100}
    assert existing.zones == ("us-east-2a", "us-east-2b")
