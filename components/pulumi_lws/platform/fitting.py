"""Whether the deployments of a platform fit what is made for them on AWS: its network, its zones, its pools."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.cluster.network.settings import is_isolated
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.platform.cluster_checks import mode_of, zones_of
from pulumi_lws.platform.isolation import isolation_problems
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.sizing import pools_of
from pulumi_lws.ray.settings import RayArgs
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import DeploymentArgs, roles_settings
from pulumi_lws.serving.sources.settings import S3Source


def fitting_problems(
    platform: PlatformArgs,
    deployments: Mapping[str, DeploymentArgs],
    ray: Mapping[str, RayArgs],
    roles: Mapping[str, Role],
) -> list[Problem]:
    """Return what does not fit, of a platform whose parts are sound by themselves.

    Args:
        platform: The platform.
        deployments: The arguments of its deployments by name.
        ray: The arguments of what runs on Ray, by name.
        roles: Roles of the deployments by the path of their settings.
    """
    if mode_of(platform) is None:
        return []
    found = [*_idle(platform), *_shared_interfaces(platform, roles, ray), *_handing_over(platform, roles)]
    if isinstance(platform.cluster, EksClusterArgs):
        if is_isolated(platform.cluster.network):
            return [*found, *isolation_problems(platform, platform.cluster, deployments, ray)]
        for name, args in deployments.items():
            found += [problem.below(f"deployments.{name}") for problem in _bucket(args, platform.cluster)]
    return found


def _idle(platform: PlatformArgs) -> Iterator[Problem]:
    used = {role.pool for deployment in platform.deployments.values() for role in roles_settings(deployment).values()}
    used |= {entry.pool for entry in platform.ray.values()}
    for name, pool in platform.pools.items():
        if pool.is_static and name not in used:
            yield Problem(
                f"pools.{name}",
                f"{pool.most_nodes} nodes that are always there, and no deployment on them",
                "a deployment on each static pool: its nodes are paid for",
                "Name the pool in a deployment, set static to false, or remove it.",
                Severity.WARNING,
            )


def _shared_interfaces(
    platform: PlatformArgs, roles: Mapping[str, Role], ray: Mapping[str, RayArgs]
) -> Iterator[Problem]:
    """Judge pods with and without EFA on nodes that have it only if they were made for a pod with it."""
    by_interfaces: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    pools = {pool.name: pool for pool in pools_of(platform)}
    for path, role in roles.items():
        name = role.settings.pool
        by_interfaces[name, pools[name].efa(role.shape.gpus_per_pod) > 0].append(path.removeprefix("deployments."))
    for name, args in ray.items():
        by_interfaces[args.pool, pools[args.pool].efa_per_node > 0].append(f"ray.{name}")
    for name, pool in platform.pools.items():
        with_efa, without = by_interfaces[name, True], by_interfaces[name, False]
        if pool.efa_mode == "dynamic" and with_efa and without:
            yield Problem(
                f"pools.{name}.efa",
                f"'dynamic', with pods of {', '.join(with_efa)} that take EFA and pods of {', '.join(without)} that do"
                " not",
                "explicit: a node that was made for a pod without EFA has none for others",
                "Set efa to explicit, or give them pools of their own.",
                Severity.WARNING,
            )


def _handing_over(platform: PlatformArgs, roles: Mapping[str, Role]) -> Iterator[Problem]:
    """Judge pools whose nodes may lie in several zones: prefill would not reach decode there."""
    zones = zones_of(platform)
    unplaced = {
        role.settings.pool: role.deployment_name
        for role in roles.values()
        if role.name in {"prefill", "decode"} and role.launch.has_efa and role.pool.zone is None
    }
    for pool, deployment in unplaced.items() if len(zones) != 1 else ():
        yield Problem(
            f"pools.{pool}.zone",
            "nothing",
            f"one of {', '.join(zones) or 'the zones of the cluster'}: prefill of {deployment} hands caches to decode"
            " by EFA, which does not leave a zone",
            "Add zone.",
        )


def _bucket(args: DeploymentArgs, cluster: EksClusterArgs) -> Iterator[Problem]:
    if isinstance(args.source, S3Source) and args.source.region not in {None, cluster.region}:
        yield Problem(
            "source.region",
            repr(args.source.region),
            f"{cluster.region}: from another region every start is slower, and every byte is paid for",
            "Copy the weights to a bucket of the cluster's region.",
            Severity.WARNING,
        )
