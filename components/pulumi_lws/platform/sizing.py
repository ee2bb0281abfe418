"""The roles of a platform as demands on its pools, and what the pools, quotas and start budgets do not bear."""

from collections.abc import Mapping, Sequence

from pulumi_lws.nodes.capacity import CapacityBlock, Reservation, Spot
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.nodes.node_pools import expire_after_hours
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning import capacity
from pulumi_lws.planning.packing import Demand
from pulumi_lws.planning.plan import Pool
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.times import Start, budget_problems
from pulumi_lws.platform.cluster_checks import mode_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.ray.deciding import Decided
from pulumi_lws.ray.sizing import demand_of
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.scaling.zero import cold_start_problems
from pulumi_lws.serving.sources.loading import way_of
from pulumi_lws.serving.sources.settings import HuggingFaceSource

_GB = 10**9


def pools_of(platform: PlatformArgs) -> tuple[Pool, ...]:
    """Return the pools of a platform."""
    mode = mode_of(platform)
    return tuple(_pool(name, pool, mode) for name, pool in platform.pools.items())


def path_of_role(deployment: str, role: Role) -> str:
    """Return where the settings of a role stand in a stack file, such as ``deployments.gpt-oss.prefill``."""
    return ".".join(["deployments", deployment, *filter(None, [role.path])])


def demands_of(roles: Mapping[str, Role], ray: Mapping[str, Decided]) -> tuple[Demand, ...]:
    """Return what roles and workers of Ray want of their pools.

    Args:
        roles: The roles by the path of their settings, such as ``deployments.gpt-oss.prefill``.
        ray: What runs on Ray, by the path of its settings, such as ``ray.llama``.
    """
    of_roles = (
        Demand(
            name=role.deployment_name,
            role=role.name,
            path=path,
            pool_name=role.settings.pool,
            replicas=role.settings.replicas,
            max_replicas=role.settings.most_replicas,
            shape=role.shape,
            surge=role.surge,
        )
        for path, role in roles.items()
    )
    return (*of_roles, *(demand_of(path, decided) for path, decided in ray.items()))


def start_of(role: Role, *, pre_pulled: bool, next_shares_a_node: bool = False) -> Start | None:
    """Return what the start of a copy depends on; None where the size of the model is not known.

    Args:
        role: The role.
        pre_pulled: Whether the nodes of its pool pull its images beforehand.
        next_shares_a_node: Whether one more copy finds room on a node that runs already.
    """
    if role.weight_bytes is None:
        return None
    source, model = role.deployment.source, role.deployment
    return Start(
        weights_gb=role.weight_bytes / _GB,
        way=way_of(source, model.model),
        nodes_are_there=role.pool.is_static,
        pre_pulled=pre_pulled,
        next_shares_a_node=next_shares_a_node,
        downloads_stay=isinstance(source, HuggingFaceSource) and source.path is not None,
        next_finds_kernels=model.compile_cache.kind == "claim"
        or (model.compile_cache.kind == "node" and next_shares_a_node),
        budget_minutes=model.start_budget_minutes,
    )


def sizing_problems(platform: PlatformArgs, roles: Mapping[str, Role], ray: Mapping[str, Decided]) -> list[Problem]:
    """Return what pools, quotas and start budgets do not bear; what does not even have a place hides the rest."""
    pools, demands = pools_of(platform), demands_of(roles, ray)
    problems = capacity.placement_problems(pools, demands) or capacity.headroom_problems(pools, demands)
    problems += capacity.quota_problems(capacity.quotas(pools, demands, platform.quotas))
    for path, role in roles.items():
        # The budget is the deployment's, whichever role needs it.
        of_deployment = path.removesuffix(f".{role.path}") if role.path else path
        if start := start_of(role, pre_pulled=platform.caches.pre_pulls(role.settings.pool)):
            problems += budget_problems(start, of_deployment)
            problems += [problem.below(path) for problem in cold_start_problems(role, start)]
    return list(dict.fromkeys(problems))


def _pool(name: str, pool: GpuPool, mode: Mode | None) -> Pool:
    instance = pool.instance
    return Pool(
        name=name,
        instance_type=instance.name,
        gpu=instance.gpu,
        gpus_per_node=instance.gpus,
        efa_per_node=0 if pool.efa_mode == "none" else instance.efa_interfaces,
        vcpus_per_node=instance.vcpus,
        nodes=pool.most_nodes,
        islands=pool.islands,
        nodes_per_island=pool.nodes_per_island if pool.islands else 1,
        is_static=pool.is_static,
        on_demand_nodes=_on_demand_nodes(pool),
        node_lifetime_hours=expire_after_hours(pool, mode) if mode else pool.disruption.expire_after_hours,
        ends=pool.capacity.ends if isinstance(pool.capacity, Reservation | CapacityBlock) else None,
    )


def _on_demand_nodes(pool: GpuPool) -> int:
    """Return the nodes that count against the quota of instances on demand; reservations do, spot and blocks do not."""
    if isinstance(pool.capacity, Spot | CapacityBlock):
        return 0
    return pool.most_nodes - pool.spot_overflow * (pool.nodes_per_island if pool.islands else 1)


def one_more_shares_a_node(pools: Sequence[Pool], demand: Demand, taken: Mapping[str, Sequence[int]]) -> bool:
    """Tell whether one more copy finds room on a node that runs already."""
    pool = next(pool for pool in pools if pool.name == demand.pool_name)
    room = pool.gpus_per_node - demand.shape.gpus_per_pod
    return not demand.is_on_island and any(0 < gpus <= room for gpus in taken[pool.name])
