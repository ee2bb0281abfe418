"""Placing groups on the nodes of pools.

A group of several pods takes an island of its own, whole. Every other pod takes the first node that has room, the
largest pods first; where sizes divide one another, as 1, 2, 4 and 8 GPUs do, nothing places more.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pulumi_lws.planning.parallelism import GroupShape
from pulumi_lws.planning.plan import Group, Pod, Pool


@dataclass(frozen=True)
class Demand:
    """What a role wants of its pool.

    Attributes:
        name: Name of the deployment.
        role: serve, prefill, decode or ray.
        path: Where its settings stand, such as ``deployments.glm-5`` or ``deployments.gpt-oss.prefill``.
        pool_name: Name of its pool.
        replicas: Copies, or workers of Ray.
        max_replicas: The same at most: those of the autoscaler, where there is one.
        shape: How one of them lies on pods.
        surge: How many a rollout adds before it takes an old one away.
    """

    name: str
    role: str
    path: str
    pool_name: str
    replicas: int
    max_replicas: int
    shape: GroupShape
    surge: int = 0

    @property
    def owner(self) -> str:
        """Where the whole deployment stands, whose roles roll together: ``deployments.gpt-oss``."""
        return ".".join(self.path.split(".")[:2])

    @property
    def is_on_island(self) -> bool:
        """Whether a copy needs an island of its own."""
        return self.shape.size > 1

    def gpus_kept(self, pool: Pool) -> int:
        """Return the GPUs that one copy keeps from others: its own, or those of its island."""
        return pool.nodes_per_island * pool.gpus_per_node if self.is_on_island else self.shape.gpus_per_pod


@dataclass(frozen=True)
class Placement:
    """Where groups are.

    Attributes:
        groups: The groups that have a place, by path of their demand.
        left_out: How many groups have none, by path; only demands that have any.
        taken: GPUs of each node that are taken, by pool. A group on an island takes all of the island's.
    """

    groups: Mapping[str, tuple[Group, ...]] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    taken: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def taken_gpus(self, pool: str) -> int:
        """Return the GPUs of a pool that are taken."""
        return sum(self.taken.get(pool, ()))

    def nodes(self, pool: str, first: int | None = None) -> int:
        """Return how many nodes of a pool, or of its first ones, have something on them."""
        return sum(gpus > 0 for gpus in self.taken.get(pool, ())[:first])


EMPTY = Placement()
"""Nothing placed yet."""


def place(pools: Iterable[Pool], demands: Sequence[Demand], onto: Placement = EMPTY) -> Placement:
    """Place every copy of every demand.

    The same input gives the same placement: demands are placed by size, then in their order.

    Args:
        pools: The pools. A demand on any other is left out.
        demands: What is wanted.
        onto: What is there already; it stays where it is, and only its GPUs count.
    """
    spaces = {pool.name: _Space(pool, onto.taken.get(pool.name, (0,) * pool.nodes)) for pool in pools}
    groups: dict[str, tuple[Group, ...]] = {}
    for demand in sorted(demands, key=lambda demand: (-demand.shape.size, -demand.shape.gpus_per_pod)):
        placed: list[Group] = []
        if space := spaces.get(demand.pool_name):
            while len(placed) < demand.replicas and (pods := space.place(demand.shape)):
                placed.append(Group(len(placed), pods))
        groups[demand.path] = tuple(placed)
    return Placement(
        groups={demand.path: groups[demand.path] for demand in demands},
        left_out={d.path: left for d in demands if (left := d.replicas - len(groups[d.path]))},
        taken={name: tuple(space.taken) for name, space in spaces.items()},
    )


def at_most_replicas(demands: Iterable[Demand]) -> tuple[Demand, ...]:
    """Return the demands with every autoscaler at its most."""
    return tuple(replace(demand, replicas=max(demand.replicas, demand.max_replicas)) for demand in demands)


class _Space:
    """GPUs of one pool that are taken so far.

    What had no room for a pod never has again, so each search goes on where the last one of its kind ended.
    """

    def __init__(self, pool: Pool, taken: Sequence[int]) -> None:
        self.taken = list(taken)
        self._pool = pool
        self._searched: defaultdict[tuple[int, int], int] = defaultdict(int)

    def place(self, shape: GroupShape) -> tuple[Pod, ...]:
        """Place one copy and take its GPUs; empty if it has no place."""
        if shape.size > 1:
            return self._place_on_island(shape)
        searched = shape.size, shape.gpus_per_pod
        room = self._pool.gpus_per_node - shape.gpus_per_pod
        for node in range(self._searched[searched], len(self.taken)):
            self._searched[searched] = node
            if (first_gpu := self.taken[node]) <= room:
                self.taken[node] += shape.gpus_per_pod
                return (self._pod(shape, node, first_gpu),)
        return ()

    def _place_on_island(self, shape: GroupShape) -> tuple[Pod, ...]:
        pool, searched = self._pool, (shape.size, shape.gpus_per_pod)
        if not pool.islands or shape.size > pool.nodes_per_island:
            return ()
        for first in range(self._searched[searched], len(self.taken), pool.nodes_per_island):
            self._searched[searched] = first
            nodes = slice(first, first + pool.nodes_per_island)
            if not any(self.taken[nodes]):
                self.taken[nodes] = [pool.gpus_per_node] * pool.nodes_per_island
                return tuple(self._pod(shape, first + number, 0) for number in range(shape.size))
        return ()

    def _pod(self, shape: GroupShape, node: int, first_gpu: int) -> Pod:
        return Pod(node, first_gpu, shape.gpus_per_pod, self._pool.efa(shape.gpus_per_pod))
