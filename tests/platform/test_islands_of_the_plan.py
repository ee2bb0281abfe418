"""What the plan and the pods take for granted of an island is what its NodePool and node class say, in each mode."""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from lab.examples import EXAMPLES, settings_of
from lab.folders import PROJECT
from pulumi_lws.facts import labels
from pulumi_lws.nodes.cluster import Mode, NodeCluster
from pulumi_lws.nodes.manifests import node_objects
from pulumi_lws.planning.plan import Pool
from pulumi_lws.platform.plan import plan_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.sizing import pools_of
from pulumi_lws.serving.placement import apart_from_other_groups
from tests.serving.stacks import manifests_of, pods_of, spans_pods

Raw = dict[str, Any]

CLUSTERS: dict[Mode, NodeCluster] = {
    "auto": NodeCluster("llm", "auto", "nodes"),
    "karpenter": NodeCluster("llm", "karpenter", "nodes", image="al2023@v20260901"),
    "lab": NodeCluster("llm", "lab"),
}


def island_pools(stack: Path) -> Iterator[tuple[Pool, PlatformArgs]]:
    platform = PlatformArgs.model_validate(settings_of(stack))
    yield from ((pool, platform) for pool in pools_of(platform) if pool.islands)


STACKS = [
    pytest.param(path, id=path.stem)
    for path in [*EXAMPLES, *sorted((PROJECT / "stacks").glob("Pulumi.*.yaml"))]
    if any(island_pools(path))
]
in_each_mode = pytest.mark.parametrize("mode", list(CLUSTERS))
of_each_stack = pytest.mark.parametrize("stack", STACKS)


def objects_of(pool: Pool, platform: PlatformArgs, mode: Mode) -> tuple[dict[str, Raw], dict[str, Raw]]:
    """The NodePools and the node classes of a pool, by name."""
    objects = node_objects(pool.name, platform.pools[pool.name], CLUSTERS[mode]).values()
    node_pools = {made["metadata"]["name"]: made["spec"] for made in objects if made["kind"] == "NodePool"}
    classes = {made["metadata"]["name"]: made["spec"] for made in objects if made["kind"].endswith("NodeClass")}
    return node_pools, classes


def topology_keys(stack: Path) -> Iterator[str | None]:
    """The labels by which LWS gives each group over several nodes a place of its own."""
    for manifest in manifests_of(settings_of(stack)):
        roles = manifest["spec"]["roles"] if manifest["kind"] == "DisaggregatedSet" else [manifest]
        for role in roles:
            if role.get("spec", {}).get("leaderWorkerTemplate", {}).get("size", 1) > 1:
                yield role["metadata"]["annotations"].get(labels.LWS_EXCLUSIVE_TOPOLOGY)


@in_each_mode
@of_each_stack
def test_an_island_of_the_plan_is_a_node_pool_that_holds_its_nodes_and_no_more(stack: Path, mode: Mode) -> None:
    for pool, platform in island_pools(stack):
        node_pools, _ = objects_of(pool, platform, mode)
        drawn = Counter(pool.island_of(node) for node in range(pool.nodes))
        assert {name: int(spec["limits"]["nodes"]) for name, spec in node_pools.items()} == drawn
        for name, spec in node_pools.items():
            if pool.is_static:
                assert spec["replicas"] == drawn[name]
            else:
                assert int(spec["limits"][labels.GPU]) == drawn[name] * pool.gpus_per_node
            requirements = {entry["key"]: entry["values"] for entry in spec["template"]["spec"]["requirements"]}
            assert requirements[labels.INSTANCE_TYPE] == [pool.instance_type]


@in_each_mode
@of_each_stack
def test_an_island_has_a_node_class_of_its_own_with_the_efa_of_the_plan(stack: Path, mode: Mode) -> None:
    for pool, platform in island_pools(stack):
        node_pools, classes = objects_of(pool, platform, mode)
        assert {name: spec["template"]["spec"]["nodeClassRef"]["name"] for name, spec in node_pools.items()} == {
            name: name for name in classes
        }
        if mode == "lab":
            continue
        declared = platform.pools[pool.name]
        for name, spec in classes.items():
            assert (spec["tags"][labels.POOL], spec["tags"][labels.ISLAND]) == (pool.name, name)
            assert spec.get("placementGroupSelector", {}).get("name") == (f"llm-{name}" if declared.is_placed else None)
            if declared.efa_mode == "explicit":
                layout = spec.get("advancedNetworking", spec)["networkInterfaces"]
                assert sum(entry["interfaceType"] == "efa-only" for entry in layout) == pool.efa_per_node


@of_each_stack
def test_a_group_is_drawn_on_one_whole_island(stack: Path) -> None:
    platform = PlatformArgs.model_validate(settings_of(stack))
    plan = plan_of(platform, [], "any", date(2026, 9, 1))
    pools = {pool.name: pool for pool in plan.pools}
    taken: Counter[str | None] = Counter()
    for role in (role for role in plan.roles if role.shape.size > 1):
        pool = pools[role.pool]
        for group in role.groups:
            (island,) = {pool.island_of(pod.node) for pod in group.pods}
            assert len({pod.node for pod in group.pods}) == len(group.pods) == pool.nodes_per_island
            assert {(pod.gpus, pod.efa) for pod in group.pods} == {(pool.gpus_per_node, pool.efa(pool.gpus_per_node))}
            taken[island] += 1
    assert set(taken.values()) == {1}


@in_each_mode
@of_each_stack
def test_pods_find_the_nodes_of_their_island_and_are_kept_apart_by_its_label(stack: Path, mode: Mode) -> None:
    pools = {pool.name: (pool, platform) for pool, platform in island_pools(stack)}
    groups = [pod for pod in pods_of(settings_of(stack)) if spans_pods(pod)]
    assert groups
    for pod in groups:
        pool, platform = pools[pod.role.settings.pool]
        assert (pod.gpus, pod.efa) == (pool.gpus_per_node, pool.efa(pool.gpus_per_node))
        for name, spec in objects_of(pool, platform, mode)[0].items():
            template = spec["template"]
            own = template["metadata"]["labels"]
            assert own[labels.ISLAND] == name
            assert pod.spec["nodeSelector"].items() <= own.items()
            tolerated = {(entry["key"], entry.get("effect")) for entry in pod.spec["tolerations"]}
            assert {(taint["key"], taint["effect"]) for taint in template["spec"]["taints"]} <= tolerated
        if pod.position == "leader":
            assert pod.spec["affinity"].items() >= apart_from_other_groups().items()
    assert set(topology_keys(stack)) == {labels.ISLAND}
