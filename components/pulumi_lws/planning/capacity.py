"""Whether pools and quotas hold what runs on them: now, with every autoscaler at its most, and during a rollout."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.facts.quotas import QUOTAS, QuotaFamily
from pulumi_lws.planning.packing import Demand, Placement, at_most_replicas, place
from pulumi_lws.planning.plan import RAY, Headroom, Pool, QuotaUse
from pulumi_lws.planning.problems import Problem, Severity


def placement_problems(pools: Sequence[Pool], demands: Sequence[Demand]) -> list[Problem]:
    """Return what has no place on its pool, with the replicas that have and the pool that would hold all.

    Copies that only an autoscaler would add are judged in a second step, where all that runs now has its place.
    """
    now = place(pools, demands)
    if now.left_out:
        return _left_out(pools, demands, now)
    later = at_most_replicas(demands)
    scaled = {demand.path for demand in demands if demand.max_replicas > demand.replicas}
    return _left_out(pools, later, place(pools, later), scaled)


def headroom(pools: Sequence[Pool], demands: Sequence[Demand], placement: Placement) -> tuple[Headroom, ...]:
    """Return the room for a rollout on each pool that has something on it.

    The roles of one deployment roll together, so each of them needs its copies on top at the same time. Deployments
    need not: one that finds no room waits for another to finish.
    """
    needed = _needed_on_top({pool.name: pool for pool in pools}, demands)
    return tuple(
        Headroom(pool.name, max(needed[pool.name].values()), pool.gpus - placement.taken_gpus(pool.name))
        for pool in pools
        if pool.name in needed
    )


def headroom_problems(pools: Sequence[Pool], demands: Sequence[Demand]) -> list[Problem]:
    """Return the deployments whose rollout would wait for ever: no old copy goes before a new one serves.

    With an autoscaler at its most it waits until the load falls, which is a warning.
    """
    by_name = {pool.name: pool for pool in pools}
    rolling: defaultdict[str, list[Demand]] = defaultdict(list)
    for demand in demands:
        if demand.surge and demand.pool_name in by_name:
            rolling[demand.owner].append(demand)
    problems: dict[str, Problem] = {}
    for severity, present in ((Severity.ERROR, demands), (Severity.WARNING, at_most_replicas(demands))):
        placement = place(pools, present)
        # Many deployments are alike, and large pools take long to search.
        known: dict[tuple[Any, ...], tuple[int, ...]] = {}
        for together in rolling.values():
            alike = tuple((demand.pool_name, demand.shape, demand.surge) for demand in together)
            if alike not in known:
                known[alike] = _left_on_top(by_name, together, placement)
            for demand, missing in zip(together, known[alike], strict=True):
                if missing:
                    found = _no_room(by_name[demand.pool_name], demand, placement, missing, severity)
                    problems.setdefault(demand.path, found)
    return list(problems.values())


def _left_on_top(pools: Mapping[str, Pool], together: Sequence[Demand], placement: Placement) -> tuple[int, ...]:
    """Return how many copies on top of each role have no place."""
    on_top = [replace(demand, replicas=demand.surge) for demand in together]
    touched = dict.fromkeys(demand.pool_name for demand in together)
    left_out = place([pools[name] for name in touched], on_top, placement).left_out
    return tuple(left_out.get(demand.path, 0) for demand in together)


def quotas(pools: Sequence[Pool], demands: Sequence[Demand], limits: Mapping[QuotaFamily, int]) -> tuple[QuotaUse, ...]:
    """Return what the pools take of each quota of the account.

    Args:
        pools: The pools.
        demands: What runs on them.
        limits: The account's quotas in vCPUs by family, as far as they are known.
    """
    placement = place(pools, at_most_replicas(demands))
    used: Counter[QuotaFamily] = Counter()
    most: Counter[QuotaFamily] = Counter()
    bounds = {}
    for pool in pools:
        bound = QUOTAS[INSTANCE_TYPES[pool.instance_type].family]
        bounds[bound.family] = bound.on_demand
        counting = pool.nodes if pool.on_demand_nodes is None else pool.on_demand_nodes
        used[bound.family] += placement.nodes(pool.name, first=counting) * pool.vcpus_per_node
        most[bound.family] += counting * pool.vcpus_per_node
    return tuple(
        QuotaUse(family, quota.name, quota.code, used[family], most[family], limits.get(family))
        for family, quota in sorted(bounds.items())
        if most[family]
    )


def quota_problems(quotas: Iterable[QuotaUse]) -> list[Problem]:
    """Return the quotas that are too small: for what runs an error, for spare nodes only a warning."""
    problems = []
    for quota in quotas:
        if quota.limit_vcpus is None or quota.limit_vcpus >= quota.most_vcpus:
            continue
        is_short = quota.limit_vcpus < quota.used_vcpus
        needed, whose = (
            (quota.used_vcpus, "the nodes that run something")
            if is_short
            else (quota.most_vcpus, "the pools with their spare nodes")
        )
        problems.append(
            Problem(
                f"quotas.{quota.family}",
                f"{quota.limit_vcpus} vCPUs",
                f"at least {needed}: {whose} take so many",
                f"Have {quota.name} ({quota.code}) raised, then write the new value here; or use fewer nodes.",
                severity=Severity.ERROR if is_short else Severity.WARNING,
            )
        )
    return problems


def _left_out(
    pools: Sequence[Pool], demands: Sequence[Demand], placement: Placement, scaled: Collection[str] = ()
) -> list[Problem]:
    by_name = {pool.name: pool for pool in pools}
    problems = []
    for demand in demands:
        if (left := placement.left_out.get(demand.path)) and (pool := by_name.get(demand.pool_name)):
            field = "autoscaling.maxReplicas" if demand.path in scaled else "replicas"
            when = " when the autoscalers are at their most" if scaled and demand.path not in scaled else ""
            room = demand.replicas - left
            allowed = f"at most {room}: pool {pool.name} has no further {_place(demand)}{when}"
            fix = f"{_enlarge(pool, demands)}, or lower {field}."
            if not room:
                # None is no number of copies to go down to.
                allowed = f"a pool with room: {pool.name} has no {_place(demand)} left for it{when}"
                fix = f"{_enlarge(pool, demands)}, or name another pool."
            problems.append(Problem(f"{demand.path}.{field}", str(demand.replicas), allowed, fix))
    return problems


def _needed_on_top(pools: Mapping[str, Pool], demands: Iterable[Demand]) -> Mapping[str, Counter[str]]:
    """Return the GPUs that rollouts add, by pool and path of the deployment."""
    needed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for demand in demands:
        if pool := pools.get(demand.pool_name):
            needed[pool.name][demand.owner] += demand.surge * demand.gpus_kept(pool)
    return needed


def _no_room(pool: Pool, demand: Demand, placement: Placement, missing: int, severity: Severity) -> Problem:
    free = pool.gpus - placement.taken_gpus(pool.name)
    when = "" if severity is Severity.ERROR else " when the autoscalers are at their most"
    possible, unit = demand.surge - missing, "islands" if pool.islands else "nodes"
    field, remedy = "surge", f"set surge to {possible}: then one copy at a time is down"
    if demand.role == RAY:
        field, remedy = "upgrade.kind", "set upgrade.kind to none: then a change stops copies"
    return Problem(
        f"{demand.path}.{field}",
        str(demand.surge),
        f"{possible}: a rollout of {demand.name} adds copies before it takes old ones away, and pool {pool.name} has "
        f"{free} GPUs left{when}: too few to hold them all; this role needs one {_place(demand)} more",
        f"Add {missing} to pools.{pool.name}.{unit}, or {remedy}.",
        severity=severity,
    )


def _place(demand: Demand) -> str:
    """Say what one copy needs."""
    shape = demand.shape
    return f"island of {shape.size} nodes" if demand.is_on_island else f"node with {shape.gpus_per_pod} free GPUs"


def _enlarge(pool: Pool, demands: Sequence[Demand]) -> str:
    """Say how large the pool must be to hold everything."""
    here = [demand for demand in demands if demand.pool_name == pool.name]
    largest = max(demand.shape.size for demand in here)
    if largest > 1 and not pool.islands:
        return f"Give pools.{pool.name} islands of {largest} nodes"
    if largest > pool.nodes_per_island:
        return f"Raise pools.{pool.name}.nodesPerIsland to {largest}"
    # A node or an island for each copy is enough; the nodes that stay empty are not needed.
    copies = sum(demand.replicas for demand in here)
    roomy = replace(pool, nodes=pool.nodes_per_island * copies, islands=copies if pool.islands else 0)
    nodes = place([roomy], here).nodes(pool.name)
    field, units = ("islands", -(-nodes // pool.nodes_per_island)) if pool.islands else ("nodes", nodes)
    return f"Raise pools.{pool.name}.{field} to {units}"
