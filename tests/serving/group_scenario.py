"""What may happen to a group, and what is seen of it."""

from dataclasses import dataclass, field
from typing import Literal

Span = tuple[float, float]


@dataclass(frozen=True)
class Scenario:
    """What happens to a group.

    Attributes:
        size: Pods.
        policy: The restart policy of LWS.
        startup: Who must be up first.
        listens_after: From the start of the leader's container to its rendezvous port.
        address_after: From the making of a worker to its address: a warm node, or one that boots.
        starts_after: From there to the start of its container: the pull of the image.
        loads_for: From the last rank that joined to a group that serves.
        first_probe: From the start of a container to its first probe.
        uneven: How much later than its time every third probe begins.
        dns_lag: How long a name takes to appear and to vanish.
        worker_grace: How long a worker that is told to stop goes on.
        exits: Whether the leader's process ends when it loses a rank, or hangs.
        hangs_on_health: Whether a leader that loads accepts a question about its health and does not answer.
        remembers: Whether the probe can keep files.
        controller_down: When neither LWS nor its webhooks are there.
        resolver_down: When the resolver gives no answer in time.
        clock_jump: When the clock of the leader's node jumps, and by how much.
        events: What is done to the group, and when.
    """

    size: int = 2
    policy: "Policy" = "RecreateGroupAfterStart"
    startup: Literal["leader_first", "workers_first"] = "leader_first"
    listens_after: float = 40
    address_after: float = 2
    starts_after: float = 5
    loads_for: float = 120
    first_probe: float = 0
    uneven: float = 0.3
    dns_lag: float = 1
    worker_grace: float = 30
    exits: bool = False
    hangs_on_health: bool = False
    remembers: bool = True
    controller_down: Span = (0, 0)
    resolver_down: Span = (0, 0)
    clock_jump: Span = (0, 0)
    events: tuple[tuple[float, "Event"], ...] = ()

    @property
    def cold_start(self) -> float:
        """From the making of a leader to a group that serves, if all goes well."""
        return self.listens_after + self.address_after + self.starts_after + self.loads_for

    @property
    def budget(self) -> float:
        """The start budget that a careful user declares."""
        return 1.5 * self.cold_start + 600

    @property
    def calm(self) -> float:
        """When the last disturbance is over."""
        ends = [self.controller_down[1], self.resolver_down[1], self.clock_jump[0]]
        return max([*ends, *(time for time, _ in self.events)])


Policy = Literal["RecreateGroupAfterStart", "RecreateGroupOnPodRestart"]
Event = Literal["worker exits", "worker deleted", "leader restarts", "leader deleted", "engine stops"]


@dataclass(frozen=True)
class Unserved:
    """A time in which a leader was Ready and did not serve."""

    begin: float
    end: float
    served_before: bool

    @property
    def seconds(self) -> float:
        """How long."""
        return self.end - self.begin


@dataclass
class Record:
    """What was seen of a group."""

    windows: list[Unserved] = field(default_factory=list)
    named: list[float] = field(default_factory=list)
    """Times in which a leader was Ready, had never served, and the resolver knew its first worker."""
    counted: list[Unserved] = field(default_factory=list)
    """Times in which the whole group was Ready and did not serve."""
    kills: list[tuple[float, float]] = field(default_factory=list)
    """Kills by liveness: age of the container, and silence since it served (0: it never did)."""
    ready_at: float = 0
    """Since when the group has been Ready and served."""
