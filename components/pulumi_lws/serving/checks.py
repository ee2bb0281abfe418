"""Whether a deployment can run on its pools, decided before anything is applied."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pulumi_lws.planning.problems import Problem, errors_of
from pulumi_lws.planning.split import split_problems
from pulumi_lws.rules.judging import judge
from pulumi_lws.rules.rule import Target, major_and_minor
from pulumi_lws.serving import container_checks, pool_checks, readiness
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.network import network_problems
from pulumi_lws.serving.pairing import transfer_problems
from pulumi_lws.serving.queueing import queueing_problems
from pulumi_lws.serving.raw_checks import raw_problems
from pulumi_lws.serving.render import render
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.scaling.checks import scaling_problems
from pulumi_lws.serving.scaling.zero import zero_problems
from pulumi_lws.serving.service import service_name
from pulumi_lws.serving.settings import DeploymentArgs, DisaggregatedVllmArgs, ModelSettings
from pulumi_lws.serving.sizing import model_problems, size_problems
from pulumi_lws.serving.sources.checks import loading_problems
from pulumi_lws.serving.taken_names import TakenNames, taken_names
from pulumi_lws.serving.version_checks import version_problems

_SHARED = frozenset(info.alias or name for name, info in ModelSettings.model_fields.items())
"""What a deployment declares once for all of its roles."""

_DNS_LABEL = 63
"""Characters of a name in DNS at most."""


def check(args: DeploymentArgs) -> list[Problem]:
    """Return what keeps the deployment from running on its pools. Paths start at the deployment."""
    return checked(args)[0]


def checked(args: DeploymentArgs) -> tuple[list[Problem], TakenNames | None]:
    """Return the same, and the names that the deployment takes; None where it cannot be rendered."""
    roles, problems = roles_of(args)
    for role in roles:
        problems += [_placed(problem, role) for problem in _role(role)]
    if isinstance(args, DisaggregatedVllmArgs) and len(roles) == 2:
        problems += transfer_problems(args, *roles)
    problems += [
        *_name(args),
        *model_problems(args, roles),
        *container_checks.shared_problems(roles),
        *network_problems(args.network, args.host_network),
        *raw_problems(args, roles),
        *version_problems(args, roles),
        *zero_problems(roles),
        *queueing_problems(args, roles),
    ]
    # What the roles share was judged with each of them.
    problems = list(dict.fromkeys(problems))
    if errors_of(problems):
        return problems, None
    manifests = render(args, roles).manifests.values()
    return [*problems, *_rules(args, manifests)], taken_names(manifests, roles)


def _placed(problem: Problem, role: Role) -> Problem:
    """Return a problem of a role with its path in the deployment, where what all roles share stands only once."""
    field = re.split(r"[.\[]", problem.path)[0]
    return problem if field in _SHARED or not role.path else problem.below(role.path)


def _role(role: Role) -> list[Problem]:
    """Judge one role. What follows from a wrong split would say the same again, so the split comes first."""
    settings, launch, instance = role.settings, role.launch, role.pool.instance
    engine = role.engine.problems(launch)
    split = split_problems(role.architecture, settings.parallelism, instance)
    if errors_of(split):
        judged = {problem.path for problem in split}
        return [*split, *(problem for problem in engine if problem.path not in judged)]
    sizes = size_problems(role)
    # With another split a copy takes other nodes: what the pool lacks for this one is of no use to the reader.
    is_split = not errors_of(sizes)
    problems = [
        *split,
        *pool_checks.dedication_problems(role),
        *(pool_checks.pool_problems(role) if is_split else []),
        *engine,
        *container_checks.container_problems(role),
        *readiness.problems(role.behaviour, role.shape.size),
        *loading_problems(
            role.deployment.source,
            role.deployment.model,
            role.engine_kind,
            nodes=role.nodes,
            weight_bytes=role.weight_bytes,
            instance=instance,
        ),
        *sizes,
    ]
    if is_split and (scaling := settings.autoscaling):
        problems += scaling_problems(
            scaling,
            engine=role.engine_kind,
            role=role.name,
            capacity=role.free_capacity,
            shape=role.shape,
            pool=role.pool,
            replicas=settings.replicas,
            starts_with_one=role.is_scaled_by_role,
        )
    return problems


def _name(args: DeploymentArgs) -> list[Problem]:
    """Judge whether the longest name that is made from the deployment's fits DNS; rules judge the labels of groups."""
    longest = service_name("")
    if isinstance(args, DisaggregatedVllmArgs):
        longest = "-prefill" if args.router else service_name("-prefill")
    most = _DNS_LABEL - len(longest)
    if len(args.name) <= most:
        return []
    found = f"{args.name}, of {len(args.name)} characters"
    allowed = f"at most {most}: {longest} is added to it, and DNS takes {_DNS_LABEL}"
    return [Problem("name", found, allowed, "Shorten it.")]


def _rules(args: DeploymentArgs, manifests: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Judge every object by the rules that judge anybody's, such as a name too long for its labels."""
    target = Target(lws=major_and_minor(args.lws_version), kubernetes=major_and_minor(args.kubernetes_version))
    return [problem for manifest in manifests for problem in judge(manifest, target)]
