"""What a pool becomes in each mode."""

import os
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.nodes import auto_node_class, class_checks
from pulumi_lws.nodes.checks import pool_problems
from pulumi_lws.nodes.cluster import Mode, NodeCluster
from pulumi_lws.nodes.groups import node_groups
from pulumi_lws.nodes.interfaces import network_interfaces
from pulumi_lws.nodes.manifests import feature_gates, node_objects, placement_groups
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.nodes.taints import taints_of, tolerations_of

Raw = dict[str, Any]

POOLS: dict[str, Raw] = {
    # A base on demand, and one island for replicas beyond it.
    "p5": {
        "instanceType": "p5.48xlarge",
        "islands": 2,
        "nodesPerIsland": 2,
        "zone": "us-east-2a",
        "capacity": {"kind": "on-demand", "spotOverflow": 1},
    },
    # Bought ahead: nodes are there before pods are, and get EFA although no pod asks.
    "block": {
        "instanceType": "p5en.48xlarge",
        "islands": 1,
        "nodesPerIsland": 4,
        "zone": "us-east-2b",
        "capacity": {"kind": "capacity-block", "id": "cr-0123456789abcdef0", "ends": "2026-12-31T11:30:00Z"},
        "role": "decode",
    },
    # Reserved with the pool.
    "kept": {
        "instanceType": "p5.48xlarge",
        "islands": 1,
        "nodesPerIsland": 2,
        "zone": "us-east-2a",
        "capacity": {"kind": "reservation"},
        "rootVolume": {"sizeGib": 500, "throughput": 750, "kmsKey": "alias/nodes"},
        "disruption": {"expireAfterHours": 240},
    },
    "g6e": {
        "instanceType": "g6e.12xlarge",
        "nodes": 3,
        "labels": {"example.com/team": "chat"},
        "taints": [{"key": "example.com/chat", "effect": "NoExecute"}],
    },
}
CLUSTERS = {
    "auto": NodeCluster(
        "llm",
        "auto",
        "llm-nodes",
        subnets={"us-east-2a": ["subnet-a"], "us-east-2b": ["subnet-b"]},
        security_groups=["sg-cluster", "sg-efa"],
        tags={"owner": "ml"},
    ),
    "karpenter": NodeCluster("llm", "karpenter", "llm-nodes", image="bottlerocket@1.50.0", tags={"owner": "ml"}),
    "lab": NodeCluster("llm", "lab"),
}
KARPENTER_KINDS = ("karpenter.sh_nodepools", "karpenter.sh_nodeoverlays", "karpenter.k8s.aws_ec2nodeclasses")


def objects(mode: Mode) -> list[Raw]:
    return [
        manifest
        for name, raw in POOLS.items()
        for manifest in node_objects(name, GpuPool.model_validate(raw), CLUSTERS[mode]).values()
    ]


def pool_of(raw: Raw, mode: Mode = "karpenter") -> Raw:
    """The NodePool of a pool of one group."""
    (manifest,) = (
        manifest
        for manifest in node_objects("p5", GpuPool.model_validate(raw), CLUSTERS[mode]).values()
        if manifest["kind"] == "NodePool"
    )
    return manifest


@pytest.mark.parametrize("mode", ["auto", "karpenter"])
def test_every_group_has_the_reviewed_objects(mode: Mode, golden: Any) -> None:
    golden.compare(f"nodes-{mode}", objects(mode))


@pytest.mark.parametrize("mode", ["auto", "karpenter"])
def test_the_reviewed_pools_have_no_error(mode: Mode) -> None:
    found = {
        name: [
            str(problem)
            for problem in pool_problems(
                name, GpuPool.model_validate(raw), mode, zones=("us-east-2a", "us-east-2b"), image=CLUSTERS[mode].image
            )
            if problem.severity == "error"
        ]
        for name, raw in POOLS.items()
    }
    assert found == {name: [] for name in POOLS}


def test_a_p5_has_one_interface_for_ip_and_32_for_efa() -> None:
    layout = network_interfaces(INSTANCE_TYPES["p5.48xlarge"], "karpenter")
    assert layout == [
        {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
        {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
        *({"networkCardIndex": n, "deviceIndex": 0, "interfaceType": "efa-only"} for n in range(1, 32)),
    ]


@pytest.mark.parametrize("instance", INSTANCE_TYPES.values(), ids=lambda instance: str(instance.name))
def test_a_layout_is_one_that_ec2_takes(instance: Any) -> None:
    layout = [tuple(entry.values())[:3] for entry in network_interfaces(instance, "karpenter")]
    efa = [(card, device) for card, device, kind in layout if kind == "efa-only"]
    assert layout[0] == (0, 0, "interface")
    assert len(efa) == instance.efa_interfaces == len({card for card, _ in efa})
    assert len({entry[:2] for entry in layout}) == len(layout)
    assert [device for card, device in efa if card == 0] == ([1] if efa and not instance.ena_only_cards else [])


def test_the_first_card_of_a_b300_carries_no_efa() -> None:
    cards = [entry["networkCardIndex"] for entry in network_interfaces(INSTANCE_TYPES["p6-b300.48xlarge"], "auto")]
    assert cards == list(range(17))


def test_an_auto_mode_node_has_pod_addresses_on_its_first_interface_alone() -> None:
    layout = network_interfaces(INSTANCE_TYPES["p5.48xlarge"], "auto")
    assert [entry.get("secondaryIPv4PrefixCount") for entry in layout] == [2, *[None] * 32]


@pytest.mark.parametrize("raw", POOLS.values(), ids=list(POOLS))
def test_limits_are_what_the_pool_declares(raw: Raw) -> None:
    pool = GpuPool.model_validate(raw)
    pools = [
        manifest["spec"]
        for manifest in node_objects("a", pool, CLUSTERS["auto"]).values()
        if "Pool" in manifest["kind"]
    ]
    assert sum(int(spec["limits"]["nodes"]) for spec in pools) == pool.most_nodes
    if not pool.is_static:
        assert sum(int(spec["limits"]["nvidia.com/gpu"]) for spec in pools) == pool.gpus


def test_spot_comes_last_and_after_everything_else() -> None:
    plain = GpuPool.model_validate(
        {"instanceType": "g6e.12xlarge", "nodes": 5, "capacity": {"kind": "on-demand", "spotOverflow": 2}, "weight": 5}
    )
    assert [(g.name, g.nodes, g.capacity_type, g.weight) for g in node_groups("a", plain)] == [
        ("a", 3, "on-demand", 5),
        ("a-spot", 2, "spot", 4),
    ]
    islands = GpuPool.model_validate(POOLS["p5"] | {"islands": 3})
    assert [(g.name, g.nodes, g.capacity_type, g.weight) for g in node_groups("b", islands)] == [
        ("b-0", 2, "on-demand", 50),
        ("b-1", 2, "on-demand", 50),
        ("b-2", 2, "spot", 10),
    ]


@pytest.mark.parametrize(("budget", "minutes"), [(30, "60m"), (90, "90m")])
def test_an_empty_node_stays_for_the_start_budget(budget: int, minutes: str) -> None:
    manifest = node_objects("p5", GpuPool.model_validate(POOLS["kept"]), CLUSTERS["karpenter"], budget)["p5-0-pool"]
    assert manifest["spec"]["disruption"] == {
        "consolidationPolicy": "WhenEmpty",
        "consolidateAfter": minutes,
        "budgets": [{"nodes": "0", "reasons": ["Drifted", "Underutilized"]}, {"nodes": "1", "reasons": ["Empty"]}],
    }


@pytest.mark.parametrize(
    ("mode", "disruption", "lifetime"),
    [
        ("karpenter", {}, ("Never", None)),
        ("karpenter", {"expireAfterHours": 720}, ("720h", "24h")),
        ("auto", {}, ("480h", "24h")),
        ("auto", {"terminationGraceHours": 2}, ("502h", "2h")),
        ("auto", {"expireAfterHours": 100}, ("100h", "24h")),
    ],
)
def test_nodes_live_as_long_as_they_may(mode: Mode, disruption: Raw, lifetime: tuple[str, str | None]) -> None:
    spec = pool_of(POOLS["kept"] | {"disruption": disruption}, mode)["spec"]["template"]["spec"]
    assert (spec["expireAfter"], spec.get("terminationGracePeriod")) == lifetime


def test_pods_tolerate_every_taint_of_their_pool() -> None:
    pool = GpuPool.model_validate(POOLS["g6e"] | {"role": "prefill"})
    assert taints_of(pool) == [
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},
        {"key": "pulumi-lws/role", "value": "prefill", "effect": "NoSchedule"},
        {"key": "example.com/chat", "effect": "NoExecute"},
    ]
    assert tolerations_of(pool) == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"operator": "Equal", "key": "pulumi-lws/role", "value": "prefill", "effect": "NoSchedule"},
        {"operator": "Exists", "key": "example.com/chat", "effect": "NoExecute"},
    ]


def test_each_island_on_demand_is_a_placement_group_of_its_own() -> None:
    pool = GpuPool.model_validate(POOLS["p5"])
    assert placement_groups("p5", pool, CLUSTERS["auto"]) == ["llm-p5-0", "llm-p5-1"]
    assert placement_groups("p5", pool, CLUSTERS["lab"]) == []
    assert placement_groups("block", GpuPool.model_validate(POOLS["block"]), CLUSTERS["auto"]) == []


def test_hugepages_are_told_to_karpenter_alone() -> None:
    pool = GpuPool.model_validate(POOLS["p5"] | {"hugepages": True})
    assert "p5-overlay" not in node_objects("p5", pool, CLUSTERS["auto"])
    assert node_objects("p5", pool, CLUSTERS["karpenter"])["p5-overlay"]["spec"] == {
        "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["p5-0", "p5-1"]}],
        "capacity": {"hugepages-2Mi": "5120Mi"},
    }
    assert feature_gates([pool]) == {"staticCapacity": False, "nodeOverlay": True}


def test_static_pools_need_the_gate_of_karpenter() -> None:
    assert feature_gates(map(GpuPool.model_validate, POOLS.values())) == {"staticCapacity": True, "nodeOverlay": False}


def test_further_fields_reach_the_class_as_they_are() -> None:
    pool = GpuPool.model_validate(POOLS["g6e"] | {"nodeClass": {"futureField": {"a": [1]}}})
    spec = node_objects("g6e", pool, CLUSTERS["auto"])["g6e-class"]["spec"]
    assert spec["futureField"] == {"a": [1]}
    assert auto_node_class.spec_problems(spec) == []


def test_an_unquoted_time_of_yaml_is_text() -> None:
    raw = yaml.safe_load("{kind: capacity-block, id: cr-0abc, ends: 2026-12-31T11:30:00Z}")
    pool = GpuPool.model_validate(POOLS["block"] | {"capacity": raw})
    assert pool.model_dump(by_alias=True)["capacity"]["ends"] == "2026-12-31T11:30:00Z"


@pytest.mark.parametrize(
    "manifest", [o for o in objects("auto") if o["kind"] == "NodeClass"], ids=lambda o: str(o["metadata"]["name"])
)
def test_auto_mode_takes_every_class(manifest: Raw) -> None:
    assert auto_node_class.spec_problems(manifest["spec"]) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"role": ""}, "role"),
        ({"role": "r", "instanceProfile": "p"}, ""),
        ({"subnetSelectorTerms": []}, "subnetSelectorTerms"),
        ({"securityGroupSelectorTerms": [{"id": "sg-1", "name": "n"}]}, "securityGroupSelectorTerms[0]"),
        (
            {"capacityReservationSelectorTerms": [{"id": "cr-1", "ownerID": "123456789012"}]},
            "capacityReservationSelectorTerms[0]",
        ),
        ({"podSubnetSelectorTerms": [{"id": "subnet-1"}]}, ""),
        ({"placementGroupSelector": {"name": "a", "id": "pg-1"}}, "placementGroupSelector"),
        ({"tags": {"karpenter.sh/nodepool": "x"}}, "tags"),
        ({"ephemeralStorage": {"iops": 100}}, "ephemeralStorage.iops"),
        (
            {
                "advancedNetworking": {
                    "networkInterfaces": [{"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"}]
                }
            },
            "advancedNetworking.networkInterfaces",
        ),
        (
            {
                "advancedNetworking": {
                    "networkInterfaces": [
                        {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
                        {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only", "secondaryIPv4Count": 1},
                    ]
                }
            },
            "advancedNetworking.networkInterfaces[1].networkCardIndex",
        ),
    ],
)
def test_auto_mode_refuses_what_the_guide_excludes(change: Raw, path: str) -> None:
    spec = {
        "role": "r",
        "subnetSelectorTerms": [{"id": "subnet-1"}],
        "securityGroupSelectorTerms": [{"id": "sg-1"}],
        **change,
    }
    assert [problem.path for problem in auto_node_class.spec_problems(spec)] == [path]


@pytest.fixture(scope="module")
def karpenter_schemas() -> dict[str, Raw]:
    folder = os.environ.get("LWS_LAB_CRDS")
    if not folder:
        pytest.skip("LWS_LAB_CRDS names no folder with upstream CRDs")
    (release,) = Path(folder).glob("karpenter-[0-9]*")
    definitions = [yaml.safe_load((release / f"{kind}.yaml").read_text()) for kind in KARPENTER_KINDS]
    return {
        definition["spec"]["names"]["kind"]: _closed(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
        for definition in definitions
    }


def _closed(schema: Raw) -> Raw:
    """Close objects whose fields are listed: the API server would drop what they do not list."""
    closed = {
        key: {name: _closed(field) for name, field in value.items()}
        if key == "properties"
        else _closed(value)
        if key in {"items", "additionalProperties"} and isinstance(value, dict)
        else value
        for key, value in schema.items()
    }
    if "properties" in schema and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


@pytest.mark.parametrize("manifest", objects("karpenter"), ids=lambda o: f"{o['kind']}-{o['metadata']['name']}")
def test_karpenter_knows_every_field(manifest: Raw, karpenter_schemas: dict[str, Raw]) -> None:
    validator = jsonschema_rs.validator_for(karpenter_schemas[manifest["kind"]])
    assert [error.message for error in validator.iter_errors(manifest)] == []


def test_the_fields_of_karpenter_are_those_of_its_definition(karpenter_schemas: dict[str, Raw]) -> None:
    properties = karpenter_schemas["EC2NodeClass"]["properties"]["spec"]["properties"]
    assert frozenset(properties) == class_checks.KARPENTER_FIELDS
