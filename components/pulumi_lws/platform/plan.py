"""The plan of a platform: everything that its deployments and its Ray are, laid out on its pools."""

from collections.abc import Sequence
from datetime import date

from pulumi_lws.planning import capacity
from pulumi_lws.planning.packing import Demand, Placement, place
from pulumi_lws.planning.plan import Plan, Pool, RolePlan
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.risks import risks
from pulumi_lws.planning.times import start_times
from pulumi_lws.platform.checks import ray_by_path, roles_by_path
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.sizing import demands_of, one_more_shares_a_node, pools_of, start_of
from pulumi_lws.ray.sizing import ray_risks, role_plan
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.sizing import memory_of

_ORDER = list(Severity)


def plan_of(platform: PlatformArgs | None, problems: Sequence[Problem], stack: str, today: date) -> Plan:
    """Return the plan of a platform, as far as it can be told.

    Args:
        platform: What is declared; None where it cannot be read, and then only the problems are told.
        problems: What is wrong with the declaration.
        stack: Name of the stack.
        today: The day on which nodes boot at the earliest.
    """
    if platform is None:
        return Plan(stack, problems=_worst_first(problems))
    roles, ray = roles_by_path(platform), ray_by_path(platform)
    pools, demands = pools_of(platform), demands_of(roles, ray)
    placement = place(pools, demands)
    return Plan(
        stack=stack,
        pools=pools,
        roles=tuple(
            role_plan(ray[demand.path], demand, placement.groups[demand.path])
            if demand.path in ray
            else _role(platform, roles[demand.path], pools, demand, placement)
            for demand in demands
        ),
        headroom=capacity.headroom(pools, demands, placement),
        quotas=capacity.quotas(pools, demands, platform.quotas),
        risks=(
            *risks(pools, demands, placement, today),
            *(risk for path, each in ray.items() for risk in ray_risks(path, each.args)),
        ),
        problems=_worst_first(problems),
    )


def _role(platform: PlatformArgs, role: Role, pools: Sequence[Pool], demand: Demand, placement: Placement) -> RolePlan:
    start = start_of(
        role,
        pre_pulled=platform.caches.pre_pulls(role.settings.pool),
        next_shares_a_node=one_more_shares_a_node(pools, demand, placement.taken),
    )
    return RolePlan(
        name=role.deployment_name,
        role=role.name,
        pool=role.settings.pool,
        replicas=demand.replicas,
        max_replicas=demand.max_replicas,
        parallelism=role.settings.parallelism,
        shape=role.shape,
        groups=placement.groups[demand.path],
        memory=memory_of(role),
        times=start_times(start) if start else None,
    )


def _worst_first(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(dict.fromkeys(problems), key=lambda problem: _ORDER.index(problem.severity)))
