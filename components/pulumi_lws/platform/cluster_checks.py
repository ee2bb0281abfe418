"""Whether cluster and pools of a platform can be made."""

from datetime import date

from pulumi_lws.cluster.eks.checks import cluster_problems, existing_problems, pools_problems
from pulumi_lws.cluster.eks.settings import EksClusterArgs, ExistingEksCluster, KarpenterCompute
from pulumi_lws.nodes.capacity_checks import reservation_problems
from pulumi_lws.nodes.checks import clashes, pool_problems
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.planning.problems import Problem, errors_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.settings import roles_settings


def infrastructure_problems(platform: PlatformArgs, today: date | None = None) -> list[Problem]:
    """Return what is wrong with the cluster and with the pools that are made on it; other clusters have theirs.

    Args:
        platform: The platform.
        today: The day by which capacity has ended; None to leave that out.
    """
    cluster = platform.cluster
    mode = mode_of(platform)
    if mode is None or not isinstance(cluster, EksClusterArgs | ExistingEksCluster):
        return []
    pools = [
        problem.below(f"pools.{name}")
        for name, pool in platform.pools.items()
        for problem in pool_problems(
            name,
            pool,
            mode,
            region=cluster.region,
            zones=zones_of(platform),
            image=image_of(platform),
            start_budget_minutes=start_budget_of(platform, name),
            today=today,
        )
    ]
    together = [*clashes(platform.pools), *reservation_problems(platform.pools)]
    pools += [problem.below("pools") for problem in together]
    if isinstance(cluster, ExistingEksCluster):
        return [*(problem.below("cluster") for problem in existing_problems(cluster)), *pools]
    own = [problem.below("cluster") for problem in cluster_problems(cluster)]
    # What follows from a wrong network would say the same again.
    on_it = [] if errors_of(own) else pools_problems(cluster, platform.pools)
    return [*own, *pools, *on_it]


def mode_of(platform: PlatformArgs) -> Mode | None:
    """Return who makes the nodes; None where the platform makes none."""
    match platform.cluster:
        case EksClusterArgs(compute=compute):
            return compute.kind
        case ExistingEksCluster(compute=kind):
            return kind
        case _:
            return None


def zones_of(platform: PlatformArgs) -> tuple[str, ...]:
    """Return the zones in which the cluster has subnets; empty where they are not known."""
    match platform.cluster:
        case EksClusterArgs(network=network):
            return network.zones
        case ExistingEksCluster(private_subnets=subnets):
            return tuple(subnets)
        case _:
            return ()


def start_budget_of(platform: PlatformArgs, pool: str) -> int:
    """Return the longest start budget of the deployments on a pool, in minutes; 0 where there is none.

    An empty node must live at least so long: it may be the second node of a group whose leader still starts.
    """
    return max(
        (
            deployment.start_budget_minutes
            for deployment in platform.deployments.values()
            if any(role.pool == pool for role in roles_settings(deployment).values())
        ),
        default=0,
    )


def image_of(platform: PlatformArgs) -> str:
    """Return the alias of the image of pools that name none; empty where there is none."""
    match platform.cluster:
        case EksClusterArgs(compute=KarpenterCompute(image=image)):
            return image or ""
        case ExistingEksCluster(image=image):
            return image or ""
        case _:
            return ""
