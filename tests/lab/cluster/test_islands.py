"""Groups on islands: Karpenter's own scheduling and the real scheduler, with our NodePools, from zero nodes."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from lab.cluster import control_plane
from lab.cluster.control_plane import Wish
from lab.cluster.crds import Definitions, Release
from lab.cluster.kinds import KINDS
from lab.cluster.layout import Layout
from lab.folders import PROJECT
from lab.tools.obtain import obtain
from lab.tools.obtained import Obtained
from lab.tools.progress import reporter
from pulumi_lws.facts import labels
from pulumi_lws.nodes.cluster import NodeCluster
from pulumi_lws.nodes.manifests import node_objects
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.nodes.taints import tolerations_of
from pulumi_lws.serving import placement

pytestmark = pytest.mark.lab

Raw = dict[str, Any]
Eventually = Callable[[Callable[[], Any], Any], None]

POOL = GpuPool.model_validate({"instanceType": "p5.48xlarge", "islands": 3, "nodesPerIsland": 2, "role": "decode"})
STATIC = GpuPool.model_validate(
    {"instanceType": "g6e.48xlarge", "islands": 1, "nodesPerIsland": 2, "capacity": {"kind": "reservation"}}
)
NODES = "/api/v1/nodes"


@dataclass(frozen=True)
class Islands:
    """A lab with real Karpenter, and pods as the LWS controller makes them.

    Attributes:
        api: The administrator's connection.
        eventually: Waits for what a look shall show.
    """

    api: httpx.Client
    eventually: Eventually

    def apply(self, manifest: Mapping[str, Any], **query: str) -> httpx.Response:
        """Apply an object by the server, which must know every field of it."""
        (kind,) = (known for known in KINDS if known.kind == manifest["kind"])
        return self.api.patch(
            f"/apis/{manifest['apiVersion']}/{kind.plural}/{manifest['metadata']['name']}",
            params={"fieldManager": "test", "fieldValidation": "Strict", **query},
            headers={"Content-Type": "application/apply-patch+yaml"},
            json=dict(manifest),
        )

    def declare(self, name: str, pool: GpuPool) -> None:
        """Make a pool's objects."""
        for manifest in node_objects(name, pool, NodeCluster("llm", "lab")).values():
            answer = self.apply(manifest)
            assert answer.is_success, answer.text

    def start(self, namespace: str, name: str, pool: str = "p5") -> None:
        """Make the leader of a group."""
        self.api.post("/api/v1/namespaces", json={"metadata": {"name": namespace}})
        key = f"key-of-{namespace}-{name}"
        own: Raw = {"key": labels.LWS_GROUP_KEY, "operator": "In", "values": [key]}
        others: list[Raw] = [{**own, "operator": "NotIn"}, {"key": labels.LWS_GROUP_KEY, "operator": "Exists"}]
        affinity = placement.apart_from_other_groups()
        # What the webhook of LWS adds for exclusive topology.
        affinity["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [_term([own])]}
        affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].append(_term(others))
        self._post(namespace, name, 0, {"affinity": affinity, "nodeSelector": {labels.POOL: pool}})

    def follow(self, namespace: str, name: str) -> str:
        """Make the worker of a group whose leader is bound, and give their island."""
        self.eventually(lambda: bool(self.node(namespace, name)), True)
        selector = self._pod(namespace, name)["spec"]["nodeSelector"]
        island = self.island(self.node(namespace, name))
        # What the controller of LWS adds for exclusive topology.
        self._post(namespace, f"{name}-1", 1, {"nodeSelector": {**selector, labels.ISLAND: island}})
        self.eventually(lambda: self._pod(namespace, f"{name}-1")["status"]["phase"], "Running")
        return island

    def stop(self, namespace: str, name: str) -> None:
        """Delete a group."""
        for pod in (name, f"{name}-1"):
            self.api.delete(f"/api/v1/namespaces/{namespace}/pods/{pod}").raise_for_status()

    def node(self, namespace: str, pod: str) -> str:
        """The node of a pod; empty while it has none."""
        return str(self._pod(namespace, pod)["spec"].get("nodeName", ""))

    def island(self, node: str) -> str:
        """The island of a node."""
        return self.label(node, labels.ISLAND)

    def label(self, node: str, key: str) -> str:
        """A label of a node."""
        return str(self.api.get(f"{NODES}/{node}").json()["metadata"]["labels"][key])

    def nodes(self, pool: str) -> set[str]:
        """The nodes of a pool."""
        found = self.api.get(NODES, params={"labelSelector": f"{labels.POOL}={pool}"}).json()["items"]
        return {node["metadata"]["name"] for node in found}

    def claims(self) -> int:
        """Nodes that Karpenter has asked for."""
        return len(self.api.get("/apis/karpenter.sh/v1/nodeclaims").json()["items"])

    def verdicts(self, namespace: str, pod: str) -> set[str]:
        """Who said that there is no place for a pod."""
        events = self.api.get(f"/api/v1/namespaces/{namespace}/events").json()["items"]
        return {
            event["reportingComponent"] or event["source"]["component"]
            for event in events
            if event["reason"] == "FailedScheduling" and event["involvedObject"]["name"] == pod
        }

    def _pod(self, namespace: str, name: str) -> Raw:
        answer: Raw = self.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}").raise_for_status().json()
        return answer

    def _post(self, namespace: str, name: str, index: int, spec: Raw) -> None:
        group = name.removesuffix("-1") if index else name
        pod = {
            "metadata": {
                "name": name,
                "labels": {
                    labels.LWS_GROUP_KEY: f"key-of-{namespace}-{group}",
                    labels.LWS_WORKER_INDEX: str(index),
                },
                "annotations": {labels.DO_NOT_DISRUPT: "true"},
            },
            "spec": {
                "tolerations": tolerations_of(POOL),
                "containers": [
                    {
                        "name": "engine",
                        "image": "none",
                        "resources": {"limits": placement.pod_resources(POOL.instance, POOL.instance.gpus)},
                    }
                ],
                **spec,
            },
        }
        answer = self.api.post(f"/api/v1/namespaces/{namespace}/pods", json=pod)
        assert answer.is_success, answer.text


def _term(expressions: list[Raw]) -> Raw:
    return {"topologyKey": labels.ISLAND, "labelSelector": {"matchExpressions": expressions}}


@pytest.fixture(scope="module")
def karpenter_lab(tools: dict[str, Obtained], new_layout: Callable[[], Layout]) -> Layout:
    own = obtain(["karpenter"], reporter())
    released = [Release("karpenter", own["karpenter"].version, own["karpenter"].folder / "crds", whole=True)]
    if folder := os.environ.get("LWS_LAB_CRDS"):
        (aws,) = Path(folder).glob("karpenter-[0-9]*")
        released.insert(0, Release("karpenter", aws.name.removeprefix("karpenter-"), aws))
    layout = new_layout()
    control_plane.up(layout, Wish({**tools, **own}, Definitions(tuple(released)), karpenter=True), lambda _: None)
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
    islands.eventually(lambda: [islands.island(node) for node in islands.nodes("kept")], ["kept-0"] * 2)


def test_groups_of_all_teams_land_whole_on_islands_of_their_own(islands: Islands) -> None:
    islands.declare("p5", POOL)
    assert islands.nodes("p5") == set()
    groups = [("team-a", "chat-0"), ("team-a", "chat-1"), ("team-b", "code-0")]
    for group in groups:
        islands.start(*group)
    taken = [islands.follow(*group) for group in groups]
    assert sorted(taken) == ["p5-0", "p5-1", "p5-2"]
    for (namespace, name), island in zip(groups, taken, strict=True):
        nodes = {islands.node(namespace, name), islands.node(namespace, f"{name}-1")}
        assert [islands.island(node) for node in nodes] == [island] * 2
    assert len(islands.nodes("p5")) == 6

    # One more finds no whole island, and gets no node of its own.
    before, claims = islands.nodes("p5"), islands.claims()
    islands.start("team-b", "code-1")
    islands.eventually(lambda: islands.verdicts("team-b", "code-1"), {"default-scheduler", "karpenter"})
    assert (islands.node("team-b", "code-1"), islands.nodes("p5"), islands.claims()) == ("", before, claims)

    # A group that goes leaves its island to the next, with the nodes that are there.
    islands.stop("team-a", "chat-0")
    assert islands.follow("team-b", "code-1") == taken[0]
    assert (islands.nodes("p5"), islands.claims()) == (before, claims)


def test_spot_islands_serve_only_replicas_beyond_the_base(islands: Islands) -> None:
    capacity = {"kind": "on-demand", "spotOverflow": 1}
    islands.declare("mixed", GpuPool.model_validate(POOL.model_dump() | {"islands": 2, "capacity": capacity}))
    for name, capacity_type in (("base-0", "on-demand"), ("beyond-0", "spot")):
        islands.start("team-c", name, "mixed")
        islands.follow("team-c", name)
        assert islands.label(islands.node("team-c", name), labels.CAPACITY_TYPE) == capacity_type
