"""A stack file: what one environment consists of, and what is wrong with it."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from pulumi_lws.cluster.settings import ExistingCluster
from pulumi_lws.declarations import Declaration, DnsLabel
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem, problems_of
from pulumi_lws.serving.checks import check as check_deployment
from pulumi_lws.serving.settings import MultiNodeVllmDeployment, args_of

ENTRY_SECTIONS = ("pools", "deployments")
"""Sections whose entries stand on their own, so that a mistake in one does not hide those in another."""


class PlatformArgs(Declaration):
    """Everything of one environment, as it stands under ``pulumi-lws:platform`` in the stack file."""

    cluster: ExistingCluster
    """The cluster to deploy to."""
    namespace: DnsLabel = "models"
    """Namespace of the deployments; it is created. Default models."""
    pools: Mapping[DnsLabel, GpuPool] = {}
    """Pools of GPU nodes by name. Default none."""
    deployments: Mapping[DnsLabel, MultiNodeVllmDeployment] = {}
    """Deployments of models by name. Default none."""


def read(raw: Any) -> tuple[PlatformArgs | None, list[Problem]]:
    """Read a stack file's platform, with every problem at once.

    The declaration is missing where its own shape is wrong. Entries of ``pools`` and ``deployments`` that can be read
    are judged all the same, so that one round shows everything.
    """
    try:
        platform = PlatformArgs.model_validate(raw)
    except ValidationError as error:
        faulty = {details["loc"][:2] for details in error.errors()}
        return None, problems_of(error, PlatformArgs) + _check_readable(raw, faulty)
    return platform, check(platform)


def check(platform: PlatformArgs, unreadable_pools: frozenset[str] = frozenset()) -> list[Problem]:
    """Return what keeps the parts of a platform from working together.

    Nothing is said of deployments on a pool that exists but could not be read.
    """
    return [
        problem.below(f"deployments.{name}")
        for name, deployment in platform.deployments.items()
        if deployment.pool not in unreadable_pools
        for problem in _check_on_pool(platform, name, deployment, unreadable_pools)
    ] + _islands_left(platform)


def _check_on_pool(
    platform: PlatformArgs, name: str, deployment: MultiNodeVllmDeployment, unreadable_pools: frozenset[str]
) -> list[Problem]:
    pool = platform.pools.get(deployment.pool)
    if pool is None:
        names = ", ".join([*platform.pools, *sorted(unreadable_pools)]) or "none is declared"
        return [Problem("pool", deployment.pool, names, "Name a pool of this stack, or declare it under pools.")]
    return check_deployment(args_of(name, platform.namespace, deployment, pool))


def _islands_left(platform: PlatformArgs) -> list[Problem]:
    """Judge pools that several deployments share; what one deployment alone wants is judged with the deployment."""
    problems: list[Problem] = []
    for name, pool in platform.pools.items():
        wanted = {key: d.replicas for key, d in platform.deployments.items() if d.pool == name}
        groups = sum(wanted.values())
        if groups > pool.islands >= max(wanted.values(), default=0) > 0:
            problems.append(
                Problem(
                    f"pools.{name}.islands",
                    str(pool.islands),
                    f"at least {groups}: one for each group of {', '.join(wanted)}",
                    f"Raise it to {groups}, or lower replicas.",
                )
            )
    return problems


def _check_readable(raw: Any, faulty: set[tuple[int | str, ...]]) -> list[Problem]:
    """Judge the entries beside the faulty ones."""
    if not isinstance(raw, Mapping):
        return []
    sections = {name: raw[name] for name in ENTRY_SECTIONS if isinstance(raw.get(name), Mapping)}
    readable = {
        name: {key: value for key, value in entries.items() if (name, key) not in faulty}
        for name, entries in sections.items()
    }
    unreadable_pools = frozenset(sections.get("pools", {})) - frozenset(readable.get("pools", {}))
    # The cluster plays no part in these checks; this one only completes the declaration.
    stand_in = {"kind": "existing", "name": "any", "context": "any"}
    return check(PlatformArgs.model_validate({"cluster": stand_in, **readable}), unreadable_pools)
