"""Groups on islands with everything real but the nodes: LWS, Karpenter and the scheduler, over several namespaces."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
import pytest

from lab.cluster import control_plane
from lab.cluster.control_plane import Wish
from lab.cluster.layout import Layout
from lab.tools.obtained import Obtained
from pulumi_lws.facts import labels
from pulumi_lws.nodes.half_island import HalfIsland
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.rules.rule import major_and_minor
from pulumi_lws.serving.render import render
from pulumi_lws.serving.settings import DeploymentArgs, DisaggregatedVllmArgs, MultiNodeVllmArgs
from pulumi_lws.workloads.manifests import disaggregated_set, leader_worker_set
from tests.lab.cluster.island_lab import MERGE, Eventually, Islands, Raw, with_karpenter
from tests.lab.cluster.probe_driver import PLAYED, Driver

pytestmark = pytest.mark.lab

OVER_NODES = {"tensor": 8, "pipeline": 2}


@pytest.fixture(scope="module")
def layout(new_layout: Callable[[], Layout], wish_with_controller: Callable[..., Wish]) -> Layout:
    layout = new_layout()
    control_plane.up(layout, with_karpenter(wish_with_controller()), lambda _: None)
    return layout


@pytest.fixture
def islands(layout: Layout, connection: Callable[[Layout], httpx.Client], eventually: Eventually) -> Iterator[Islands]:
    with connection(layout) as api:
        yield Islands(api, eventually)


@pytest.fixture
def declaration(islands: Islands, controller: Obtained) -> Callable[..., Raw]:
    """Make a pool, and give what deployments of GLM-5 on it have in common."""

    def declare(pool: str, count: int) -> Raw:
        pools = {pool: {"instanceType": "p5.48xlarge", "islands": count, "nodesPerIsland": 2}}
        islands.declare(pool, GpuPool.model_validate(pools[pool]))
        return {
            "model": "zai-org/GLM-5-FP8",
            "maxModelLen": 65536,
            "source": {"kind": "node", "path": "/models/glm-5"},
            "pools": pools,
            "lwsVersion": controller.version,
        }

    return declare


def deploy(islands: Islands, args: DeploymentArgs, annotations: Mapping[str, str] | None = None) -> list[str]:
    """Make the workloads of a deployment, and give their addresses in the API."""
    rendered = render(args)
    manifests = [leader_worker_set(groups) for groups in rendered.groups.values()]
    manifests += [disaggregated_set(rendered.disaggregated_set)] if rendered.disaggregated_set else []
    for template in (template for manifest in manifests for template in templates(manifest["spec"])):
        template["metadata"]["annotations"] |= annotations or {}
    islands.namespace(args.namespace)
    answers = [islands.apply(manifest) for manifest in manifests]
    assert [answer.text for answer in answers if answer.is_error] == []
    return [answer.url.path for answer in answers]


def deploy_two_teams(islands: Islands, pool: str, declared: Raw) -> tuple[str, str]:
    """Make a group of each of two teams at once; gives the addresses of their sets."""
    own = {"parallelism": OVER_NODES, "pool": pool, "takenGpus": {pool: 16}}
    chat, code = (
        MultiNodeVllmArgs.model_validate({**declared, **own, "name": f"{pool}-{name}", "namespace": team})
        for team, name in (("team-a", "chat"), ("team-b", "code"))
    )
    (ours,), (theirs,) = deploy(islands, chat), deploy(islands, code)
    islands.eventually(lambda: (status(islands, ours), status(islands, theirs)), ((1, 1), (1, 1)))
    return ours, theirs


def templates(spec: Raw) -> list[Raw]:
    """The pod templates in the spec of a LeaderWorkerSet, or of a DisaggregatedSet."""
    specs = [role["spec"] for role in spec["roles"]] if "roles" in spec else [spec]
    return [one["leaderWorkerTemplate"][which] for one in specs for which in ("leaderTemplate", "workerTemplate")]


def status(islands: Islands, path: str) -> tuple[int, int]:
    """Groups of a set that LWS calls ready, and of the latest template."""
    found = islands.api.get(path).raise_for_status().json().get("status", {})
    return found.get("readyReplicas", 0), found.get("updatedReplicas", 0)


def change(islands: Islands, path: str, spec: Raw) -> None:
    islands.api.patch(path, json={"spec": spec}, headers=MERGE).raise_for_status()


def change_templates(islands: Islands, path: str) -> None:
    spec = islands.api.get(path).raise_for_status().json()["spec"]
    for template in templates(spec):
        template["spec"]["containers"][0]["env"].append({"name": "ROLLED", "value": "1"})
    change(islands, path, spec)


def identities(islands: Islands, pool: str) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in islands.pods(pool)}


def test_groups_of_two_teams_each_have_an_island_and_a_further_one_waits_until_one_goes(
    islands: Islands, declaration: Callable[..., Raw]
) -> None:
    chat, code = deploy_two_teams(islands, "two", declaration("two", 2))
    taken = islands.whole("two")
    assert set(taken) == {"team-a/two-chat-0", "team-b/two-code-0"}

    change(islands, chat, {"replicas": 2})
    islands.eventually(lambda: islands.verdicts("team-a", "two-chat-1"), {"default-scheduler", "karpenter"})
    assert islands.whole("two") == taken
    nodes = islands.nodes("two")
    assert sorted(nodes.values()) == islands.claims("two") == ["two-0", "two-0", "two-1", "two-1"]

    islands.api.delete(code).raise_for_status()
    islands.eventually(lambda: [name for name in identities(islands, "two") if name.startswith("two-code")], [])
    islands.eventually(lambda: status(islands, chat), (2, 2))
    assert islands.whole("two") == {
        "team-a/two-chat-0": taken["team-a/two-chat-0"],
        "team-a/two-chat-1": taken["team-b/two-code-0"],
    }
    assert islands.nodes("two") == nodes


def test_a_rollout_goes_over_the_spare_island_and_never_takes_the_group_down(
    islands: Islands, declaration: Callable[..., Raw]
) -> None:
    chat, _ = deploy_two_teams(islands, "three", declaration("three", 3))
    before, old = islands.whole("three"), identities(islands, "three")
    ready: set[int] = set()
    seen: list[dict[str, list[str]]] = []

    def look() -> tuple[Any, ...]:
        found = status(islands, chat)
        ready.add(found[0])
        seen.append(islands.taken("three"))
        kept = {name for name, identity in identities(islands, "three").items() if old.get(name) == identity}
        return found, set(seen[-1]), kept

    change_templates(islands, chat)
    islands.eventually(look, ((1, 1), set(before), {"three-code-0", "three-code-0-1"}))
    assert islands.whole("three") == before
    assert 0 not in ready
    assert {*before, "team-a/three-chat-1"} in [set(taken) for taken in seen], "the group on top had the spare island"
    assert [taken for taken in seen if any(len(set(of_group)) > 1 for of_group in taken.values())] == []


def test_the_documented_way_out_of_half_an_island_leads_to_the_spare_one(
    layout: Layout,
    connection: Callable[[Layout], httpx.Client],
    islands: Islands,
    declaration: Callable[..., Raw],
) -> None:
    settings = {"name": "chat", "namespace": "team-c", "parallelism": OVER_NODES, "pool": "half"}
    args = MultiNodeVllmArgs.model_validate({**declaration("half", 2), **settings})
    (chat,) = deploy(islands, args, PLAYED)
    driver = Driver(lambda: connection(layout), args.namespace, args.name, size=2)
    driver.deaf.set()
    with driver:
        islands.eventually(lambda: len(islands.taken("half")), 1)
        ((island,),) = islands.taken("half").values()
        islands.deliver(island, after="24h")
        driver.deaf.clear()
        found = HalfIsland("team-c", "chat-0", island, ("chat-0-1",))
        islands.eventually(lambda: islands.halves("half"), [found])
        assert status(islands, chat)[0] == 0
        islands.free("half", found)
        islands.eventually(lambda: status(islands, chat), (1, 1))
    assert islands.halves("half") == []
    assert set(islands.whole("half").values()) == {"half-0", "half-1"} - {island}


@pytest.mark.parametrize("backend", ["leader-worker-sets", "disaggregated-set"])
def test_prefill_and_decode_each_have_an_island_and_roll_over_one_each(
    backend: str, islands: Islands, declaration: Callable[..., Raw], controller: Obtained
) -> None:
    if backend == "disaggregated-set" and major_and_minor(controller.version) < (0, 10):
        pytest.skip(f"LWS {controller.version} places no roles of a DisaggregatedSet")
    pool = backend.partition("-")[0]
    role = {"pool": pool, "parallelism": {"tensor": 8, "data": 2, "expert": True}}
    settings = {"name": "glm-5", "namespace": pool, "backend": backend, "router": None, "prefill": role, "decode": role}
    args = DisaggregatedVllmArgs.model_validate({**declaration(pool, 4), **settings})
    paths = deploy(islands, args)

    def look() -> tuple[list[str], int]:
        roles = sorted(pod["metadata"]["labels"][labels.ROLE] for pod in islands.pods(pool))
        return roles, len(islands.whole(pool))

    both = ["decode", "decode", "prefill", "prefill"], 2
    islands.eventually(look, both)
    assert len(set(islands.nodes(pool).values())) == 2
    old = set(identities(islands, pool).values())
    for path in paths:
        change_templates(islands, path)
    islands.eventually(lambda: old & set(identities(islands, pool).values()), set())
    islands.eventually(look, both)
    assert len(set(islands.nodes(pool).values())) == 4, "both roles had a spare island"
