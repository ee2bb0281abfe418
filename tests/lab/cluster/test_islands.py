"""Groups on islands: Karpenter's own scheduling and the real scheduler, with our NodePools, from zero nodes."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import yaml

from lab.cluster import control_plane
from lab.cluster.control_plane import Wish
from lab.cluster.crds import Definitions
from lab.cluster.layout import Layout
from lab.folders import PROJECT
from lab.tools.obtained import Obtained
from pulumi_lws.facts import labels
from pulumi_lws.nodes.cluster import NodeCluster
from pulumi_lws.nodes.half_island import HalfIsland
from pulumi_lws.nodes.manifests import node_objects
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.nodes.taints import tolerations_of
from pulumi_lws.serving import placement
from tests.lab.cluster.island_lab import NODES, Islands, Raw, with_karpenter

pytestmark = pytest.mark.lab

Eventually = Callable[[Callable[[], Any], Any], None]

POOL = GpuPool.model_validate({"instanceType": "p5.48xlarge", "islands": 3, "nodesPerIsland": 2, "role": "decode"})
STATIC = GpuPool.model_validate(
    {"instanceType": "g6e.48xlarge", "islands": 1, "nodesPerIsland": 2, "capacity": {"kind": "reservation"}}
)


@dataclass(frozen=True)
class Group:
    """A group of two pods as the LWS controller makes them, where there is no such controller.

    Attributes:
        islands: The islands of the lab.
        pool: The pool that it is for.
        namespace: Its namespace.
        name: Name of its leader.
        made: Its pods, as they were made.
    """

    islands: Islands
    pool: str
    namespace: str
    name: str
    made: dict[str, Raw] = field(default_factory=dict)

    def start(self) -> "Group":
        """Make the leader."""
        self.islands.namespace(self.namespace)
        own: Raw = {"key": labels.LWS_GROUP_KEY, "operator": "In", "values": [self._key]}
        others: list[Raw] = [{**own, "operator": "NotIn"}, {"key": labels.LWS_GROUP_KEY, "operator": "Exists"}]
        affinity = placement.apart_from_other_groups()
        # What the webhook of LWS adds for exclusive topology.
        affinity["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [_term([own])]}
        affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].append(_term(others))
        self._post(self.name, 0, {"affinity": affinity, "nodeSelector": {labels.POOL: self.pool}})
        return self

    def add_worker(self) -> str:
        """Make the worker once the leader is bound, and give the leader's island."""
        self.islands.eventually(lambda: bool(self.node), True)
        island = self.islands.nodes(self.pool)[self.node]
        # What the controller of LWS adds for exclusive topology.
        self._post(f"{self.name}-1", 1, {"nodeSelector": {labels.POOL: self.pool, labels.ISLAND: island}})
        return island

    def complete(self) -> str:
        """Make the worker, wait until it runs, and give the island."""
        island = self.add_worker()
        self.islands.eventually(lambda: self._pod(f"{self.name}-1")["status"]["phase"], "Running")
        return island

    def stop(self) -> None:
        """Delete its pods, as far as there are any."""
        for name in self.made:
            answer = self.islands.api.delete(f"{self._pods}/{name}")
            assert answer.is_success or answer.status_code == 404, answer.text
        self.made.clear()

    @property
    def node(self) -> str:
        """The node of the leader; empty while it has none."""
        return str(self._pod(self.name)["spec"].get("nodeName", ""))

    @property
    def _key(self) -> str:
        return f"key-of-{self.namespace}-{self.name}"

    @property
    def _pods(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods"

    def _pod(self, name: str) -> Raw:
        """Look at a pod, and make it again if it is gone, as a StatefulSet does.

        On a busy machine the controller that evicts pods from tainted nodes may learn later than the scheduler that
        Karpenter has taken the taint off a node that joined.
        """
        answer = self.islands.api.get(f"{self._pods}/{name}")
        if answer.status_code == 404:
            answer = self.islands.api.post(self._pods, json=self.made[name])
        found: Raw = answer.raise_for_status().json()
        return found

    def _post(self, name: str, index: int, spec: Raw) -> None:
        resources = {"limits": placement.pod_resources(POOL.instance, POOL.instance.gpus)}
        pod = {
            "metadata": {
                "name": name,
                "labels": {labels.LWS_GROUP_KEY: self._key, labels.LWS_WORKER_INDEX: str(index)},
                "annotations": {labels.DO_NOT_DISRUPT: "true"},
            },
            "spec": {
                "tolerations": tolerations_of(POOL),
                "containers": [{"name": "engine", "image": "none", "resources": resources}],
                **spec,
            },
        }
        answer = self.islands.api.post(self._pods, json=pod)
        assert answer.is_success, answer.text
        self.made[name] = pod


def _term(expressions: list[Raw]) -> Raw:
    return {"topologyKey": labels.ISLAND, "labelSelector": {"matchExpressions": expressions}}


@pytest.fixture(scope="module")
def karpenter_lab(tools: dict[str, Obtained], new_layout: Callable[[], Layout]) -> Layout:
    layout = new_layout()
    control_plane.up(layout, with_karpenter(Wish(tools, Definitions())), lambda _: None)
    return layout


@pytest.fixture
def islands(
    karpenter_lab: Layout, connection: Callable[[Layout], httpx.Client], eventually: Eventually
) -> Iterator[Islands]:
    with connection(karpenter_lab) as api:
        yield Islands(api, eventually)


@pytest.mark.parametrize("mode", ["auto", "karpenter"])
def test_the_api_server_takes_every_reviewed_object(mode: str, islands: Islands) -> None:
    if not os.environ.get("LWS_LAB_CRDS"):
        pytest.skip("LWS_LAB_CRDS names no folder with upstream CRDs")
    manifests = [yaml.safe_load(path.read_text()) for path in (PROJECT / f"tests/golden/nodes-{mode}").glob("*.yaml")]
    assert len(manifests) > 1
    answers = [islands.apply(manifest, dryRun="All") for manifest in manifests]
    assert [answer.text for answer in answers if answer.is_error] == []


@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        ("pool", {"weight": 10}, "'weight' is not supported on static NodePools"),
        ("pool", {"limits": {labels.GPU: "8"}}, "only 'limits.nodes' is supported on static NodePools"),
        (
            "class",
            {"networkInterfaces": [{"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"}]},
            "networkInterfaces must include a primary interface",
        ),
        ("class", {"ephemeralStorage": {"size": "80Gi"}}, "field not declared in schema"),
    ],
)
def test_the_api_server_refuses_what_our_checks_refuse(kind: str, change: Raw, reason: str, islands: Islands) -> None:
    if not os.environ.get("LWS_LAB_CRDS"):
        pytest.skip("LWS_LAB_CRDS names no folder with upstream CRDs")
    manifest = node_objects("p5", STATIC, NodeCluster("llm", "karpenter", "nodes", image="al2023@v1"))[f"p5-0-{kind}"]
    manifest["spec"] |= change
    answer = islands.apply(manifest, dryRun="All")
    assert answer.is_error
    assert reason in answer.text


def test_static_islands_are_there_before_any_pod(islands: Islands) -> None:
    islands.declare("kept", STATIC)
    islands.eventually(lambda: list(islands.nodes("kept").values()), ["kept-0"] * 2)


def test_groups_of_all_teams_land_whole_on_islands_of_their_own(islands: Islands) -> None:
    islands.declare("p5", POOL)
    assert islands.nodes("p5") == {}
    groups = [
        Group(islands, "p5", *name).start()
        for name in (("team-a", "chat-0"), ("team-a", "chat-1"), ("team-b", "code-0"))
    ]
    taken = [group.complete() for group in groups]
    assert sorted(taken) == ["p5-0", "p5-1", "p5-2"]
    assert list(islands.whole("p5").values()) == taken
    assert len(islands.nodes("p5")) == 6

    # One more finds no whole island, and gets no node of its own.
    before, claims = islands.nodes("p5"), islands.claims("p5")
    another = Group(islands, "p5", "team-b", "code-1").start()
    islands.eventually(lambda: islands.verdicts("team-b", "code-1"), {"default-scheduler", "karpenter"})
    assert (another.node, islands.nodes("p5"), islands.claims("p5")) == ("", before, claims)

    # A group that goes leaves its island to the next, with the nodes that are there.
    groups[0].stop()
    assert another.complete() == taken[0]
    assert (islands.nodes("p5"), islands.claims("p5")) == (before, claims)


def test_a_rollout_goes_over_the_spare_island(islands: Islands) -> None:
    islands.declare("rolled", POOL)
    first, second, surge = (Group(islands, "rolled", "team-a", f"roll-{index}") for index in range(3))
    old = [group.complete() for group in (first.start(), second.start())]
    # With maxSurge 1 LWS makes one group more, then makes the old ones again from the last on, then drops the one more.
    spare = surge.start().complete()
    assert sorted([*old, spare]) == ["rolled-0", "rolled-1", "rolled-2"]
    warm = islands.nodes("rolled")
    for group in (second, first):
        group.stop()
        group.start().complete()
    surge.stop()
    assert islands.whole("rolled") == {"team-a/roll-0": old[0], "team-a/roll-1": old[1]}
    assert islands.nodes("rolled") == warm, "no further node was made"


def test_spot_islands_serve_only_replicas_beyond_the_base(islands: Islands) -> None:
    capacity = {"kind": "on-demand", "spotOverflow": 1}
    islands.declare("mixed", GpuPool.model_validate(POOL.model_dump() | {"islands": 2, "capacity": capacity}))
    for name, capacity_type in (("base-0", "on-demand"), ("beyond-0", "spot")):
        group = Group(islands, "mixed", "team-c", name).start()
        group.complete()
        node = islands.api.get(f"{NODES}/{group.node}").json()
        assert node["metadata"]["labels"][labels.CAPACITY_TYPE] == capacity_type


def half(islands: Islands, pool: str) -> tuple[Group, HalfIsland]:
    """A group whose second node does not come."""
    islands.declare(pool, POOL)
    group = Group(islands, pool, "team-d", f"{pool}-0").start()
    islands.eventually(lambda: bool(group.node), True)
    islands.deliver(islands.nodes(pool)[group.node], after="24h")
    island = group.add_worker()
    assert islands.halves(pool, minutes=14) == []
    expected = HalfIsland("team-d", f"{pool}-0", island, (f"{pool}-0-1",))
    assert islands.halves(pool) == [expected]
    # Karpenter has asked for the node, which is launched and never joins.
    islands.eventually(lambda: islands.claims(pool), [island] * 2)
    return group, expected


def test_the_documented_way_out_of_half_an_island_leads_to_the_spare_one(islands: Islands) -> None:
    group, found = half(islands, "half")
    islands.free("half", found)
    # What LWS does once a leader is gone: the group is made again.
    group.stop()
    assert group.start().complete() != found.island
    assert islands.halves("half") == []
    # The node that nobody can use is given back, and the one that did not come is given up.
    islands.eventually(lambda: found.island in islands.claims("half"), False)


def test_a_cordon_alone_does_not_keep_a_group_from_half_an_island(islands: Islands) -> None:
    group, found = half(islands, "cordoned")
    islands.cordon("cordoned", found.island)
    group.stop()
    # EC2 refuses the node, and the next time delivers it.
    islands.deliver(found.island, after="0s")
    islands.give_up_claims("cordoned")
    assert group.start().add_worker() == found.island
    assert islands.halves("cordoned") == [found]
