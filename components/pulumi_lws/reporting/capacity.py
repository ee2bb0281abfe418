"""What workloads take: GPUs, EFA interfaces, nodes and money, at their usual size and with every pool full."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pulumi_lws.facts.prices import Price
from pulumi_lws.reporting.pools import Pool
from pulumi_lws.reporting.workload import Workload


@dataclass(frozen=True)
class PoolUse:
    """What of a pool is in use.

    Attributes:
        pool: The pool.
        nodes: Nodes that run: those that workloads need, and those that are there anyway.
        price: Price of a node, of the dearest type; None where a type has none.
    """

    pool: Pool
    nodes: int
    price: float | None

    @property
    def dollars(self) -> float | None:
        """Cost per hour of the nodes that run."""
        return None if self.price is None else self.nodes * self.price

    @property
    def most_dollars(self) -> float | None:
        """Cost per hour with the pool full; None also where nothing limits it."""
        return None if self.price is None or self.pool.most is None else self.pool.most * self.price


@dataclass(frozen=True)
class Capacity:
    """What all workloads of a stack take.

    Attributes:
        gpus: GPUs that workloads ask for, autoscalers at their least.
        most_gpus: The same with autoscalers at their most.
        efa: EFA interfaces that workloads ask for.
        pools: Use of each pool.
        homeless: Workloads with GPUs that no known pool takes; their nodes and cost are not counted.
    """

    gpus: int
    most_gpus: int
    efa: int
    pools: tuple[PoolUse, ...]
    homeless: tuple[str, ...] = field(default=())

    @property
    def nodes(self) -> int:
        """GPU nodes that run."""
        return sum(use.nodes for use in self.pools)

    @property
    def most_nodes(self) -> int | None:
        """GPU nodes with every pool full; None where a pool has no limit."""
        known = [use.pool.most for use in self.pools if use.pool.most is not None]
        return sum(known) if len(known) == len(self.pools) else None

    @property
    def dollars(self) -> float:
        """Cost per hour of the nodes that run and have a price."""
        return sum(use.dollars or 0.0 for use in self.pools)

    @property
    def most_dollars(self) -> float | None:
        """Cost per hour with every pool full; None where that cannot be told."""
        known = [dollars for use in self.pools if (dollars := use.most_dollars) is not None]
        return sum(known) if len(known) == len(self.pools) else None

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Instance types that run and have no price."""
        return tuple(
            sorted({each for use in self.pools if use.nodes and use.price is None for each in use.pool.instance_types})
        )


def capacity_of(workloads: Iterable[Workload], pools: Sequence[Pool], prices: Mapping[str, Price]) -> Capacity:
    """Put workloads on pools, those with the fewest to choose from first, and count."""
    workloads = list(workloads)
    room: dict[int, float] = {}
    homeless: list[str] = []
    # Nodes that are there anyway are taken first.
    order = sorted(range(len(pools)), key=lambda index: -pools[index].least)
    choices = [(each, [i for i in order if pools[i].takes(each.node_labels)]) for each in workloads if each.gpus]
    for workload, candidates in sorted(choices, key=lambda choice: len(choice[1])):
        if not candidates:
            homeless.append(workload.name)
            continue
        _place(workload, candidates, pools, room)
    return Capacity(
        gpus=sum(each.gpus * each.replicas for each in workloads),
        most_gpus=sum(each.gpus * each.most_replicas for each in workloads),
        efa=sum(each.efa * each.replicas for each in workloads),
        pools=tuple(
            PoolUse(pool, max(pool.least, math.ceil(room.get(index, 0.0) - 1e-9)), _price(pool, prices))
            for index, pool in enumerate(pools)
        ),
        homeless=tuple(homeless),
    )


def _place(workload: Workload, candidates: Sequence[int], pools: Sequence[Pool], room: dict[int, float]) -> None:
    """Fill the candidates one after another; what has no room stands on the last, over its limit."""
    for _ in range(workload.replicas):
        nodes = 0.0
        for index in candidates:
            nodes = _nodes_of_copy(workload, pools[index].gpus_per_node)
            most = pools[index].most
            if most is None or room.get(index, 0.0) + nodes <= most + 1e-9:
                room[index] = room.get(index, 0.0) + nodes
                break
        else:
            room[candidates[-1]] = room.get(candidates[-1], 0.0) + nodes


def _nodes_of_copy(workload: Workload, gpus_per_node: int) -> float:
    """Return the nodes that one copy takes: a share of one, where pods share a node."""
    nodes = sum(pods.count / max(1, gpus_per_node // pods.gpus) for pods in workload.pods if pods.gpus)
    return float(math.ceil(nodes)) if workload.alone else nodes


def _price(pool: Pool, prices: Mapping[str, Price]) -> float | None:
    """Return the price of the dearest type that a node may have."""
    if not all(each in prices for each in pool.instance_types):
        return None
    return max((prices[each].dollars_per_hour for each in pool.instance_types), default=None)
