"""What is wrong with how a pool is bought."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime

from pulumi_lws.nodes.capacity import CapacityBlock, Reservation, Spot
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem, Severity


def problems(pool: GpuPool, today: date | None) -> Iterator[Problem]:
    """Return what is wrong with capacity, weight and static nodes of a pool; without a day, nothing has ended."""
    yield from spot_problems(pool)
    yield from _static(pool)
    capacity = pool.capacity
    if not isinstance(capacity, Reservation | CapacityBlock):
        return
    if isinstance(capacity, Reservation) and capacity.id is not None and capacity.ends is not None:
        yield Problem(
            "capacity.ends",
            repr(capacity.ends),
            "nothing: the reservation exists, and ends when it says",
            "Remove it, or remove id to have a reservation made with the pool.",
        )
    elif capacity.ends is not None and today is not None and datetime.fromisoformat(capacity.ends).date() < today:
        yield Problem(
            "capacity.ends",
            f"{capacity.ends!r}, which is over",
            f"a time after {today.isoformat()}",
            "Name capacity that goes on, or remove the pool: it gets no nodes any more.",
        )
    if capacity.id is None and capacity.instances is not None:
        yield Problem(
            "capacity.instances",
            str(capacity.instances),
            f"nothing: the reservation is made for the {pool.most_nodes} nodes of the pool",
            "Remove it, or name the reservation by id.",
        )


def reservation_problems(pools: Mapping[str, GpuPool]) -> Iterator[Problem]:
    """Return where pools and the reservations that they name do not agree; paths start at the name of a pool."""
    sharing: defaultdict[str, dict[str, GpuPool]] = defaultdict(dict)
    for name, pool in pools.items():
        if isinstance(pool.capacity, Reservation | CapacityBlock) and pool.capacity.id is not None:
            sharing[pool.capacity.id][name] = pool
    for id_, users in sharing.items():
        yield from _sharing(id_, users) or _size(users)


def _sharing(id_: str, pools: Mapping[str, GpuPool]) -> list[Problem]:
    """Judge what the pools of one reservation have in common."""
    (owner, first), *others = pools.items()
    return [
        Problem(
            f"{name}.capacity.id",
            f"{id_}, for {_what(pool)}",
            f"{_what(first)}, as {owner} has it: a reservation is for one type in one zone",
            "Name a reservation of this pool's own.",
        )
        for name, pool in others
        if _what(pool) != _what(first)
    ]


def _size(pools: Mapping[str, GpuPool]) -> Iterator[Problem]:
    """Judge the size of one reservation by its pools."""
    nodes = sum(pool.most_nodes for pool in pools.values())
    said: dict[int, str] = {}
    for name, pool in pools.items():
        if isinstance(pool.capacity, Reservation | CapacityBlock) and pool.capacity.instances not in {None, nodes}:
            said.setdefault(pool.capacity.instances or 0, name)
    for instances, name in said.items():
        is_short = instances < nodes
        yield Problem(
            f"{name}.capacity.instances",
            f"{instances}, for the {nodes} nodes of {', '.join(pools)}",
            f"{nodes} or more: nodes beyond it never come, and groups wait for them"
            if is_short
            else f"{nodes}: what is reserved is paid for, used or not",
            "Enlarge the reservation, or lower islands or nodes." if is_short else "Raise islands or nodes to use it.",
            Severity.ERROR if is_short else Severity.WARNING,
        )


def _what(pool: GpuPool) -> str:
    return f"{pool.instance_type} in {pool.zone}"


def spot_problems(pool: GpuPool) -> Iterator[Problem]:
    """Return where spot nodes are the base of a pool, or do not fit it; paths start at the pool."""
    if isinstance(pool.capacity, Spot) and pool.islands:
        yield Problem(
            "capacity.kind",
            f"'spot', for all {pool.islands} islands",
            "on-demand with spotOverflow, reservation, capacity-block",
            "Use spot only for replicas beyond a base: kind on-demand, and spotOverflow for the islands beyond it.",
        )
    total, what = (pool.islands, "islands") if pool.islands else (pool.nodes, "nodes")
    if pool.spot_overflow and pool.spot_overflow >= total:
        yield Problem(
            "capacity.spotOverflow",
            str(pool.spot_overflow),
            f"0 to {max(total - 1, 0)}: the pool has {total} {what}, and its base is on demand",
            f"Lower it, or raise {what}.",
        )
    if pool.spot_overflow and pool.weight == 1:
        yield Problem(
            "weight",
            "1, with a spot overflow",
            "2 to 100",
            "Raise it, or remove it: spot nodes need a lower weight than those on demand.",
        )


def _static(pool: GpuPool) -> Iterator[Problem]:
    if not pool.is_static:
        return
    if pool.weight is not None:
        yield Problem(
            "weight",
            f"{pool.weight}, on a static pool",
            "nothing: static nodes are there before Karpenter could choose",
            "Remove weight, or set static to false.",
        )
    if pool.spot_overflow:
        yield Problem(
            "static",
            f"true, with a spot overflow of {pool.spot_overflow}",
            "false",
            "Remove static or spotOverflow: static spot nodes would be bought whether a replica needs them or not.",
        )
