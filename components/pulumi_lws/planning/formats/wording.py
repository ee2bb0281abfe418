"""What every format says in the same words."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.memory import GpuMemory
from pulumi_lws.planning.plan import RAY, Headroom, Plan, Pool, RolePlan
from pulumi_lws.planning.problems import Severity
from pulumi_lws.planning.times import Step, Way, in_whole_minutes, minutes

MOST_DRAWN = 12
"""Islands, or nodes of a plain pool, up to which free ones are all drawn; of more only their number is said."""


def verdict(plan: Plan) -> str:
    """Say whether the plan can be applied."""
    if not plan.is_applicable:
        return "does not work" if plan.roles else "cannot be planned"
    if not plan.roles:
        return "has nothing to place"
    return "fits" if all(role.memory for role in plan.roles) else "fits as far as is known"


def headline(plan: Plan) -> str:
    """Say what somebody in a hurry wants to know."""
    parts = [f"{plan.used_gpus()} of {counted(plan.gpus, 'GPU')} in use"] if plan.pools else []
    parts += [counted(count, str(s)) for s in (Severity.ERROR, Severity.WARNING) if (count := plan.count(s))]
    if unknown := list(dict.fromkeys(role.name for role in plan.roles if role.memory is None)):
        parts.append(f"memory of {', '.join(unknown)} not checked")
    if starts := [minutes(role.times.first) for role in plan.roles if role.times and role.groups]:
        parts.append(f"first start about {max(starts)} min")
    return " · ".join(parts)


def pool_line(plan: Plan, pool: Pool) -> str:
    """Say what a pool is and how much of it is in use."""
    nodes = counted(pool.nodes, "node")
    if pool.islands:
        nodes = f"{counted(pool.islands, 'island')} of {counted(pool.nodes_per_island, 'node')}"
    return (
        f"{pool.instance_type} · {nodes}, {pool.gpus_per_node} {pool.gpu} and {pool.efa_per_node} EFA each · "
        f"{plan.used_gpus(pool.name)} of {counted(pool.gpus, 'GPU')} in use"
    )


WAYS: Mapping[Way, str] = {
    "download": "download",
    "local-disk": "node disks, filled before",
    "s3-stream": "stream from S3",
    "shared-volume": "shared volume",
    "shared-volume-stream": "shared volume, streamed",
}
"""Ways of the weights to the GPUs, for people."""


@dataclass(frozen=True)
class Mark:
    """What stands for a role in a picture.

    Attributes:
        letter: A to Z, then AA.
        colour: Number of its colour.
    """

    letter: str
    colour: int


def marks(plan: Plan, colours: int) -> Mapping[tuple[str, str], Mark]:
    """Return the marks of the roles, by deployment and role, with so many colours in turn."""
    return {(role.name, role.role): Mark(_letter(number), number % colours) for number, role in enumerate(plan.roles)}


def _letter(number: int) -> str:
    more, rest = divmod(number, 26)
    return (_letter(more - 1) if more else "") + chr(ord("A") + rest)


def role_line(role: RolePlan, pool: Pool) -> str:
    """Say what a role puts on its pool."""
    one, many, of = ("worker", "workers", "for") if role.role == RAY else ("copy", "copies", "of")
    copies = counted(role.replicas, one, many)
    if role.max_replicas > role.replicas:
        copies = f"{role.replicas} to {role.max_replicas} {many}"
    split = f" {of} {role.parallelism}" if role.parallelism else ""
    shape = role.shape
    nodes = f"{shape.size} nodes with " if shape.size > 1 else ""
    efa = pool.efa(shape.gpus_per_pod)
    missing = role.replicas - len(role.groups)
    without = f"; {missing} without a place" if missing else ""
    return f"{copies}{split} on {role.pool}: {nodes}{shape.gpus_per_pod} GPUs and {efa} EFA each{without}"


def needed_on_top(room: Headroom) -> str:
    """Say what a rollout needs of its pool."""
    return f"needs {room.needed_gpus} GPUs on top" if room.needed_gpus else "takes the old down before the new"


def memory_line(memory: GpuMemory) -> str:
    """Say how the memory of a GPU is used."""
    return (
        f"█ weights {memory.weights:.1f}  ▓ KV cache {memory.kv:.1f}  ▒ reserve {memory.reserve:.1f}  "
        f"░ limit {memory.limit:.1f} of {memory.gpu:.1f} GiB"
    )


def context_line(memory: GpuMemory) -> str:
    """Say what the KV caches of one copy hold."""
    requests = f"{memory.max_concurrency:,.1f} requests of {memory.context:,} tokens"
    return f"{memory.kv_tokens:,} tokens a copy: {requests} at once"


def steps_line(steps: tuple[Step, ...]) -> str:
    """Say how long a start takes, and of what."""
    parts = ", ".join(f"{step.name} {shown}" for step, shown in zip(steps, step_minutes(steps), strict=True))
    return f"about {minutes(steps)} min: {parts}"


def step_minutes(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Say how many minutes each step takes; they add up to the whole."""
    return tuple(str(whole) if whole else "<1" for whole in in_whole_minutes(steps))


def assumptions(roles: Iterable[RolePlan]) -> Iterator[str]:
    """Yield what estimated times rest on, each once."""
    steps = (step for role in roles if role.times for step in (*role.times.first, *role.times.next))
    yield from dict.fromkeys(f"{step.name}: {step.assumption}" for step in steps)
