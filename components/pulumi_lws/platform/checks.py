"""Reading a stack file, and what keeps its parts from working together."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from pulumi_lws.planning.problems import Problem, errors_of, problems_of
from pulumi_lws.platform.cluster_checks import infrastructure_problems
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.sizing import sizing_problems
from pulumi_lws.serving.checks import check as check_deployment
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import DeploymentArgs, DisaggregatedVllmSettings, args_of, pool_use, roles_settings

ENTRY_SECTIONS = ("pools", "deployments")
"""Sections whose entries stand on their own, so that a mistake in one does not hide those in another."""

_ROLE_OBJECTS = ("prefill", "decode", "router")
"""What a deployment in two roles adds to its name for its objects."""


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


def deployments_of(platform: PlatformArgs) -> dict[str, DeploymentArgs]:
    """Return the arguments of every deployment's component; each knows what the others take of its pools."""
    use = {name: pool_use(deployment, platform.pools) for name, deployment in platform.deployments.items()}
    total = sum(use.values(), Counter[str]())
    return {
        name: args_of(name, platform.namespace, deployment, platform.pools, total - use[name])
        for name, deployment in platform.deployments.items()
    }


def roles_by_path(platform: PlatformArgs) -> dict[str, Role]:
    """Return the roles of every deployment by the path of their settings; those without a pool are left out."""
    return {
        ".".join(["deployments", name, *filter(None, [role.path])]): role
        for name, args in deployments_of(platform).items()
        for role in roles_of(args)[0]
    }


def check(platform: PlatformArgs, unreadable_pools: frozenset[str] = frozenset()) -> list[Problem]:
    """Return what keeps the parts of a platform from working together.

    Nothing is said of deployments on a pool that exists but could not be read.
    """
    problems = infrastructure_problems(platform) + [
        problem.below(f"deployments.{name}")
        for name, args in deployments_of(platform).items()
        if not any(role.pool in unreadable_pools for role in roles_settings(args).values())
        for problem in check_deployment(args)
    ]
    problems += _names(platform)
    return problems if errors_of(problems) else [*problems, *sizing_problems(platform, roles_by_path(platform))]


def _names(platform: PlatformArgs) -> list[Problem]:
    """Judge deployments that are called like what another one makes: objects of one name would be one object."""
    made = {
        f"{name}-{suffix}": name
        for name, deployment in platform.deployments.items()
        for suffix in ("api", *(_ROLE_OBJECTS if isinstance(deployment, DisaggregatedVllmSettings) else ()))
    }
    return [
        Problem(
            f"deployments.{name}",
            name,
            f"a name other than {name}: {made[name]} makes objects of that name",
            f"Rename {name} or {made[name]}.",
        )
        for name in platform.deployments
        if name in made
    ]


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
