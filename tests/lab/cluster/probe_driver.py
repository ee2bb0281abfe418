"""Plays the probes of the pods of one LeaderWorkerSet: the program's own decisions about an engine that is acted.

Time is virtual: a tick is one period of the readiness probe, and passes much faster than on a real node. What each pod
is asked, how often and how many denials count, stands in its manifest.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import httpx

from pulumi_lws.facts import labels
from pulumi_lws.serving import readiness
from pulumi_lws.serving import two_phase_probe as probe

PLAYED = {"pulumi-lws/lab-probes": "played"}
"""Annotation of pods that the lab's kubelet must not call ready."""

PACE_SECONDS = 0.2
BOOTED_AGO = 10_000.0
LOAD_TICKS = 5
_PATCH = {"Content-Type": "application/strategic-merge-patch+json"}

Pod = dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """What one tick saw.

    Attributes:
        counted: Groups that LWS called ready.
        serving: Groups that served, by index, when that was already known.
        pods: Pods that there were.
    """

    counted: int
    serving: frozenset[str]
    pods: frozenset[str]


@dataclass
class Container:
    """One run of a pod's container, as kubelet knows it."""

    started_at: float
    states: dict[str, probe.State] = field(default_factory=dict)
    denials: dict[str, int] = field(default_factory=dict)
    ready: bool = False


@dataclass
class Engine:
    """What is acted in one group, from the start of its leader's container: who joined, and since when it loads."""

    members: frozenset[str] = frozenset()
    loaded_for: int = 0

    @property
    def serves(self) -> bool:
        """Whether it answers 200."""
        return self.loaded_for > LOAD_TICKS


class Driver:
    """Ticks in a thread of its own until it is stopped."""

    def __init__(self, connect: Callable[[], httpx.Client], namespace: str, name: str, size: int) -> None:
        self._connect, self.size, self.name = connect, size, name
        self.pods_path = f"/api/v1/namespaces/{namespace}/pods"
        self.set_path = f"/apis/leaderworkerset.x-k8s.io/v1/namespaces/{namespace}/leaderworkersets/{name}"
        self.now, self.seen, self.restarted = BOOTED_AGO, list[Seen](), list[str]()
        self.containers: dict[tuple[str, int], Container] = {}
        self.engines: dict[tuple[str, int], Engine] = {}
        self.deaf = threading.Event()
        """While it is set, no leader listens for its workers."""
        self.held = threading.Event()
        """While it is set, no engine gets further than loading."""
        self.hung: set[str] = set()
        """Uids of leaders whose engine answers no more."""
        self.failure: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="probes", daemon=True)

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and fail if a tick did."""
        self._stop.set()
        self._thread.join(30)
        if self.failure:
            raise self.failure

    def _run(self) -> None:
        try:
            with self._connect() as api:
                while not self._stop.wait(PACE_SECONDS):
                    self._tick(api)
        except BaseException as failure:  # noqa: BLE001 - it is raised where the driver ends
            self.failure = failure

    def _tick(self, api: httpx.Client) -> None:
        self.now += readiness.PERIOD_SECONDS
        counted = api.get(self.set_path).json().get("status", {}).get("readyReplicas", 0)
        selector = {"labelSelector": f"{labels.LWS_NAME}={self.name}"}
        pods: list[Pod] = api.get(self.pods_path, params=selector).raise_for_status().json()["items"]
        running = [
            pod for pod in pods if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]
        ]
        groups: dict[str, list[Pod]] = {}
        for pod in running:
            groups.setdefault(pod["metadata"]["labels"][labels.LWS_GROUP_INDEX], []).append(pod)
        serving = frozenset(index for index, members in groups.items() if self._act(members))
        self.seen.append(Seen(counted, serving, frozenset(pod["metadata"]["name"] for pod in pods)))
        named = {pod["metadata"]["name"] for pod in pods if pod["status"].get("podIP")}
        for index, members in groups.items():
            for pod in members:
                self._probe(api, pod, serves=index in serving, named=named)

    def _act(self, members: list[Pod]) -> bool:
        """Let the engine of a group get on; it is broken once one of those that joined is another one."""
        leader = next((pod for pod in members if _is_leader(pod)), None)
        if leader is None:
            return False
        engine = self.engines.setdefault(_run_of(leader), Engine())
        present = frozenset(str(_run_of(pod)) for pod in members)
        if not engine.members and len(present) == self.size:
            engine.members = present
        if not engine.members or not engine.members <= present or leader["metadata"]["uid"] in self.hung:
            engine.loaded_for = 0
        elif not self.held.is_set() or engine.serves:
            engine.loaded_for += 1
        return engine.serves

    def _probe(self, api: httpx.Client, pod: Pod, *, serves: bool, named: set[str]) -> None:
        container = self.containers.setdefault(_run_of(pod), Container(self.now))
        spec = pod["spec"]["containers"][0]
        ready = self._asks(container, spec["readinessProbe"], serves, pod, named)
        if ready is not None and ready != container.ready:
            container.ready = ready
            self._write(api, pod, ready=ready, restarts=_restarts(pod))
        if "livenessProbe" in spec and self._asks(container, spec["livenessProbe"], serves, pod, named) is False:
            self.restarted.append(pod["metadata"]["name"])
            self._write(api, pod, ready=False, restarts=_restarts(pod) + 1)

    def _asks(
        self, container: Container, asked: dict[str, Any], serves: bool, pod: Pod, named: set[str]
    ) -> bool | None:
        """Ask one probe if its time has come; None while nothing is decided."""
        if (self.now - container.started_at) % asked["periodSeconds"]:
            return None
        command: list[str] = asked["exec"]["command"]
        mode, arguments = command[3], command[4:]
        state, name = container.states.setdefault(mode, {}), pod["metadata"]["name"]

        def first_worker() -> str:
            return probe.PRESENT if f"{name}-1" in named else probe.ABSENT

        if mode == "leader-ready":
            yes = probe.leader_ready(state, self.now, serves, not self.deaf.is_set(), first_worker)
        elif mode == "worker-ready":
            yes = probe.worker_ready(state, self.now, serves)
        else:
            budget = float(arguments[arguments.index("--budget") + 1])
            yes = probe.leader_alive(state, self.now, serves, container.started_at, budget)
        container.denials[mode] = 0 if yes else container.denials.get(mode, 0) + 1
        return True if yes else False if container.denials[mode] >= asked["failureThreshold"] else None

    def worker_exits(self, api: httpx.Client, name: str) -> None:
        """Let the container of a pod end and come again."""
        pod = api.get(f"{self.pods_path}/{name}").raise_for_status().json()
        self._write(api, pod, ready=False, restarts=_restarts(pod) + 1)

    def _write(self, api: httpx.Client, pod: Pod, *, ready: bool, restarts: int) -> None:
        conditions = [{"type": kind, "status": str(ready)} for kind in ("ContainersReady", "Ready")]
        containers = [one | {"ready": ready, "restartCount": restarts} for one in pod["status"]["containerStatuses"]]
        patch = {
            "metadata": {"uid": pod["metadata"]["uid"]},
            "status": {"conditions": conditions, "containerStatuses": containers},
        }
        path = f"{self.pods_path}/{pod['metadata']['name']}/status"
        answer = api.patch(path, json=patch, headers=_PATCH)
        # It may be gone, or another one have its name.
        assert answer.is_success or answer.status_code in {404, 409}, answer.text


def _is_leader(pod: Pod) -> bool:
    return bool(pod["metadata"]["labels"][labels.LWS_WORKER_INDEX] == "0")


def _restarts(pod: Pod) -> int:
    return int(pod["status"]["containerStatuses"][0]["restartCount"])


def _run_of(pod: Pod) -> tuple[str, int]:
    return pod["metadata"]["uid"], _restarts(pod)
