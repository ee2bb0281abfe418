"""Reading a stack file, and what keeps its parts from working together."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from pydantic import ValidationError

from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.nodes.capacity_checks import spot_problems
from pulumi_lws.nodes.settings import MOST_NODES
from pulumi_lws.planning.problems import Problem, Severity, errors_of
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.platform.cluster_checks import infrastructure_problems, mode_of
from pulumi_lws.platform.doors import with_gateways
from pulumi_lws.platform.fitting import fitting_problems
from pulumi_lws.platform.node_folders import folders_on_stores, pools_of
from pulumi_lws.platform.parts import joint_problems, part_problems
from pulumi_lws.platform.rollouts import without_scattered_surge
from pulumi_lws.platform.settings import NAMESPACES_OF_KUBERNETES, PlatformArgs
from pulumi_lws.platform.sizing import path_of_role, sizing_problems
from pulumi_lws.ray.deciding import Decided, decide
from pulumi_lws.ray.entries import RayEntry, RayServiceVllmEntry, ray_args_of
from pulumi_lws.ray.settings import RayArgs, ray_pool_use
from pulumi_lws.rules.rule import major_and_minor
from pulumi_lws.serving.checks import checked
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.entries import DeploymentSettings, args_of
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import DeploymentArgs, pool_use, roles_settings
from pulumi_lws.serving.taken_names import TakenNames, clashes

ENTRY_SECTIONS = ("pools", "deployments", "teams", "ray", "gateways", "gatewayAutoscalers", "loadTests")
"""Sections whose entries stand on their own, so that a mistake in one does not hide those in another."""


def read(raw: Any, today: date | None = None) -> tuple[PlatformArgs | None, list[Problem]]:
    """Read a stack file's platform, with every problem at once.

    The declaration is missing where its own shape is wrong. A cluster, and entries of ``pools`` and ``deployments``,
    that can be read are judged all the same, so that one round shows everything.

    Args:
        raw: The platform as YAML has it.
        today: The day by which capacity has ended; None to leave that out.
    """
    try:
        platform = PlatformArgs.model_validate(raw)
    except ValidationError as error:
        faulty = {details["loc"][:2] for details in error.errors()}
        return None, problems_of(error, PlatformArgs) + _check_readable(raw, faulty, today)
    return platform, check(platform, today)


def deployments_of(platform: PlatformArgs) -> dict[str, DeploymentArgs]:
    """Return the arguments of every deployment's component; each knows what the others take of its pools."""
    use = {name: pool_use(deployment, platform.pools) for name, deployment in platform.deployments.items()}
    total = sum(use.values(), _ray_use(platform))
    deployments = {
        name: args_of(
            name,
            platform.namespace_of(deployment.team),
            with_gateways(platform, name, _on(platform, deployment)),
            platform.pools,
            total - use[name],
        )
        for name, deployment in platform.deployments.items()
    }
    return without_scattered_surge(platform, deployments, ray_by_path(platform))


def ray_of(platform: PlatformArgs) -> dict[str, RayArgs]:
    """Return the arguments of everything on Ray; each knows what the others take of its pool."""
    use = [pool_use(deployment, platform.pools) for deployment in platform.deployments.values()]
    total = sum(use, _ray_use(platform))
    return {
        name: ray_args_of(
            name,
            platform.namespace_of(entry.team),
            _ray_on(platform, entry),
            platform.pools,
            total - ray_pool_use(entry, platform.pools),
        )
        for name, entry in platform.ray.items()
    }


def _ray_use(platform: PlatformArgs) -> Counter[str]:
    return sum((ray_pool_use(entry, platform.pools) for entry in platform.ray.values()), Counter[str]())


def _on(platform: PlatformArgs, deployment: DeploymentSettings) -> DeploymentSettings:
    """Let a deployment know of its cluster what it does not say itself: its version, and where nodes keep folders."""
    known = folders_on_stores(platform, deployment.source, deployment.compile_cache, pools_of(deployment))
    if isinstance(platform.cluster, EksClusterArgs) and "kubernetes_version" not in deployment.model_fields_set:
        known["kubernetes_version"] = platform.cluster.version
    return deployment.model_copy(update=known)


def _ray_on(platform: PlatformArgs, entry: RayEntry) -> RayEntry:
    """Let something on Ray know where its nodes keep folders."""
    if not isinstance(entry, RayServiceVllmEntry):
        return entry
    return entry.model_copy(update=folders_on_stores(platform, entry.source, entry.compile_cache, [entry.pool]))


def roles_by_path(platform: PlatformArgs) -> dict[str, Role]:
    """Return the roles of every deployment by the path of their settings; those without a pool are left out."""
    return {
        path_of_role(name, role): role for name, args in deployments_of(platform).items() for role in roles_of(args)[0]
    }


def ray_by_path(platform: PlatformArgs) -> dict[str, Decided]:
    """Return what runs on Ray by the path of its settings; what has no pool is left out."""
    return {f"ray.{name}": decide(args) for name, args in ray_of(platform).items() if args.pool in platform.pools}


def check(
    platform: PlatformArgs, today: date | None = None, unreadable_pools: frozenset[str] = frozenset()
) -> list[Problem]:
    """Return what keeps the parts of a platform from working together.

    Args:
        platform: The platform.
        today: The day by which capacity has ended; None to leave that out.
        unreadable_pools: Pools that exist but could not be read; nothing is said of deployments on them.
    """
    problems = infrastructure_problems(platform, today)
    names: dict[str, TakenNames] = {}
    for name, args in deployments_of(platform).items():
        if any(role.pool in unreadable_pools for role in roles_settings(args).values()):
            continue
        found, taken = checked(args)
        problems += [problem.below(f"deployments.{name}") for problem in found]
        if taken is not None:
            names[name] = taken
    problems += [*_clashes(platform, names), *_namespace(platform), *_versions(platform), *_pools(platform)]
    ray = {name: args for name, args in ray_of(platform).items() if args.pool not in unreadable_pools}
    problems += part_problems(platform, ray)
    if errors_of(problems):
        return problems
    roles, deployments = roles_by_path(platform), deployments_of(platform)
    return [
        *problems,
        *sizing_problems(platform, roles, ray_by_path(platform)),
        *fitting_problems(platform, deployments, ray, roles),
        *joint_problems(platform, deployments, ray),
    ]


def _clashes(platform: PlatformArgs, names: Mapping[str, TakenNames]) -> Iterator[Problem]:
    """Judge deployments that make, or have controllers make, objects of one kind and name: they would be one object."""
    by_namespace: defaultdict[str, dict[str, TakenNames]] = defaultdict(dict)
    for name, taken in names.items():
        by_namespace[platform.namespace_of(platform.deployments[name].team)][name] = taken
    for deployment, other, (kind, name) in (clash for own in by_namespace.values() for clash in clashes(own)):
        yield Problem(
            f"deployments.{deployment}",
            f"a {kind} {name}",
            f"objects of its own: {other} has {kind} {name}, too",
            f"Rename {deployment} or {other}.",
        )


def _pools(platform: PlatformArgs) -> Iterator[Problem]:
    """Judge pools together, and what is wrong with them whoever makes their nodes."""
    nodes = sum(pool.most_nodes for pool in platform.pools.values())
    if nodes > MOST_NODES:
        found, allowed = f"{nodes} nodes together", f"at most {MOST_NODES} in one stack"
        yield Problem("pools", found, allowed, "Make stacks of them, each with a cluster of its own.")
    if mode_of(platform) is None:
        for name, pool in platform.pools.items():
            yield from (problem.below(f"pools.{name}") for problem in spot_problems(pool))


def _namespace(platform: PlatformArgs) -> Iterator[Problem]:
    if platform.namespace in NAMESPACES_OF_KUBERNETES:
        yield Problem(
            "namespace",
            platform.namespace,
            f"a namespace other than {', '.join(NAMESPACES_OF_KUBERNETES)}: it is made here, and destroyed with the"
            " stack",
            "Choose a name of your own, such as models.",
        )


def _versions(platform: PlatformArgs) -> Iterator[Problem]:
    """Judge deployments that take the cluster for another one than it is."""
    if not isinstance(platform.cluster, EksClusterArgs):
        return
    version = platform.cluster.version
    for name, deployment in platform.deployments.items():
        if "kubernetes_version" in deployment.model_fields_set and major_and_minor(
            deployment.kubernetes_version
        ) != major_and_minor(version):
            yield Problem(
                f"deployments.{name}.kubernetesVersion",
                deployment.kubernetes_version,
                f"{version}, as cluster.version has it",
                "Remove it: it follows the cluster.",
            )


def _check_readable(raw: Any, faulty: set[tuple[int | str, ...]], today: date | None) -> list[Problem]:
    """Judge the cluster, if it can be read, and the entries beside the faulty ones."""
    if not isinstance(raw, Mapping):
        return []
    sections = {name: raw[name] for name in ENTRY_SECTIONS if isinstance(raw.get(name), Mapping)}
    readable = {
        name: {key: value for key, value in entries.items() if (name, key) not in faulty}
        for name, entries in sections.items()
    }
    unreadable_pools = frozenset(sections.get("pools", {})) - frozenset(readable.get("pools", {}))
    beyond = {str(location[0]) for location in faulty if location} - set(ENTRY_SECTIONS)
    whole = {name: raw[name] for name in raw if name not in {*ENTRY_SECTIONS, *beyond}}
    # A cluster that plays no part in these checks completes the declaration.
    completed = {"cluster": {"kind": "existing", "name": "any", "context": "any"}, **whole, **readable}
    platform = PlatformArgs.model_validate(completed)
    missing = {str(key) for name in sections for key in sections[name] if key not in readable[name]}
    missing |= {key for key, one in platform.deployments.items() if unreadable_pools.intersection(pools_of(one))}
    # Of what cannot be read, only that is said; neither that others name it in vain, nor that it leaves a pool idle.
    idle = {(Severity.WARNING, f"pools.{name}") for name in platform.pools if missing}
    return [
        problem
        for problem in check(platform, today, unreadable_pools)
        if problem.path.partition(".")[0] not in beyond
        and problem.found not in missing
        and (problem.severity, problem.path) not in idle
    ]
