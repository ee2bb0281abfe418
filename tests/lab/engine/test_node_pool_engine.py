"""A pool on the real engine and API server: growing and mending it touches nothing that is there."""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.lab

# Capacity blocks lie close together anyway, so the pool has no placement group, and needs no provider of AWS.
PROGRAM = """
import json
from pathlib import Path

import pulumi
import pulumi_kubernetes
from pulumi_lws.nodes.cluster import NodeCluster
from pulumi_lws.nodes.component import GpuNodePool, GpuNodePoolArgs

provider = pulumi_kubernetes.Provider("lab", context="pulumi-lws-lab", enable_server_side_apply=True)
declared = json.loads(Path("pool.json").read_text())
cluster = NodeCluster("llm", declared["mode"], "llm-nodes", image="bottlerocket@1.50.0")
GpuNodePool("env-p5", GpuNodePoolArgs("p5", declared["pool"], cluster), pulumi.ResourceOptions(providers=[provider]))
"""
UP = ("up", "--yes", "--skip-preview")
NODE_POOLS = "/apis/karpenter.sh/v1/nodepools"
CLASSES = {
    "auto": "/apis/eks.amazonaws.com/v1/nodeclasses",
    "karpenter": "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
}


@pytest.mark.parametrize("mode", ["auto", "karpenter"])
def test_one_more_island_replaces_nothing_and_one_that_was_taken_away_comes_back(
    mode: str, lab: Any, project: Any
) -> None:
    pool = {
        "instanceType": "p5.48xlarge",
        "islands": 1,
        "nodesPerIsland": 2,
        "zone": "us-east-2a",
        "capacity": {"kind": "capacity-block", "id": "cr-0123456789abcdef0"},
    }
    one = project(PROGRAM)

    def declare(islands: int) -> None:
        (one.folder / "pool.json").write_text(json.dumps({"mode": mode, "pool": pool | {"islands": islands}}))

    def made(path: str) -> dict[str, str]:
        return {found["metadata"]["name"]: found["metadata"]["uid"] for found in lab.objects(path)}

    declare(1)
    one.succeeds("preview")
    one.succeeds(*UP)
    one.succeeds("preview", "--expect-no-changes")
    one.succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    before = {path: made(path) for path in (NODE_POOLS, CLASSES[mode])}
    assert [list(objects) for objects in before.values()] == [["p5-0"], ["p5-0"]]
    declare(2)
    assert "2 created" in one.succeeds(*UP)
    after = {path: made(path) for path in before}
    assert [list(objects) for objects in after.values()] == [["p5-0", "p5-1"], ["p5-0", "p5-1"]]
    assert {path: objects["p5-0"] for path, objects in after.items()} == {
        path: objects["p5-0"] for path, objects in before.items()
    }
    # As the documents say of half an island.
    with lab.api() as api:
        api.delete(f"{NODE_POOLS}/p5-1").raise_for_status()
    assert "1 created" in one.succeeds(*UP, "--refresh")
    assert {path: list(made(path)) for path in before} == {path: list(objects) for path, objects in after.items()}
    one.succeeds("destroy", "--yes", "--skip-preview")
    assert [made(path) for path in before] == [{}, {}]
