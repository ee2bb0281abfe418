"""Islands in a lab with real Karpenter: pools of ours, who is on them, and a second node that does not come."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from lab.cluster.control_plane import Wish
from lab.cluster.crds import Definitions, Release
from lab.cluster.kinds import KINDS
from lab.tools.obtain import obtain
from lab.tools.progress import reporter
from pulumi_lws.facts import labels
from pulumi_lws.nodes.cluster import NodeCluster
from pulumi_lws.nodes.half_island import PATIENCE_MINUTES, HalfIsland, half_islands
from pulumi_lws.nodes.manifests import node_objects
from pulumi_lws.nodes.settings import GpuPool

Raw = dict[str, Any]
Eventually = Callable[[Callable[[], Any], Any], None]

PODS = "/api/v1/pods"
NODES = "/api/v1/nodes"
NODE_POOLS = "/apis/karpenter.sh/v1/nodepools"
NODE_CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
NODE_CLASSES = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses"
MERGE = {"Content-Type": "application/merge-patch+json"}


def with_karpenter(wish: Wish) -> Wish:
    """The same lab with real Karpenter, and with its AWS definitions where the machine has them."""
    own = obtain(["karpenter"], reporter())
    released = [Release("karpenter", own["karpenter"].version, own["karpenter"].folder / "crds", whole=True)]
    if folder := os.environ.get("LWS_LAB_CRDS"):
        (aws,) = Path(folder).glob("karpenter-[0-9]*")
        released.insert(0, Release("karpenter", aws.name.removeprefix("karpenter-"), aws))
    crds = Definitions((*wish.crds.releases, *released))
    return replace(wish, tools={**wish.tools, **own}, crds=crds, karpenter=True)


@dataclass(frozen=True)
class Islands:
    """The islands of a lab.

    Attributes:
        api: The administrator's connection.
        eventually: Waits for what a look shall show.
    """

    api: httpx.Client
    eventually: Eventually

    def apply(self, manifest: Mapping[str, Any], **query: str) -> httpx.Response:
        """Apply an object by the server, which must know every field of it."""
        (kind,) = (known for known in KINDS if known.kind == manifest["kind"])
        metadata = manifest["metadata"]
        namespace = f"/namespaces/{metadata['namespace']}" if kind.namespaced else ""
        return self.api.patch(
            f"/apis/{manifest['apiVersion']}{namespace}/{kind.plural}/{metadata['name']}",
            params={"fieldManager": "test", "fieldValidation": "Strict", **query},
            headers={"Content-Type": "application/apply-patch+yaml"},
            json=dict(manifest),
        )

    def declare(self, name: str, pool: GpuPool) -> None:
        """Make a pool's objects."""
        for manifest in node_objects(name, pool, NodeCluster("llm", "lab")).values():
            answer = self.apply(manifest)
            assert answer.is_success, answer.text

    def namespace(self, name: str) -> None:
        """Make a namespace unless there is one."""
        answer = self.api.post("/api/v1/namespaces", json={"metadata": {"name": name}})
        assert answer.is_success or answer.status_code == 409, answer.text

    def pods(self, pool: str) -> list[Raw]:
        """The pods for a pool that are not on their way out."""
        return [
            pod
            for pod in self.api.get(PODS).raise_for_status().json()["items"]
            if pod["spec"].get("nodeSelector", {}).get(labels.POOL) == pool
            and "deletionTimestamp" not in pod["metadata"]
        ]

    def nodes(self, pool: str) -> dict[str, str]:
        """The islands of a pool's nodes, by name of the node."""
        found = self.api.get(NODES, params={"labelSelector": f"{labels.POOL}={pool}"}).raise_for_status().json()
        return {node["metadata"]["name"]: node["metadata"]["labels"][labels.ISLAND] for node in found["items"]}

    def claims(self, pool: str) -> list[str]:
        """The islands of the nodes that Karpenter has asked for, whether they came or not."""
        return sorted(claim["metadata"]["labels"][labels.ISLAND] for claim in self._claims(pool))

    def taken(self, pool: str) -> dict[str, list[str]]:
        """The islands of each group's pods that have a node, by the leader's namespace and name."""
        pods, nodes = self.pods(pool), self.nodes(pool)
        keys = {
            pod["metadata"]["labels"][labels.LWS_GROUP_KEY]: "{namespace}/{name}".format_map(pod["metadata"])
            for pod in pods
            if pod["metadata"]["labels"][labels.LWS_WORKER_INDEX] == "0"
        }
        found: dict[str, list[str]] = {}
        for pod in pods:
            leader = keys.get(pod["metadata"]["labels"][labels.LWS_GROUP_KEY])
            if leader and (node := pod["spec"].get("nodeName")) in nodes:
                found.setdefault(leader, []).append(nodes[node])
        return found

    def whole(self, pool: str) -> dict[str, str]:
        """The island of each group, once all groups with any node are whole and each on an island of its own."""
        taken = self.taken(pool)
        islands = {leader: islands[0] for leader, islands in taken.items() if islands == islands[:1] * 2}
        return islands if len(set(islands.values())) == len(taken) else {}

    def verdicts(self, namespace: str, pod: str) -> set[str]:
        """Who said that there is no place for a pod."""
        events = self.api.get(f"/api/v1/namespaces/{namespace}/events").json()["items"]
        return {
            event["reportingComponent"] or event["source"]["component"]
            for event in events
            if event["reason"] == "FailedScheduling" and event["involvedObject"]["name"] == pod
        }

    def deliver(self, island: str, *, after: str) -> None:
        """Let instances of an island join so long after they were launched."""
        spec = {"spec": {"nodeRegistrationDelay": after}}
        self.api.patch(f"{NODE_CLASSES}/{island}", json=spec, headers=MERGE).raise_for_status()

    def give_up_claims(self, pool: str) -> None:
        """Delete the claims whose node has not joined, as Karpenter does where EC2 has no capacity."""
        for claim in self._claims(pool):
            if not claim["status"].get("nodeName"):
                self.api.delete(f"{NODE_CLAIMS}/{claim['metadata']['name']}").raise_for_status()

    def halves(self, pool: str, *, minutes: int = PATIENCE_MINUTES) -> list[HalfIsland]:
        """The groups of a pool on half an island, as they will be in some minutes."""
        return half_islands(self.pods(pool), datetime.now(UTC) + timedelta(minutes=minutes))

    def cordon(self, pool: str, island: str) -> None:
        """Let no pod be bound to the nodes of an island any more."""
        for node, its_island in self.nodes(pool).items():
            if its_island == island:
                spec = {"spec": {"unschedulable": True}}
                self.api.patch(f"{NODES}/{node}", json=spec, headers=MERGE).raise_for_status()

    def free(self, pool: str, half: HalfIsland) -> None:
        """Do what the documents say of half an island."""
        self.cordon(pool, half.island)
        self.api.delete(f"{NODE_POOLS}/{half.island}").raise_for_status()
        self.api.delete(f"/api/v1/namespaces/{half.namespace}/pods/{half.leader}").raise_for_status()

    def _claims(self, pool: str) -> list[Raw]:
        found = self.api.get(NODE_CLAIMS, params={"labelSelector": f"{labels.POOL}={pool}"}).raise_for_status().json()
        return list(found["items"])
