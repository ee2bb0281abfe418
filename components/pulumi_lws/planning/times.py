"""How long a copy takes until it serves, and whether its start budget bears that."""

from dataclasses import dataclass, replace
from typing import Literal

from pulumi_lws.facts import bandwidths
from pulumi_lws.facts.bandwidths import Duration, Rate
from pulumi_lws.planning.problems import Problem, Severity

Way = Literal["download", "local-disk", "s3-stream", "shared-volume", "shared-volume-stream"]
"""How the weights get from their source to the GPUs."""

_READS: dict[Way, tuple[tuple[str, Rate], ...]] = {
    "download": (("download", bandwidths.DOWNLOAD), ("weights", bandwidths.LOCAL_DISK)),
    "local-disk": (("weights", bandwidths.LOCAL_DISK),),
    "s3-stream": (("weights", bandwidths.S3_STREAM),),
    "shared-volume": (("weights", bandwidths.SHARED_VOLUME),),
    "shared-volume-stream": (("weights", bandwidths.SHARED_VOLUME_STREAM),),
}

_LOADS = frozenset(name for reads in _READS.values() for name, _ in reads)
"""Names of the steps that load weights."""

_FASTER: dict[Way, str] = {
    "download": "keep the weights in S3 or on a shared volume (source.kind s3 or volume)",
    "local-disk": "stream them from S3 (source.kind s3)",
    "s3-stream": "use weights of fewer bits",
    "shared-volume": "stream them (source.stream: true, and striped files)",
    "shared-volume-stream": "give the volume more throughput",
}


@dataclass(frozen=True)
class Start:
    """What the start of a copy depends on.

    Attributes:
        weights_gb: Size of the weights in GB (10^9 bytes); every node of a copy reads all of them.
        way: How they get to the GPUs.
        nodes_are_there: Whether nodes stand before pods do.
        pre_pulled: Whether a node pulls the images as soon as it stands; else the first pod on it does.
        next_shares_a_node: Whether one more copy finds room on a node that runs already.
        downloads_stay: Whether a node keeps what it downloaded for other pods.
        next_finds_kernels: Whether compiled kernels are kept where another node finds them.
        budget_minutes: The start budget.
    """

    weights_gb: float
    way: Way
    nodes_are_there: bool = False
    pre_pulled: bool = False
    next_shares_a_node: bool = False
    downloads_stay: bool = False
    next_finds_kernels: bool = False
    budget_minutes: int = 60


@dataclass(frozen=True)
class Step:
    """A part of a start.

    Attributes:
        name: What happens.
        minutes: How long it takes.
        assumption: Why it is thought to take so long.
    """

    name: str
    minutes: float
    assumption: str


@dataclass(frozen=True)
class WayTimes:
    """How long a copy takes if its weights come one way, in whole minutes, rounded up.

    Attributes:
        way: The way.
        in_use: Whether it is the declared one.
        load: Until the weights are on the GPUs, once the engine asks for them.
        first: The first start.
        next: One more copy.
    """

    way: Way
    in_use: bool
    load: int
    first: int
    next: int


@dataclass(frozen=True)
class StartTimes:
    """How long a copy takes until it serves.

    Attributes:
        first: Steps of the first start, from an empty pool.
        next: Steps of one more copy.
        weights_gb: Size of the weights in GB (10^9 bytes).
        budget_minutes: The start budget: a copy that takes longer is started over.
        ways: The same for each way that the weights could come.
    """

    first: tuple[Step, ...]
    next: tuple[Step, ...]
    weights_gb: float
    budget_minutes: int
    ways: tuple[WayTimes, ...]


def start_times(start: Start) -> StartTimes:
    """Estimate the first start and that of one more copy, and what each way of the weights would make of them."""
    first, following = _steps(start)
    return StartTimes(
        first, following, start.weights_gb, start.budget_minutes, tuple(_way_times(start, way) for way in _READS)
    )


def _way_times(start: Start, way: Way) -> WayTimes:
    """Estimate a start whose weights come another way; what is downloaded then stays, as is the default."""
    first, following = _steps(start if way == start.way else replace(start, way=way, downloads_stay=True))
    load = tuple(step for step in first if step.name in _LOADS)
    return WayTimes(way, way == start.way, minutes(load), minutes(first), minutes(following))


def _steps(start: Start) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return the steps of the first start and those of one more copy."""
    reads = tuple(
        Step(name, rate.minutes(start.weights_gb), f"{rate.gigabytes_per_second:g} GB/s; {rate.source}")
        for name, rate in _READS[start.way]
    )
    boot: tuple[Step, ...] = (_step("node boot", bandwidths.NODE_BOOT), _pull())
    if start.nodes_are_there:
        boot = () if start.pre_pulled else boot[1:]
    next_boot, next_reads = boot, reads
    if start.next_shares_a_node:
        next_boot, next_reads = (), reads[-1:] if start.downloads_stay else reads
    compiled = bandwidths.COMPILE_CACHED if start.next_finds_kernels else bandwidths.COMPILE
    return (
        (*boot, *reads, _step("warm-up", bandwidths.COMPILE)),
        (*next_boot, *next_reads, _step("warm-up", compiled)),
    )


def minutes(steps: tuple[Step, ...]) -> int:
    """Return how long steps take one after another, in whole minutes, rounded up."""
    return int(-(-sum(step.minutes for step in steps) // 1))


def in_whole_minutes(steps: tuple[Step, ...]) -> tuple[int, ...]:
    """Return how long each step takes, in whole minutes that add up to ``minutes``: those cut most are rounded up."""
    cut = [int(step.minutes) for step in steps]
    by_rest = sorted(range(len(steps)), key=lambda number: cut[number] - steps[number].minutes)
    up = set(by_rest[: minutes(steps) - sum(cut)])
    return tuple(whole + (number in up) for number, whole in enumerate(cut))


def budget_problems(start: Start, path: str) -> list[Problem]:
    """Return whether the start budget is too small: a copy that does not serve in time is started over, for ever.

    An error where even the weights are not read in time; else a warning, since the steps are estimates.
    """
    steps = start_times(start).first
    needed, budget = minutes(steps), start.budget_minutes
    if needed <= budget:
        return []
    reads = sum(step.minutes for step in steps if step.name in _LOADS)
    parts = ", ".join(f"{step.name} {whole}" for step, whole in zip(steps, in_whole_minutes(steps), strict=True))
    return [
        Problem(
            f"{path}.startBudgetMinutes" if path else "startBudgetMinutes",
            str(budget),
            f"at least {needed}, as a first start is estimated in minutes: {parts}",
            f"Raise it to {-(-needed // 5) * 5}, or read the weights faster: {_FASTER[start.way]}.",
            severity=Severity.ERROR if reads > budget else Severity.WARNING,
        )
    ]


def _step(name: str, duration: Duration) -> Step:
    return Step(name, duration.minutes, duration.source)


def _pull() -> Step:
    rate, size = bandwidths.IMAGE_PULL, bandwidths.IMAGE_GIGABYTES
    return Step("image pull", rate.minutes(size), f"{size} GB at {rate.gigabytes_per_second:g} GB/s; {rate.source}")
