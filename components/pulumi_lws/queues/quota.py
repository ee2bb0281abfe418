"""How much of its pools each cluster queue has, of every resource that pods request there.

GPUs are divided, in whole islands or nodes, and everything else of a node goes with them: so quotas never add up to
more than a pool has, and a group that has its GPUs has its CPUs, memory and interfaces, too.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property

from pulumi_lws.facts import labels
from pulumi_lws.nodes.manifests import HUGEPAGES, HUGEPAGES_PER_NODE
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.queues.settings import PoolQuota, Queues
from pulumi_lws.serving import placement

Amounts = Mapping[str, int]
"""Amounts by resource, each in the unit in which it is counted."""

_MIB = 2**20


def _interfaces(pool: GpuPool) -> int:
    return 0 if pool.efa_mode == "none" else pool.instance.efa_interfaces


_PER_NODE: Mapping[str, Callable[[GpuPool], int]] = {
    labels.GPU: lambda pool: pool.instance.gpus,
    labels.EFA: _interfaces,
    "cpu": lambda pool: placement.schedulable_milli_cpus(pool.instance),
    "memory": lambda pool: placement.schedulable_memory_mib(pool.instance),
    "ephemeral-storage": lambda pool: placement.schedulable_disk_bytes(pool) // _MIB,
    HUGEPAGES: lambda pool: int(HUGEPAGES_PER_NODE.removesuffix("Mi")) if pool.hugepages else 0,
}
"""What the pods of a node may request together, of every resource that is counted; GPUs come first."""

_UNIT: Mapping[str, Fraction] = {"cpu": Fraction(1, 1000), labels.GPU: Fraction(1), labels.EFA: Fraction(1)}
"""The unit in which a resource is counted; MiB where none stands here."""

_LARGER = {"Mi": "Gi", "Gi": "Ti"}


def unit(resource: str) -> Fraction:
    """Return the unit in which a resource is counted."""
    return _UNIT.get(resource, Fraction(_MIB))


def quantity(resource: str, amount: int) -> str:
    """Write an amount as Kubernetes does."""
    if unit(resource) == 1 or amount == 0:
        return str(amount)
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    suffix = "Mi"
    while amount % 1024 == 0 and suffix in _LARGER:
        amount, suffix = amount // 1024, _LARGER[suffix]
    return f"{amount}{suffix}"


def amounts(pool: GpuPool, gpus: int) -> dict[str, int]:
    """Return what goes with some GPUs of a pool, of every resource that is counted."""
    return {resource: per_node(pool) * gpus // pool.instance.gpus for resource, per_node in _PER_NODE.items()}


def gpus_for(pool: GpuPool, needed: Mapping[str, Fraction]) -> int:
    """Return how many GPUs of a pool bring what is needed with them."""
    per_node = {resource: per_node(pool) * unit(resource) for resource, per_node in _PER_NODE.items()}
    parts = [needed[name] * pool.instance.gpus / has for name, has in per_node.items() if has and name in needed]
    return math.ceil(max(parts, default=Fraction(0)))


def covered(pools: Mapping[str, GpuPool]) -> list[str]:
    """Return the resources that a cluster queue on some pools counts: those that any of them has."""
    return [name for name, per_node in _PER_NODE.items() if any(per_node(pool) for pool in pools.values())]


def divided(pool: GpuPool, quotas: Mapping[str, PoolQuota]) -> dict[str, int]:
    """Divide the GPUs of a pool among cluster queues.

    Numbers that were declared stay. What they leave goes to the others by their shares, in whole islands; on a plain
    pool in whole nodes where there are enough for all of them. What is left over goes to those whose part was cut most.
    """
    stated = {name: quota.gpus for name, quota in quotas.items() if quota.gpus is not None}
    shares = {name: quota.share for name, quota in quotas.items() if quota.gpus is None}
    left = max(pool.gpus - sum(stated.values()), 0)
    size = piece(pool)
    if not pool.islands and left // size < len(shares):
        size = 1
    pieces, total = left // size, sum(shares.values())
    parts = {name: pieces * share // total for name, share in shares.items()}
    by_loss = sorted(shares, key=lambda name: -(pieces * shares[name] % total))
    for name in by_loss[: pieces - sum(parts.values())]:
        parts[name] += 1
    return {name: stated[name] if name in stated else parts[name] * size for name in quotas}


def piece(pool: GpuPool) -> int:
    """Return the GPUs that belong together: those of an island, on a plain pool those of a node."""
    return pool.instance.gpus * (pool.nodes_per_island if pool.islands else 1)


class Quotas:
    """The quota of every cluster queue on every pool that it names; pools that do not exist are left out."""

    def __init__(self, queues: Queues, pools: Mapping[str, GpuPool]) -> None:
        self._queues, self.pools = queues, pools

    @cached_property
    def gpus(self) -> Mapping[str, Mapping[str, int]]:
        """GPUs by pool and cluster queue."""
        by_pool: dict[str, dict[str, PoolQuota]] = {}
        for name, queue in self._queues.cluster_queues.items():
            for pool, quota in queue.pools.items():
                if pool in self.pools:
                    by_pool.setdefault(pool, {})[name] = quota
        return {pool: divided(self.pools[pool], quotas) for pool, quotas in by_pool.items()}

    def stated(self, pool: str, *, beside: str) -> dict[str, int]:
        """Return the GPUs of a pool that others than a cluster queue have by number, and keep whatever it has."""
        others = (
            (name, queue.pools.get(pool)) for name, queue in self._queues.cluster_queues.items() if name != beside
        )
        return {name: quota.gpus for name, quota in others if quota is not None and quota.gpus is not None}

    def pools_of(self, queue: str) -> dict[str, GpuPool]:
        """Return the pools of a cluster queue, in its order."""
        return {name: self.pools[name] for name in self._queues.cluster_queues[queue].pools if name in self.pools}

    def nominal(self, queue: str, pool: str) -> dict[str, int]:
        """Return what a cluster queue has of a pool for itself."""
        return amounts(self.pools[pool], self.gpus[pool][queue])

    def reach(self, queue: str, pool: str) -> dict[str, int]:
        """Return what a cluster queue can use of a pool at most, with all that others would lend it."""
        return amounts(self.pools[pool], self.gpus[pool][queue] + self._borrowable(queue, pool))

    def _borrowable(self, queue: str, pool: str) -> int:
        own = self._queues.cluster_queues[queue]
        if own.cohort is None:
            return 0
        lent = 0
        for name, gpus in self.gpus[pool].items():
            other = self._queues.cluster_queues[name]
            if name != queue and other.cohort is not None and self._root(other.cohort) == self._root(own.cohort):
                limit = other.pools[pool].lending_gpus
                lent += gpus if limit is None else min(gpus, limit)
        limit = own.pools[pool].borrowing_gpus
        return lent if limit is None else min(lent, limit)

    def _root(self, cohort: str) -> str:
        seen = {cohort}
        while (found := self._queues.cohorts.get(cohort)) is not None and found.parent not in {None, *seen}:
            cohort = found.parent or cohort
            seen.add(cohort)
        return cohort
