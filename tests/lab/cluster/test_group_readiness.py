"""Two-phase readiness with the real controller of LeaderWorkerSet: groups come, serve, roll and come again.

The manifests are those that ``MultiNodeVllm`` renders; kubelet's part and the engine's are acted.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx
import pytest

from lab.cluster import control_plane, processes
from lab.cluster.control_plane import Wish
from lab.cluster.layout import Layout
from lab.tools.given import LWS_CONTROLLER
from lab.tools.obtained import Obtained
from pulumi_lws.serving.render import render
from pulumi_lws.serving.settings import MultiNodeVllmArgs
from pulumi_lws.workloads.manifests import leader_worker_set
from tests.lab.cluster.probe_driver import PLAYED, Driver

pytestmark = pytest.mark.lab

Eventually = Callable[[Callable[[], Any], Any], None]
Acting = Callable[[str, int], AbstractContextManager[Driver]]
Manifest = dict[str, Any]

LEADER_WORKER_SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/models/leaderworkersets"
STATEFUL_SETS = "/apis/apps/v1/namespaces/models/statefulsets"
PODS = "/api/v1/namespaces/models/pods"


@pytest.fixture(scope="module")
def wish(wish_with_controller: Callable[..., Wish]) -> Wish:
    """A lab with two islands of two nodes."""
    return wish_with_controller("p5=p5.48xlarge:2x2")


@pytest.fixture(scope="module")
def layout(new_layout: Callable[[], Layout], wish: Wish) -> Layout:
    layout = new_layout()
    control_plane.up(layout, wish, lambda _: None)
    return layout


@pytest.fixture
def api(layout: Layout, connection: Callable[[Layout], httpx.Client]) -> Iterator[httpx.Client]:
    """A connection, and the namespace of the deployments, empty at the end."""
    with connection(layout) as connected:
        answer = connected.post("/api/v1/namespaces", json={"metadata": {"name": "models"}})
        assert answer.is_success or answer.status_code == 409, answer.text
        yield connected


@pytest.fixture
def acting(
    layout: Layout,
    api: httpx.Client,
    controller: Obtained,
    connection: Callable[[Layout], httpx.Client],
    eventually: Eventually,
) -> Acting:
    """Make a deployment of GLM-5 of some groups and act for its pods; it is deleted at the end."""

    @contextmanager
    def act(name: str, replicas: int) -> Iterator[Driver]:
        manifest = rendered(name, replicas, controller.version)
        answer = api.post(LEADER_WORKER_SETS, json=manifest)
        assert answer.is_success, answer.text
        with Driver(lambda: connection(layout), "models", name, size=2) as driver:
            yield driver
        api.delete(f"{LEADER_WORKER_SETS}/{name}").raise_for_status()
        eventually(lambda: api.get(PODS).json()["items"], [])

    return act


def rendered(name: str, replicas: int, version: str) -> Manifest:
    """The LeaderWorkerSet of a deployment, with the lab's word that its probes are played."""
    args = MultiNodeVllmArgs.model_validate(
        {
            "name": name,
            "namespace": "models",
            "model": "zai-org/GLM-5-FP8",
            "maxModelLen": 65536,
            "parallelism": {"tensor": 8, "pipeline": 2},
            "replicas": replicas,
            "source": {"kind": "node", "path": "/models/glm-5"},
            "pool": "p5",
            "pools": {"p5": {"instanceType": "p5.48xlarge", "islands": 2, "nodesPerIsland": 2}},
            "lwsVersion": version,
        }
    )
    manifest = leader_worker_set(render(args).groups["groups"])
    for template in templates(manifest):
        template["metadata"]["annotations"] |= PLAYED
    return manifest


def templates(manifest: Manifest) -> list[Manifest]:
    group = manifest["spec"]["leaderWorkerTemplate"]
    return [group["leaderTemplate"], group["workerTemplate"]]


def pods(api: httpx.Client) -> dict[str, Manifest]:
    """The pods that are not on their way out, by name."""
    items = api.get(PODS).raise_for_status().json()["items"]
    return {pod["metadata"]["name"]: pod for pod in items if "deletionTimestamp" not in pod["metadata"]}


def identities(api: httpx.Client) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in pods(api).items()}


def is_ready(api: httpx.Client, name: str) -> bool:
    conditions = pods(api).get(name, {}).get("status", {}).get("conditions", [])
    return {"Ready": "True"}.items() <= {one["type"]: one["status"] for one in conditions}.items()


def counted(api: httpx.Client, name: str) -> int:
    """Groups that LWS calls ready."""
    return int(api.get(f"{LEADER_WORKER_SETS}/{name}").json().get("status", {}).get("readyReplicas", 0))


def test_a_group_comes_up_and_counts_only_once_it_serves(
    api: httpx.Client, acting: Acting, eventually: Eventually
) -> None:
    with acting("up", 1) as driver:
        driver.held.set()
        # The leader gathers and is Ready for that, so its worker comes; then it loads and is not.
        eventually(lambda: set(pods(api)), {"up-0", "up-0-1"})
        eventually(lambda: is_ready(api, "up-0"), False)
        assert counted(api, "up") == 0
        driver.held.clear()
        eventually(lambda: counted(api, "up"), 1)
    first_with_worker = next(index for index, seen in enumerate(driver.seen) if "up-0-1" in seen.pods)
    assert first_with_worker > 0, "the leader came first"
    assert all(seen.counted <= len(seen.serving) for seen in driver.seen)


def test_a_leader_is_never_ready_between_its_gathering_and_its_serving(
    api: httpx.Client, acting: Acting, eventually: Eventually
) -> None:
    with acting("loads", 1) as driver:
        driver.held.set()
        eventually(lambda: set(pods(api)), {"loads-0", "loads-0-1"})
        eventually(lambda: is_ready(api, "loads-0"), False)
        begin = len(driver.seen)
        # Far longer than the five minutes after which a leader that still gathered would be Ready again.
        eventually(lambda: len(driver.seen) > begin + 66, True)
        assert not is_ready(api, "loads-0")
        driver.held.clear()
        eventually(lambda: counted(api, "loads"), 1)
    assert driver.restarted == []


def test_a_controller_that_was_down_while_a_leader_gathered_finds_it_ready_again(
    layout: Layout, wish: Wish, api: httpx.Client, acting: Acting, eventually: Eventually
) -> None:
    with acting("waits", 1) as driver:
        driver.deaf.set()
        eventually(lambda: set(pods(api)), {"waits-0"})
        (controller,) = [found.process for found in processes.find(layout.folder) if found.part == LWS_CONTROLLER]
        controller.kill()
        controller.wait(10)
        driver.deaf.clear()
        eventually(lambda: is_ready(api, "waits-0"), True)
        eventually(lambda: is_ready(api, "waits-0"), False)
        control_plane.up(layout, wish, lambda _: None)
        assert set(pods(api)) == {"waits-0"}
        eventually(lambda: counted(api, "waits"), 1)
    assert driver.restarted == []


def test_a_rollout_without_surge_never_takes_both_groups_down(
    api: httpx.Client, acting: Acting, eventually: Eventually
) -> None:
    with acting("rolls", 2) as driver:
        eventually(lambda: counted(api, "rolls"), 2)
        before, begin = identities(api), len(driver.seen)
        path = f"{LEADER_WORKER_SETS}/rolls"
        changed = api.get(path).json()
        assert changed["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"] == {
            "maxUnavailable": 1,
            "maxSurge": 0,
            "partition": 0,
        }
        for template in templates(changed):
            template["spec"]["containers"][0]["env"].append({"name": "ROLLED", "value": "1"})
        api.put(path, json=changed).raise_for_status()
        eventually(lambda: set(before.values()) & set(identities(api).values()), set())
        eventually(lambda: (counted(api, "rolls"), set(pods(api)) == set(before)), (2, True))
    during = driver.seen[begin:]
    assert min(len(seen.serving) for seen in during) == 1
    assert driver.restarted == []


def test_a_worker_that_dies_takes_its_group_along_and_a_new_one_comes(
    api: httpx.Client, acting: Acting, eventually: Eventually
) -> None:
    with acting("dies", 2) as driver:
        eventually(lambda: counted(api, "dies"), 2)
        before = identities(api)
        driver.worker_exits(api, "dies-1-1")
        eventually(
            lambda: {name for name, uid in identities(api).items() if uid != before[name]}, {"dies-1", "dies-1-1"}
        )
        eventually(lambda: counted(api, "dies"), 2)
        assert identities(api)["dies-0"] == before["dies-0"], "the other group lives"


def test_a_leader_that_stops_answering_is_restarted_and_its_group_with_it(
    api: httpx.Client, acting: Acting, eventually: Eventually
) -> None:
    with acting("hangs", 1) as driver:
        eventually(lambda: counted(api, "hangs"), 1)
        before = identities(api)
        driver.hung.add(before["hangs-0"])
        begin = driver.now
        eventually(lambda: counted(api, "hangs"), 0)
        eventually(lambda: driver.restarted, ["hangs-0"])
        assert driver.now - begin >= 180
        eventually(lambda: set(before.values()) & set(identities(api).values()), set())
        eventually(lambda: counted(api, "hangs"), 1)
