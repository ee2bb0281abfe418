"""What may happen to a plan that is right, and what to do about it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from pulumi_lws.planning.packing import Demand, Placement
from pulumi_lws.planning.plan import RAY, Pool, Risk


def risks(pools: Sequence[Pool], demands: Sequence[Demand], placement: Placement, today: date) -> tuple[Risk, ...]:
    """Return the risks of pools and deployments, in their order.

    Args:
        pools: The pools.
        demands: What runs on them.
        placement: Where it runs.
        today: The day on which nodes boot at the earliest.
    """
    by_pool: defaultdict[str, list[Demand]] = defaultdict(list)
    for demand in demands:
        if demand.replicas:
            by_pool[demand.pool_name].append(demand)
    found: list[Risk] = []
    for pool in pools:
        if here := by_pool.get(pool.name):
            found += [*_half_island(pool, here, placement), *_lifetime(pool, today), *_mixed_sizes(pool, here)]
    by_name = {pool.name: pool for pool in pools}
    only = (risk for demand in demands for risk in _only_copy(demand, by_name.get(demand.pool_name), placement))
    return (*found, *only)


def _half_island(pool: Pool, demands: Sequence[Demand], placement: Placement) -> Iterator[Risk]:
    if pool.is_static or not any(demand.is_on_island for demand in demands):
        return
    spare = (pool.gpus - placement.taken_gpus(pool.name)) // (pool.gpus_per_node * pool.nodes_per_island)
    way_out = f"It then takes {'the spare island' if spare == 1 else f'one of {spare} spare islands'}: cordon"
    if not spare:
        way_out = "There is no spare island for it to take: add one, or reserve capacity. With one, cordon"
    yield Risk(
        f"pools.{pool.name}",
        "half an island: EC2 may deliver one node and not the next, or a node may die. The leader of the group then "
        "holds its GPUs and waits.",
        # A cordon alone is not enough: docs/troubleshooting.md says why.
        f"{way_out} the island's nodes, delete its NodePool, then the leader.",
    )


def _lifetime(pool: Pool, today: date) -> Iterator[Risk]:
    if hours := pool.node_lifetime_hours:
        end = today + timedelta(hours=hours)
        age = f"{hours // 24} days" if hours % 24 == 0 else f"{hours} hours"
        yield Risk(
            f"pools.{pool.name}",
            f"nodes live {age}: one that boots today is taken away by {end.isoformat()}, with the group on it.",
            "Roll the groups before that day, over room to spare.",
        )
    if pool.ends:
        yield Risk(
            f"pools.{pool.name}",
            f"its capacity ends at {pool.ends}; nodes are drained before, and groups with them.",
            "Extend it, or move the groups to another pool, a start budget and more before.",
        )


def _mixed_sizes(pool: Pool, demands: Sequence[Demand]) -> Iterator[Risk]:
    sizes = sorted({demand.shape.gpus_per_pod for demand in demands if not demand.is_on_island})
    if len(sizes) > 1:
        yield Risk(
            f"pools.{pool.name}",
            f"pods of {' and '.join(map(str, sizes))} GPUs share nodes: the scheduler may spread the small ones so "
            "that no node is left for a large one, though the GPUs would do.",
            "Give each size a pool of its own, or some nodes to spare.",
        )


def _only_copy(demand: Demand, pool: Pool | None, placement: Placement) -> Iterator[Risk]:
    if demand.replicas != 1 or pool is None or demand.role == RAY:
        return
    drain = "a drain of its node is an outage as long as a start"
    if demand.max_replicas > 1:
        found = f"one copy while the load is low: {drain}."
        yield Risk(demand.path, found, "Set autoscaling.minReplicas to 2.")
        return
    if not demand.surge:
        drain += ", and so is each update"
    if pool.gpus - placement.taken_gpus(pool.name) >= demand.gpus_kept(pool):
        yield Risk(demand.path, f"one copy: {drain}.", "Declare a second copy.")
    else:
        yield Risk(demand.path, f"one copy, and no room for a second: {drain}.", "Make room for one more copy.")
