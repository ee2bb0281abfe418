"""What a drain may take, asked of a real API server and its disruption controller.

Groups are made here as LWS makes them: a StatefulSet of leaders, and for each leader one of its workers, which goes
with it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from pulumi_lws.facts import labels
from pulumi_lws.serving.disruption import disruption_budget

pytestmark = pytest.mark.lab

Eventually = Callable[[Callable[[], Any], Any], None]

PODS = "/api/v1/namespaces/default/pods"
STATEFUL_SETS = "/apis/apps/v1/namespaces/default/statefulsets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
MERGE = {"Content-Type": "application/merge-patch+json"}
SELECTOR = {labels.LWS_NAME: "glm"}
EVICTED, REFUSED = 201, 429


class Drill:
    """Two groups of two pods, and what may be done to them."""

    def __init__(self, api: httpx.Client, eventually: Eventually) -> None:
        self.api = api
        self.eventually = eventually

    def make(self, collection: str, document: dict[str, Any]) -> dict[str, Any]:
        answer = self.api.post(collection, json=document)
        assert answer.is_success, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def stateful_set(self, name: str, replicas: int, *, first: int = 0, owner: dict[str, Any] | None = None) -> None:
        self.make(
            STATEFUL_SETS,
            {
                "metadata": {"name": name, "ownerReferences": [owner] if owner else []},
                "spec": {
                    "replicas": replicas,
                    "serviceName": "glm",
                    "podManagementPolicy": "Parallel",
                    "updateStrategy": {"type": "OnDelete"},
                    "ordinals": {"start": first},
                    "selector": {"matchLabels": {"of": name}},
                    "template": template({"of": name, **SELECTOR}),
                },
            },
        )

    def groups(self) -> None:
        self.stateful_set("glm", 2)
        self.is_ready("glm-0", "glm-1")
        for leader in ("glm-0", "glm-1"):
            self.workers(leader)
        self.is_ready("glm-0-1", "glm-1-1")

    def workers(self, leader: str) -> None:
        uid = self.api.get(f"{PODS}/{leader}").json()["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "Pod", "name": leader, "uid": uid, "controller": True}
        self.stateful_set(leader, 1, first=1, owner=owner)

    def hold_new_pods(self, *stateful_sets: str) -> None:
        """Let the pods that take the place of lost ones wait for a node."""
        spec = {"spec": {"template": {"spec": {"schedulingGates": [{"name": "pulumi-lws/held-by-a-test"}]}}}}
        for name in stateful_sets:
            self.api.patch(f"{STATEFUL_SETS}/{name}", json=spec, headers=MERGE).raise_for_status()

    def waits(self, pod: str) -> None:
        """Wait until the pod that takes the place of a lost one waits for a node."""

        def gated() -> bool:
            return "schedulingGates" in self.api.get(f"{PODS}/{pod}").json().get("spec", {})

        self.eventually(gated, True)

    def let_run(self, pod: str) -> None:
        ungated = {"spec": {"schedulingGates": None}}
        self.api.patch(f"{PODS}/{pod}", json=ungated, headers=MERGE).raise_for_status()

    def load(self, pod: str) -> None:
        """Let a running pod load: it runs, and is not ready."""
        status = self.api.get(f"{PODS}/{pod}").json()["status"]
        conditions = [one | ({"status": "False"} if one["type"] == "Ready" else {}) for one in status["conditions"]]
        patch = {"status": {"conditions": conditions}}
        self.api.patch(f"{PODS}/{pod}/status", json=patch, headers=MERGE).raise_for_status()

    def budget(self, **policy: Any) -> None:
        document = disruption_budget("glm", "default", SELECTOR, **policy)
        self.make(BUDGETS, document)

    def sees(self, healthy: int, allowed: int) -> None:
        """Wait until the disruption controller has counted so many healthy pods, and allows so many evictions."""

        def counted() -> tuple[int, int]:
            status = self.api.get(f"{BUDGETS}/glm").json().get("status", {})
            return status.get("currentHealthy"), status.get("disruptionsAllowed")

        self.eventually(counted, (healthy, allowed))

    def is_ready(self, *pods: str) -> None:
        def ready() -> set[str]:
            return {
                pod["metadata"]["name"]
                for pod in self.pods()
                for one in pod["status"].get("conditions", [])
                if (one["type"], one["status"]) == ("Ready", "True")
            }

        self.eventually(lambda: ready() >= set(pods), True)

    def pods(self) -> list[dict[str, Any]]:
        selector = {"labelSelector": f"{labels.LWS_NAME}=glm"}
        items: list[dict[str, Any]] = self.api.get(PODS, params=selector).raise_for_status().json()["items"]
        return items

    def evict(self, pod: str) -> int:
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
        return self.api.post(f"{PODS}/{pod}/eviction", json=eviction).status_code

    def clean(self) -> None:
        for collection in (BUDGETS, STATEFUL_SETS, DEPLOYMENTS):
            options = {"propagationPolicy": "Background"}
            self.api.request("DELETE", collection, json=options).raise_for_status()
        self.eventually(self.pods, [])


def template(own: dict[str, str]) -> dict[str, Any]:
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    return {
        "metadata": {"labels": own},
        "spec": {"tolerations": tolerations, "containers": [{"name": "main", "image": "none"}]},
    }


@pytest.fixture
def drill(api: httpx.Client, eventually: Eventually) -> Iterator[Drill]:
    drill = Drill(api, eventually)
    yield drill
    drill.clean()


@pytest.mark.parametrize(("groups", "in_the_window"), [(2, REFUSED), (None, EVICTED)], ids=["fixed", "autoscaled"])
def test_a_second_group_stays_while_the_first_is_out(drill: Drill, groups: int | None, in_the_window: int) -> None:
    drill.groups()
    drill.budget(pods_per_group=2, groups=groups)
    drill.sees(healthy=4, allowed=1)
    drill.hold_new_pods("glm", "glm-0")
    assert drill.evict("glm-0-1") == EVICTED
    drill.waits("glm-0-1")
    drill.sees(healthy=3, allowed=0)
    assert drill.evict("glm-1-1") == REFUSED
    # What LWS does next: the leader goes, its workers with it, and a new leader waits for a node.
    drill.api.delete(f"{PODS}/glm-0").raise_for_status()
    drill.eventually(lambda: drill.api.get(f"{STATEFUL_SETS}/glm-0").status_code, 404)
    drill.sees(healthy=2, allowed=0)
    assert [drill.evict(pod) for pod in ("glm-1", "glm-1-1")] == [REFUSED, REFUSED]
    # The new leader gathers its workers: it is ready, and nothing but the fixed number tells that they are missing.
    drill.waits("glm-0")
    drill.let_run("glm-0")
    drill.is_ready("glm-0")
    drill.sees(healthy=3, allowed=0 if in_the_window == REFUSED else 1)
    assert drill.evict("glm-1-1") == in_the_window


def test_the_next_group_may_go_once_the_first_serves_again(drill: Drill) -> None:
    drill.groups()
    drill.budget(pods_per_group=2, groups=2)
    drill.sees(healthy=4, allowed=1)
    drill.hold_new_pods("glm-0")
    assert drill.evict("glm-0-1") == EVICTED
    drill.waits("glm-0-1")
    drill.sees(healthy=3, allowed=0)
    drill.let_run("glm-0-1")
    drill.sees(healthy=4, allowed=1)
    assert drill.evict("glm-1-1") == EVICTED


def test_the_only_group_may_go(drill: Drill) -> None:
    drill.stateful_set("glm", 1)
    drill.is_ready("glm-0")
    drill.workers("glm-0")
    drill.budget(pods_per_group=2, groups=1)
    drill.sees(healthy=2, allowed=1)
    assert drill.evict("glm-0") == EVICTED


def test_pods_that_load_may_go_and_ready_ones_stay_meanwhile(drill: Drill) -> None:
    drill.groups()
    for pod in ("glm-0", "glm-0-1"):
        drill.load(pod)
    drill.budget(pods_per_group=2, groups=2)
    drill.sees(healthy=2, allowed=0)
    assert [drill.evict(pod) for pod in ("glm-1", "glm-1-1")] == [REFUSED, REFUSED]
    assert [drill.evict(pod) for pod in ("glm-0-1", "glm-0")] == [EVICTED, EVICTED]


def test_without_always_allow_a_group_that_hangs_holds_up_every_drain(drill: Drill) -> None:
    drill.groups()
    drill.load("glm-0")
    document = disruption_budget("glm", "default", SELECTOR, pods_per_group=2, groups=2)
    document["spec"]["unhealthyPodEvictionPolicy"] = "IfHealthyBudget"
    drill.make(BUDGETS, document)
    drill.load("glm-0-1")
    drill.sees(healthy=2, allowed=0)
    assert drill.evict("glm-0") == REFUSED


def test_copies_of_a_deployment_go_one_at_a_time(drill: Drill) -> None:
    own = {"matchLabels": SELECTOR}
    drill.make(
        DEPLOYMENTS,
        {"metadata": {"name": "glm"}, "spec": {"replicas": 2, "selector": own, "template": template(SELECTOR)}},
    )
    drill.budget(groups=2)
    drill.sees(healthy=2, allowed=1)
    first, second = (pod["metadata"]["name"] for pod in drill.pods())
    drill.load(first)
    drill.sees(healthy=1, allowed=0)
    assert [drill.evict(second), drill.evict(first)] == [REFUSED, EVICTED]
