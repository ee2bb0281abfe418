"""What is wrong with how a pool is bought."""

from collections.abc import Iterator

from pulumi_lws.nodes.capacity import Reservation, Spot
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem


def problems(pool: GpuPool) -> Iterator[Problem]:
    """Return what is wrong with capacity, weight and static nodes of a pool."""
    yield from _spot(pool)
    yield from _static(pool)
    capacity = pool.capacity
    if isinstance(capacity, Reservation) and capacity.id is not None and capacity.ends is not None:
        yield Problem(
            "capacity.ends",
            repr(capacity.ends),
            "nothing: the reservation exists, and ends when it says",
            "Remove it, or remove id to have a reservation made with the pool.",
        )


def _spot(pool: GpuPool) -> Iterator[Problem]:
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
