"""Whether a deployment can run on its pools, decided before anything is applied."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_lws.declarations import major_and_minor
from pulumi_lws.planning.memory import context_problems
from pulumi_lws.planning.problems import Problem, errors_of
from pulumi_lws.planning.split import split_problems
from pulumi_lws.rules.judging import judge
from pulumi_lws.rules.rule import Target
from pulumi_lws.serving import container_checks, pool_checks, readiness
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.network import network_problems
from pulumi_lws.serving.objects import DeploymentObjects
from pulumi_lws.serving.pairing import transfer_problems
from pulumi_lws.serving.pods import ENGINE_CONTAINER
from pulumi_lws.serving.render import render
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.scaling.checks import scaling_problems
from pulumi_lws.serving.service import service_name
from pulumi_lws.serving.settings import DeploymentArgs, DisaggregatedVllmArgs, ModelSettings
from pulumi_lws.serving.sizing import size_problems, unknown_sizes
from pulumi_lws.serving.sources.checks import loading_problems

_SHARED = frozenset(info.alias or name for name, info in ModelSettings.model_fields.items())
"""What a deployment declares once for all of its roles."""

_DNS_LABEL = 63
"""Characters of a name in DNS at most."""


def check(args: DeploymentArgs) -> list[Problem]:
    """Return what keeps the deployment from running on its pools. Paths start at the deployment."""
    roles, problems = roles_of(args)
    for role in roles:
        problems += [_placed(problem, role) for problem in _role(role)]
    if isinstance(args, DisaggregatedVllmArgs) and len(roles) == 2:
        problems += transfer_problems(args, *roles)
    problems += [
        *_name(args),
        *_model(args, roles),
        *container_checks.shared_problems(roles),
        *network_problems(args.network, args.host_network),
        *_sidecars(args),
    ]
    # What the roles share was judged with each of them.
    problems = list(dict.fromkeys(problems))
    return problems if errors_of(problems) else [*problems, *_rules(args, render(args, roles))]


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
    problems = [
        *split,
        *pool_checks.pool_problems(role),
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
        *size_problems(role),
    ]
    if scaling := settings.autoscaling:
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


def _model(model: ModelSettings, roles: Sequence[Role]) -> list[Problem]:
    """Judge the model once, whichever role serves it."""
    if not roles:
        return []
    architecture = roles[0].architecture
    return [unknown_sizes(model)] if architecture is None else context_problems(architecture, model.max_model_len)


def _sidecars(model: ModelSettings) -> list[Problem]:
    """Judge the user's own containers: their names, and what they take of the node."""
    problems: list[Problem] = []
    for index, container in enumerate(model.sidecars):
        path = f"sidecars[{index}]"
        if container.get("name") in {None, ENGINE_CONTAINER}:
            found = str(container.get("name", "nothing"))
            problems.append(Problem(f"{path}.name", found, f"a name other than {ENGINE_CONTAINER}", "Rename it."))
        resources: Mapping[str, Any] = container.get("resources", {})
        wanted = {kind: resources.get(kind, {}) for kind in ("requests", "limits")}
        if wanted["requests"] != wanted["limits"] or not {"cpu", "memory"} <= set(wanted["limits"]):
            allowed = "equal requests and limits of cpu and memory: they are taken from the engine's share of the node"
            problems.append(
                Problem(f"{path}.resources", str(dict(resources)) if resources else "nothing", allowed, "Set them.")
            )
    return problems


def _rules(args: DeploymentArgs, objects: DeploymentObjects) -> list[Problem]:
    """Judge every object by the rules that judge anybody's, such as a name too long for its labels."""
    target = Target(lws=major_and_minor(args.lws_version), kubernetes=major_and_minor(args.kubernetes_version))
    return [problem for manifest in objects.manifests.values() for problem in judge(manifest, target)]
