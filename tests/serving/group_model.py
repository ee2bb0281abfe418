"""A small deterministic model of one group: LWS, kubelet, DNS and the engine, around the probe's real decisions.

Time is in seconds and jumps from event to event. What LWS, kubelet and DNS do follows their sources as the comments
say; every answer of a probe comes from the program itself.
"""

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pulumi_lws.serving import readiness
from pulumi_lws.serving import two_phase_probe as probe
from tests.serving.group_scenario import Event, Record, Scenario, Span, Unserved

BOOTED_AGO = 5_000.0
"""How long the nodes have been up when the model starts."""
INTERPRETER_SECONDS = 0.1
LOOKUP_SECONDS = 0.02
REACTION_SECONDS = 0.5
"""How long the controller takes to see a change."""
RESTART_SECONDS = 3.0
LEADER_GRACE_SECONDS = 10.0
SETTLED_SECONDS = 300.0


@dataclass
class Pod:
    """A pod and the run of its only container."""

    index: int
    address: bool = False
    running: bool = False
    has_run: bool = False
    run: int = 0
    restarts: int = 0
    asked: int = 0
    ready: bool = False
    failures: int = 0
    deleting: bool = False
    gone: bool = False
    started_at: float = 0
    served: bool = False
    state: dict[str, probe.State] = field(default_factory=dict)


class Group:
    """One group in its cluster."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario, self.record, self.now = scenario, Record(), 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self.pods: list[Pod] = []
        self.named: list[Pod] = []
        self.workers_made = self.asked = False
        self.engine = "none"
        self.joined: set[int] = set()
        self.silent_since = 0.0
        self._since: dict[str, tuple[float, bool]] = {}

    def run(self, until: float) -> Record:
        """Let everything happen up to a time."""
        self._soon()
        self.after(self.scenario.controller_down[1], self._soon)
        for time, event in self.scenario.events:
            self.after(time, lambda event=event: self._disturb(event))  # type: ignore[misc]  # mypy infers no lambda with a default
        while self._events and self._events[0][0] <= until and not self._settled():
            self.now, _, action = heapq.heappop(self._events)
            action()
            self._observe()
        self._observe(last=True)
        return self.record

    def _settled(self) -> bool:
        """Whether nothing will happen any more: all is calm, and the group has served for longer than any patience."""
        return self.now > max(self.scenario.calm, self.record.ready_at) + SETTLED_SECONDS

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Let something happen later."""
        heapq.heappush(self._events, (self.now + seconds, next(self._order), action))

    @property
    def leader(self) -> Pod | None:
        """The leader, unless there is none."""
        return next((pod for pod in self.pods if pod.index == 0), None)

    @property
    def workers(self) -> list[Pod]:
        """The workers that there are, those told to stop as well."""
        return [pod for pod in self.pods if pod.index > 0]

    # LWS. pkg/controllers/pod_controller.go: workers once the leader is Ready; a restart recreates the group.

    def _soon(self) -> None:
        if not self.asked:
            self.asked = True
            self.after(REACTION_SECONDS, self._reconcile)

    def _reconcile(self) -> None:
        self.asked = False
        # Without the controller no pod of it is admitted: its webhooks have failurePolicy Fail.
        if _within(self.now, self.scenario.controller_down):
            return
        leader = self.leader
        if leader is None:
            self._make(0)
            return
        if leader.deleting:
            return
        if self._must_recreate(leader):
            # Foreground: the leader stays as an object until its workers are gone.
            for pod in self.workers:
                self._stop(pod, self.scenario.worker_grace)
            self._stop(leader, LEADER_GRACE_SECONDS)
        elif not self.workers_made and leader.ready and not self.workers:
            self.workers_made = True
        if self.workers_made and not leader.deleting:
            present = {pod.index for pod in self.workers}
            for index in range(1, self.scenario.size):
                if index not in present:
                    self._make(index)

    def _must_recreate(self, leader: Pod) -> bool:
        touched = any(pod.restarts for pod in self.pods) or any(pod.deleting for pod in self.workers)
        if not touched or not (self.workers_made or leader.restarts):
            return False
        if self.scenario.policy == "RecreateGroupOnPodRestart":
            return True
        return len(self.pods) == self.scenario.size and all(pod.has_run for pod in self.pods)

    def _make(self, index: int) -> None:
        pod = Pod(index)
        self.pods.append(pod)
        self.after(1 if index == 0 else self.scenario.address_after, lambda: self._address(pod))

    def _address(self, pod: Pod) -> None:
        if pod.gone:
            return
        pod.address = True
        # Names of pods that are not ready are published too.
        self.after(self.scenario.dns_lag, lambda: self.named.append(pod))
        self.after(1 if pod.index == 0 else self.scenario.starts_after, lambda: self._start(pod))

    def _stop(self, pod: Pod, grace: float) -> None:
        if not pod.deleting:
            pod.deleting, pod.ready = True, False
            self.after(grace, lambda: self._remove(pod))

    def _remove(self, pod: Pod) -> None:
        if pod.index == 0 and self.workers and all(other.deleting for other in self.workers):
            self.after(1, lambda: self._remove(pod))
            return
        pod.gone = True
        self._end(pod)
        self.pods.remove(pod)
        self.after(self.scenario.dns_lag, lambda: self._forget(pod))
        if pod.index == 0:
            self.workers_made, self.engine = False, "none"
            # The garbage collector: what the leader owned goes after it.
            for worker in self.workers:
                self._stop(worker, self.scenario.worker_grace)
        self._soon()

    def _forget(self, pod: Pod) -> None:
        self.named = [other for other in self.named if other is not pod]

    # Kubelet. pkg/kubelet/prober/worker.go: a container starts unready and alive; results count in a row.

    def _start(self, pod: Pod) -> None:
        if pod.gone or pod.deleting:
            return
        if pod.index > 0 and not self._knows(0):
            # The init container asks every second.
            self.after(1, lambda: self._start(pod))
            return
        pod.running = pod.has_run = True
        pod.run += 1
        pod.ready, pod.failures, pod.state, pod.served = False, 0, {}, False
        pod.started_at = self._clock()
        run = pod.run
        self.after(self.scenario.first_probe, lambda: self._ask(pod, run, "ready"))
        if pod.index == 0:
            self.joined = set()
            self.engine = "starting" if self.scenario.startup == "leader_first" else "waiting"
            self.after(self.scenario.listens_after, lambda: self._gather(pod, run))
            self.after(self.scenario.first_probe, lambda: self._ask(pod, run, "alive"))
        else:
            self._join()
        self._soon()

    def _end(self, pod: Pod) -> None:
        pod.running = pod.ready = False
        if pod.index == 0:
            self.engine = "none"
        elif pod.index in self.joined and self.engine in {"gathering", "loading", "serving"}:
            self._break()

    def _restart(self, pod: Pod) -> None:
        if pod.running and not pod.gone:
            self._end(pod)
            pod.restarts += 1
            self.after(RESTART_SECONDS, lambda: self._start(pod))
            self._soon()

    def _ask(self, pod: Pod, run: int, what: Literal["ready", "alive"]) -> None:
        if pod.gone or not pod.running or pod.run != run:
            return
        pod.asked += what == "ready"
        period = readiness.PERIOD_SECONDS if what == "ready" else readiness.LIVENESS_PERIOD_SECONDS
        self.after(period, lambda: self._ask(pod, run, what))
        self.after(0 if pod.asked % 3 else self.scenario.uneven, lambda: self._decide(pod, run, what))

    def _decide(self, pod: Pod, run: int, what: Literal["ready", "alive"]) -> None:
        if pod.gone or not pod.running or pod.run != run:
            return
        yes, seconds = self._answer(pod, what)
        apply = self._apply_ready if what == "ready" else self._apply_alive
        self.after(seconds, lambda: apply(pod, run, yes))

    def _apply_ready(self, pod: Pod, run: int, yes: bool) -> None:
        if pod.deleting or not pod.running or pod.run != run:
            return
        pod.failures = 0 if yes else pod.failures + 1
        if yes or pod.failures >= readiness.FAILURES:
            pod.ready = yes
            self._soon()

    def _apply_alive(self, pod: Pod, run: int, yes: bool) -> None:
        if pod.deleting or not pod.running or pod.run != run:
            return
        misses = 0.0 if yes else pod.state.setdefault("misses", {}).get("alive", 0.0) + 1
        pod.state["misses"] = {"alive": misses}
        if misses >= readiness.LIVENESS_FAILURES:
            self.record.kills.append((self._clock() - pod.started_at, self._silence(pod)))
            self._restart(pod)

    def _silence(self, pod: Pod) -> float:
        return self._clock() - self.silent_since if pod.served else 0.0

    # What a probe sees, and what the program decides of it.

    def _answer(self, pod: Pod, what: Literal["ready", "alive"]) -> tuple[bool, float]:
        now, serves, seconds = self._clock(), self.engine == "serving", INTERPRETER_SECONDS
        state = pod.state.setdefault(what, {})
        if not self.scenario.remembers:
            state = probe.state_without_memory(pod.started_at, now)
        if pod.index > 0:
            return probe.worker_ready(state, now, serves and self._knows(0)), seconds + LOOKUP_SECONDS
        if self.engine == "broken" or (self.engine == "loading" and self.scenario.hangs_on_health):
            seconds += probe.HEALTH_SECONDS
        if what == "alive":
            return probe.leader_alive(state, now, serves, pod.started_at, self.scenario.budget), seconds

        def first_worker() -> str:
            nonlocal seconds
            clear = not _within(self.now, self.scenario.resolver_down)
            seconds += LOOKUP_SECONDS if clear else probe.LOOKUP_SECONDS
            return (probe.PRESENT if self._is_named(1) else probe.ABSENT) if clear else probe.UNCLEAR

        listens = self.engine != "starting"
        return probe.leader_ready(state, now, serves, listens, first_worker), seconds

    def _clock(self) -> float:
        at, by = self.scenario.clock_jump
        return BOOTED_AGO + self.now + (by if self.now >= at else 0)

    def _is_named(self, index: int) -> bool:
        return any(pod.index == index for pod in self.named)

    def _knows(self, index: int) -> bool:
        return self._is_named(index) and not _within(self.now, self.scenario.resolver_down)

    # The engine: gathers, loads with its workers, serves, and does not survive the loss of a rank.

    def _gather(self, leader: Pod, run: int) -> None:
        if leader.gone or leader.run != run or self.engine not in {"starting", "waiting"}:
            return
        if self.engine == "waiting" and not all(self._knows(index) for index in range(1, self.scenario.size)):
            self.after(1, lambda: self._gather(leader, run))
            return
        self.engine = "gathering"
        self._join()

    def _join(self) -> None:
        if self.engine != "gathering":
            return
        self.joined = {pod.index for pod in self.workers if pod.running and not pod.deleting}
        leader = self.leader
        if len(self.joined) == self.scenario.size - 1 and leader:
            self.engine, run = "loading", leader.run
            self.after(self.scenario.loads_for, lambda: self._serve(leader, run))

    def _serve(self, leader: Pod, run: int) -> None:
        if self.engine == "loading" and leader.run == run and not leader.gone:
            self.engine, leader.served = "serving", True

    def _break(self) -> None:
        self.engine, self.silent_since = "broken", self._clock()
        if self.scenario.exits and (leader := self.leader):
            self.after(1, lambda: self._restart(leader))

    def _disturb(self, event: Event) -> None:
        leader, workers = self.leader, [pod for pod in self.workers if not pod.deleting]
        if event == "worker exits" and workers:
            self._restart(workers[0])
        elif event == "worker deleted" and workers:
            self._stop(workers[0], self.scenario.worker_grace)
            self._soon()
        elif event == "leader restarts" and leader:
            self._restart(leader)
        elif event == "leader deleted" and leader:
            self._stop(leader, LEADER_GRACE_SECONDS)
        elif event == "engine stops" and self.engine in {"gathering", "loading", "serving"}:
            self._break()

    # What is measured.

    def _observe(self, *, last: bool = False) -> None:
        leader, serves = self.leader, self.engine == "serving"
        ready = leader is not None and leader.ready
        served = leader is not None and leader.served
        self._track("window", ready and not serves, served, last, self.record.windows)
        whole = len(self.pods) == self.scenario.size and all(pod.ready for pod in self.pods)
        self._track("counted", whole and not serves, served, last, self.record.counted)
        named: list[Unserved] = []
        self._track("named", ready and not serves and not served and self._knows(1), served, last, named)
        self.record.named += [one.seconds for one in named]
        if not (whole and serves):
            self.record.ready_at = float("inf")
        elif self.record.ready_at == float("inf"):
            self.record.ready_at = self.now

    def _track(self, what: str, holds: bool, served: bool, last: bool, found: list[Unserved]) -> None:
        if holds and what not in self._since:
            self._since[what] = (self.now, served)
        if what in self._since and (last or not holds):
            begin, served_before = self._since.pop(what)
            # A machine that slept counts its windows anew.
            woke = self.scenario.clock_jump[0]
            ends = [begin, woke, self.now] if begin < woke < self.now else [begin, self.now]
            found += [Unserved(one, other, served_before) for one, other in itertools.pairwise(ends)]


def _within(now: float, span: Span) -> bool:
    return span[0] <= now < span[1]


def play(scenario: Scenario, until: float) -> Record:
    """Let a scenario happen."""
    return Group(scenario).run(until)


def longest(found: Sequence[float]) -> float:
    """The longest of some times; 0 if there are none."""
    return max(found, default=0.0)
