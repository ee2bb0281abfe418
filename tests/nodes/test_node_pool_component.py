"""The component registers what the pure functions say, in an order in which it can be taken away again."""

from typing import Any

import pulumi
import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.nodes.cluster import NodeCluster
from pulumi_lws.nodes.component import GpuNodePool, GpuNodePoolArgs
from pulumi_lws.nodes.manifests import node_objects
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.testing.monitor import Registration, record

Raw = dict[str, Any]

ISLANDS: Raw = {"instanceType": "p5.48xlarge", "islands": 2, "nodesPerIsland": 2, "zone": "us-east-2a"}
KARPENTER = NodeCluster("llm", "karpenter", "llm-nodes", image="al2023@v20260901")


def registered(raw: Raw, cluster: NodeCluster = KARPENTER, *, preview: bool = False) -> list[Registration]:
    def program() -> None:
        GpuNodePool("env-p5", GpuNodePoolArgs("p5", raw, cluster))

    return record(program, preview=preview)


def names(registrations: list[Registration]) -> list[str]:
    return [f"{r.type.rpartition(':')[2]} {r.name}" for r in registrations]


def test_a_lab_pool_is_its_objects_alone() -> None:
    cluster = NodeCluster("llm", "lab")
    manifests = node_objects("p5", GpuPool.model_validate(ISLANDS), cluster)
    found = registered(ISLANDS, cluster)
    assert {r.name: dict(r.inputs) for r in found if r.type.startswith("kubernetes:")} == {
        f"env-p5-{key}": manifest for key, manifest in manifests.items()
    }
    assert sorted(names(found)) == [
        "GpuNodePool env-p5",
        "KWOKNodeClass env-p5-p5-0-class",
        "KWOKNodeClass env-p5-p5-1-class",
        "NodePool env-p5-p5-0-pool",
        "NodePool env-p5-p5-1-pool",
    ]


def test_a_wrong_pool_stops_the_program_before_it_registers_anything() -> None:
    with pytest.raises(DeclarationError) as caught:
        registered(ISLANDS | {"zone": None, "image": "al2023@latest"})
    assert str(caught.value).splitlines()[0] == "Pool p5 has 2 problems:"


# The SDK deprecates a resource of its own when it is loaded.
@pytest.mark.filterwarnings("ignore:aws.ec2/encryptioncontrol:DeprecationWarning")
@pytest.mark.parametrize("preview", [True, False])
def test_islands_have_placement_groups_and_reservations_of_their_own(preview: bool) -> None:
    pytest.importorskip("pulumi_aws")
    raw = ISLANDS | {"capacity": {"kind": "reservation", "ends": "2026-12-31T11:30:00Z"}, "tags": {"owner": "ml"}}
    found = registered(raw, preview=preview)
    aws = {r.name: dict(r.inputs) for r in found if r.type.startswith("aws:")}
    tags = {"owner": "ml", "pulumi-lws/cluster": "llm", "pulumi-lws/pool": "p5", "pulumi-lws/island": "p5-0"}
    assert sorted(aws) == [
        "env-p5-p5-0-placement",
        "env-p5-p5-0-reservation",
        "env-p5-p5-1-placement",
        "env-p5-p5-1-reservation",
    ]
    assert aws["env-p5-p5-0-placement"] == {"name": "llm-p5-0", "strategy": "cluster", "tags": tags}
    reservation = aws["env-p5-p5-0-reservation"]
    reservation.pop("placementGroupArn", None)  # unknown before the group is made, and in the monitor for ever
    assert reservation == {
        "availabilityZone": "us-east-2a",
        "endDate": "2026-12-31T11:30:00Z",
        "endDateType": "limited",
        "instanceCount": 2,
        "instanceMatchCriteria": "targeted",
        "instancePlatform": "Linux/UNIX",
        "instanceType": "p5.48xlarge",
        "tags": tags,
    }


def test_a_capacity_block_is_never_bought() -> None:
    block = {"kind": "capacity-block", "id": "cr-0123456789abcdef0"}
    assert [name for name in names(registered(ISLANDS | {"capacity": block})) if "env-p5-p5-0" in name] == [
        "EC2NodeClass env-p5-p5-0-class",
        "NodePool env-p5-p5-0-pool",
    ]


def test_ids_may_be_outputs_that_are_not_known_yet() -> None:
    def program() -> None:
        group = pulumi.Output.from_input("sg-efa")
        cluster = NodeCluster("llm", "auto", pulumi.Output.from_input("role"), {"us-east-2a": [group]}, [group])
        GpuNodePool("env-g6e", GpuNodePoolArgs("g6e", {"instanceType": "g6e.12xlarge", "nodes": 1}, cluster))

    (found,) = (r for r in record(program) if r.type.endswith(":NodeClass"))
    assert found.inputs["spec"]["role"] == "role"
    assert found.inputs["spec"]["securityGroupSelectorTerms"] == [{"id": "sg-efa"}]
