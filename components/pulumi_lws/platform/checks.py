"""Reading a stack file, and what keeps its parts from working together."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from pydantic import ValidationError

from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.declarations import major_and_minor
from pulumi_lws.nodes.capacity_checks import spot_problems
from pulumi_lws.nodes.settings import MOST_NODES
from pulumi_lws.planning.problems import Problem, errors_of
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.platform.cluster_checks import infrastructure_problems, mode_of
from pulumi_lws.platform.fitting import fitting_problems
from pulumi_lws.platform.rollouts import without_scattered_surge
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.sizing import path_of_role, sizing_problems
from pulumi_lws.serving.checks import checked
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import (
    DeploymentArgs,
    DeploymentSettings,
    args_of,
    pool_use,
    roles_settings,
)
from pulumi_lws.serving.taken_names import TakenNames, clashes

ENTRY_SECTIONS = ("pools", "deployments")
"""Sections whose entries stand on their own, so that a mistake in one does not hide those in another."""

_NAMESPACES_OF_KUBERNETES = ("default", "kube-node-lease", "kube-public", "kube-system")


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
    total = sum(use.values(), Counter[str]())
    deployments = {
        name: args_of(name, platform.namespace, _on(platform, deployment), platform.pools, total - use[name])
        for name, deployment in platform.deployments.items()
    }
    return without_scattered_surge(platform, deployments)


def _on(platform: PlatformArgs, deployment: DeploymentSettings) -> DeploymentSettings:
    """Let a deployment know the version of the cluster that is made for it, where it says none itself."""
    if not isinstance(platform.cluster, EksClusterArgs) or "kubernetes_version" in deployment.model_fields_set:
        return deployment
    return deployment.model_copy(update={"kubernetes_version": platform.cluster.version})


def roles_by_path(platform: PlatformArgs) -> dict[str, Role]:
    """Return the roles of every deployment by the path of their settings; those without a pool are left out."""
    return {
        path_of_role(name, role): role for name, args in deployments_of(platform).items() for role in roles_of(args)[0]
    }


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
    problems += [*_clashes(names), *_namespace(platform), *_versions(platform), *_pools(platform)]
    if errors_of(problems):
        return problems
    roles = roles_by_path(platform)
    return [*problems, *sizing_problems(platform, roles), *fitting_problems(platform, deployments_of(platform), roles)]


def _clashes(names: Mapping[str, TakenNames]) -> Iterator[Problem]:
    """Judge deployments that make, or have controllers make, objects of one kind and name: they would be one object."""
    for deployment, other, (kind, name) in clashes(names):
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
    if platform.namespace in _NAMESPACES_OF_KUBERNETES:
        yield Problem(
            "namespace",
            platform.namespace,
            f"a namespace other than {', '.join(_NAMESPACES_OF_KUBERNETES)}: it is made here, and destroyed with the"
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
    is_readable = "cluster" in raw and "cluster" not in {location[0] for location in faulty if location}
    # One that plays no part in these checks completes the declaration.
    cluster = raw["cluster"] if is_readable else {"kind": "existing", "name": "any", "context": "any"}
    return check(PlatformArgs.model_validate({"cluster": cluster, **readable}), today, unreadable_pools)
