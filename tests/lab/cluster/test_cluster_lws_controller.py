"""The real controller of LeaderWorkerSet in a real lab; its program is not to be had everywhere."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import psutil
import pytest

from lab.cluster import control_plane, lws, parts, processes, status
from lab.cluster.control_plane import Outcome, Wish
from lab.cluster.layout import Layout
from lab.tools.given import LWS_CONTROLLER
from lab.tools.obtained import Obtained

pytestmark = pytest.mark.lab

Eventually = Callable[[Callable[[], Any], Any], None]

PODS = "/api/v1/namespaces/default/pods"
STATEFUL_SETS = "/apis/apps/v1/namespaces/default/statefulsets"
LEADER_WORKER_SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
DISAGGREGATED_SETS = "/apis/disaggregatedset.x-k8s.io/v1/namespaces/default/disaggregatedsets"
GATE = "pulumi-lws/held-by-a-test"


@pytest.fixture(scope="module")
def wish(wish_with_controller: Callable[..., Wish]) -> Wish:
    """A lab with two nodes."""
    return wish_with_controller("p5=p5.48xlarge:1x2")


@pytest.fixture(scope="module")
def layout(new_layout: Callable[[], Layout], wish: Wish) -> Layout:
    layout = new_layout()
    _up(layout, wish)
    return layout


@pytest.fixture
def api(layout: Layout, connection: Callable[[Layout], httpx.Client]) -> Iterator[httpx.Client]:
    with connection(layout) as connected:
        yield connected


def _up(layout: Layout, wish: Wish) -> Outcome:
    return control_plane.up(layout, wish, lambda _: None)


def _leader_worker_set(name: str, *, size: int = 2, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name},
        "spec": {"leaderWorkerTemplate": {"size": size, "workerTemplate": {"spec": _pod()}}, **spec},
    }


def _held_leader(name: str, startup: str) -> dict[str, Any]:
    """A set whose leader is not scheduled before the gate is taken away."""
    document = _leader_worker_set(name, startupPolicy=startup)
    leader = {"spec": _pod() | {"schedulingGates": [{"name": GATE}]}}
    document["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = leader
    return document


def _pod() -> dict[str, Any]:
    return {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [{"name": "main", "image": "none"}],
    }


def _make(api: httpx.Client, document: dict[str, Any], collection: str = LEADER_WORKER_SETS) -> str:
    answer = api.post(collection, json=document)
    assert answer.is_success, answer.text
    return f"{collection}/{document['metadata']['name']}"


def _refusal(api: httpx.Client, document: dict[str, Any], collection: str = LEADER_WORKER_SETS) -> str:
    answer = api.post(collection, json=document)
    assert answer.is_error, answer.text
    return str(answer.json()["message"])


def _of_set(api: httpx.Client, collection: str, name: str) -> dict[str, dict[str, Any]]:
    selector = {"labelSelector": f"leaderworkerset.sigs.k8s.io/name={name}"}
    items = api.get(collection, params=selector).raise_for_status().json()["items"]
    return {item["metadata"]["name"]: item for item in items}


def _conditions(subject: dict[str, Any]) -> dict[str, str]:
    return {one["type"]: one["status"] for one in subject.get("status", {}).get("conditions", [])}


def _becomes_available(api: httpx.Client, path: str, eventually: Eventually) -> None:
    eventually(lambda: _conditions(api.get(path).json()).get("Available"), "True")


def test_a_set_gets_its_leaders_and_workers_and_becomes_available(api: httpx.Client, eventually: Eventually) -> None:
    path = _make(api, _leader_worker_set("pair", replicas=2))
    _becomes_available(api, path, eventually)
    assert set(_of_set(api, STATEFUL_SETS, "pair")) == {"pair", "pair-0", "pair-1"}
    pods = _of_set(api, PODS, "pair")
    assert set(pods) == {"pair-0", "pair-0-1", "pair-1", "pair-1-1"}
    assert {(_conditions(pod)["Ready"], pod["spec"]["nodeName"].rpartition("-")[0]) for pod in pods.values()} == {
        ("True", "p5-0")
    }
    # The webhook for pods has been at work.
    first_variables = {name: pod["spec"]["containers"][0]["env"][0] for name, pod in pods.items()}
    assert first_variables["pair-1-1"] == {"name": "LWS_LEADER_ADDRESS", "value": "pair-1.pair.default"}
    found = api.get(path).json()
    assert found["spec"]["networkConfig"] == {"subdomainPolicy": "Shared"}
    assert {name: found["status"][name] for name in ("replicas", "readyReplicas", "observedGeneration")} == {
        "replicas": 2,
        "readyReplicas": 2,
        "observedGeneration": 1,
    }


def test_the_webhooks_refuse_with_their_own_words(api: httpx.Client) -> None:
    denied = 'admission webhook "vleaderworkerset.kb.io" denied the request: '
    size = "spec.leaderWorkerTemplate.size: Invalid value: 0: size must be equal or greater than 1"
    assert _refusal(api, _leader_worker_set("empty", size=0)) == denied + size
    name = 'metadata.name: Invalid value: "70b": a DNS-1035 label must consist of'
    assert _refusal(api, _leader_worker_set("70b")).startswith(denied + name)


def test_the_workers_of_a_leader_that_must_be_ready_come_after_it(api: httpx.Client, eventually: Eventually) -> None:
    patient = _make(api, _held_leader("patient", "LeaderReady"))
    eventually(lambda: set(_of_set(api, PODS, "patient")), {"patient-0"})
    # Another set that came later has its worker already: the controller has been at work since.
    _make(api, _held_leader("eager", "LeaderCreated"))
    eventually(lambda: set(_of_set(api, PODS, "eager")), {"eager-0", "eager-0-1"})
    assert set(_of_set(api, STATEFUL_SETS, "patient")) == {"patient"}

    merge = {"Content-Type": "application/merge-patch+json"}
    api.patch(f"{PODS}/patient-0", json={"spec": {"schedulingGates": None}}, headers=merge).raise_for_status()
    _becomes_available(api, patient, eventually)
    assert set(_of_set(api, PODS, "patient")) == {"patient-0", "patient-0-1"}


def test_the_status_names_the_controller_and_leaves_its_kinds_to_it(layout: Layout, controller: Obtained) -> None:
    found = status.look(layout)
    assert found is not None
    assert found.all_run
    assert found.real_controllers == {"lws-controller": str(controller.binaries[LWS_CONTROLLER])}
    assert "leaderworkersets.leaderworkerset.x-k8s.io" not in found.written_statuses
    assert found.upstream_crds["leaderworkersets.leaderworkerset.x-k8s.io"] == f"lws-{controller.version}"
    assert (found.tools[LWS_CONTROLLER].version, found.tools[LWS_CONTROLLER].origin) == (controller.version, "given")


def test_it_listens_on_the_loopback_address_only(layout: Layout) -> None:
    (process,) = [found.process for found in processes.find(layout.folder) if found.part == LWS_CONTROLLER]
    addresses = [one.laddr.ip for one in process.net_connections() if one.status == psutil.CONN_LISTEN]
    assert addresses == ["127.0.0.1"] * 3


def test_without_it_only_its_own_objects_are_refused_and_up_repairs_it(
    layout: Layout, wish: Wish, api: httpx.Client, eventually: Eventually
) -> None:
    (process,) = [found.process for found in processes.find(layout.folder) if found.part == LWS_CONTROLLER]
    process.kill()
    process.wait(10)
    assert "failed calling webhook" in _refusal(api, _leader_worker_set("orphan"))
    _make(api, {"metadata": {"name": "other"}, "spec": _pod()}, PODS)
    repaired = _up(layout, wish)
    assert (repaired.started, list(repaired.crashed)) == ((LWS_CONTROLLER,), [LWS_CONTROLLER])
    _becomes_available(api, _make(api, _leader_worker_set("orphan")), eventually)


def test_an_up_without_it_takes_its_webhooks_away_and_one_with_it_brings_them_back(
    layout: Layout, wish: Wish, api: httpx.Client, eventually: Eventually
) -> None:
    def registered() -> list[int]:
        return [api.get(f"{collection}/{lws.NAME}").status_code for collection in lws.WEBHOOKS]

    assert registered() == [200, 200]
    assert _up(layout, replace(wish, lws_controller=False)).started == (parts.STATUSES,)
    assert registered() == [404, 404]
    # Nobody objects, and the status is a written one.
    _becomes_available(api, _make(api, _leader_worker_set("70b")), eventually)
    assert _of_set(api, STATEFUL_SETS, "70b") == {}
    api.delete(f"{LEADER_WORKER_SETS}/70b").raise_for_status()
    assert _up(layout, wish).started == (parts.STATUSES, LWS_CONTROLLER)
    assert registered() == [200, 200]


def test_a_kept_lab_comes_back_with_its_sets(
    layout: Layout, wish: Wish, api: httpx.Client, eventually: Eventually
) -> None:
    path = _make(api, _leader_worker_set("kept"))
    _becomes_available(api, path, eventually)
    before = {name: pod["metadata"]["uid"] for name, pod in _of_set(api, PODS, "kept").items()}
    control_plane.down(layout, keep=True)
    assert _up(layout, wish).started == (*parts.ALWAYS, LWS_CONTROLLER)
    _becomes_available(api, _make(api, _leader_worker_set("new")), eventually)
    assert {name: pod["metadata"]["uid"] for name, pod in _of_set(api, PODS, "kept").items()} == before
