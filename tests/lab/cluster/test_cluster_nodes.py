import pytest

from lab.cluster import karpenter, nodes
from lab.cluster.nodes import NodeGroup
from lab.errors import LabError
from pulumi_lws.facts.instances import INSTANCE_TYPES

P5 = INSTANCE_TYPES["p5.48xlarge"]
G6E = INSTANCE_TYPES["g6e.4xlarge"]


def test_a_spec_names_pool_type_islands_and_nodes() -> None:
    assert nodes.parse(["p5=p5.48xlarge:2x4", "g6e.4xlarge:3", "spare=p5.48xlarge:1"]) == [
        NodeGroup("p5", P5, islands=2, nodes=4),
        NodeGroup("g6e-4xlarge", G6E, islands=0, nodes=3),
        NodeGroup("spare", P5, islands=0, nodes=1),
    ]


@pytest.mark.parametrize("spec", ["p5.48xlarge", "p5.48xlarge:0", "p5.48xlarge:0x2", "P5=p5.48xlarge:1", "p5=:1", ""])
def test_a_spec_of_another_form_is_refused_with_examples(spec: str) -> None:
    with pytest.raises(LabError) as refused:
        nodes.parse([spec])
    assert (refused.value.sentence, refused.value.way_out) == (
        f"--nodes {spec!r} cannot be read.",
        "Write [POOL=]TYPE:[ISLANDSx]NODES, such as p5=p5.48xlarge:1x2 (one island of two nodes) or g6e.12xlarge:3.",
    )


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    with pytest.raises(LabError) as refused:
        nodes.parse(["p9.48xlarge:1"])
    assert refused.value.sentence == "--nodes 'p9.48xlarge:1' names an instance type that the catalogue does not have."
    assert refused.value.way_out == f"Choose one of {', '.join(INSTANCE_TYPES)}."


def test_two_specs_of_one_pool_are_refused() -> None:
    with pytest.raises(LabError) as refused:
        nodes.parse(["a=p5.48xlarge:1", "a=g6e.12xlarge:1"])
    assert refused.value.sentence == "Two values of --nodes name the pool a."


def test_a_node_of_an_island_carries_what_pods_select_and_ask_for() -> None:
    resources = {
        "pods": "110",
        "ephemeral-storage": "30720G",
        "nvidia.com/gpu": "8",
        "vpc.amazonaws.com/efa": "32",
    }
    first, second = nodes.manifests([NodeGroup("p5", P5, islands=1, nodes=2)])
    assert second["metadata"]["name"] == "p5-0-1"
    assert first == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "p5-0-0",
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/os": "linux",
                "kubernetes.io/hostname": "p5-0-0",
                "node.kubernetes.io/instance-type": "p5.48xlarge",
                "topology.kubernetes.io/region": "us-east-2",
                "topology.kubernetes.io/zone": "us-east-2a",
                "pulumi-lws/pool": "p5",
                "pulumi-lws/island": "p5-0",
            },
        },
        "spec": {
            "providerID": "kwok://p5-0-0",
            "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
        },
        "status": {
            "capacity": {"cpu": "192000m", "memory": "1939865Mi", **resources},
            "allocatable": {"cpu": "191450m", "memory": "1938300Mi", **resources},
        },
    }


def test_nodes_of_a_plain_pool_have_no_island_and_no_resource_that_they_lack() -> None:
    (node,) = nodes.manifests([NodeGroup("l40s", G6E, islands=0, nodes=1)])
    assert node["metadata"]["name"] == "l40s-0"
    assert "pulumi-lws/island" not in node["metadata"]["labels"]
    assert "vpc.amazonaws.com/efa" not in node["status"]["capacity"]


def test_one_node_has_room_for_what_needs_no_gpu() -> None:
    node = nodes.system_manifest()
    resources = {"cpu": "16", "memory": "65536Mi", "pods": "110", "ephemeral-storage": "100Gi"}
    assert (node["metadata"]["name"], node["spec"]["taints"]) == ("system", [])
    assert node["status"] == {"capacity": resources, "allocatable": resources}
    # Routers keep off the nodes of pools.
    assert not any(label.startswith("pulumi-lws/") for label in node["metadata"]["labels"])


def test_karpenter_is_told_of_every_instance_type_with_its_gpus() -> None:
    told = karpenter.instance_types()
    assert [one["name"] for one in told] == list(INSTANCE_TYPES)
    assert [one["resources"]["nvidia.com/gpu"] for one in told] == [str(one.gpus) for one in INSTANCE_TYPES.values()]
    offered = {
        (requirement["key"], *requirement["values"])
        for offering in told[0]["offerings"]
        for requirement in offering["Requirements"]
    }
    assert offered == {
        ("karpenter.sh/capacity-type", "on-demand"),
        ("karpenter.sh/capacity-type", "spot"),
        ("topology.kubernetes.io/zone", "us-east-2a"),
        ("topology.kubernetes.io/zone", "us-east-2b"),
    }
