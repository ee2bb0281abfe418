"""LeaderWorkerSets and DisaggregatedSets, judged by the models of this library as the API server would."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from pulumi_lws.checking.schemas import CLAIM, METADATA, POD_SPEC, schemas_for
from pulumi_lws.declarations import UpstreamDeclaration
from pulumi_lws.facts.lws_releases import KUBERNETES_OF_LWS
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.rules.groups import groups_of, items
from pulumi_lws.rules.roles import roles_of
from pulumi_lws.rules.rule import DISAGGREGATED_SET, LEADER_WORKER_SET, RegisteredObject, Target
from pulumi_lws.workloads.disaggregated_set import DisaggregatedSetSpec
from pulumi_lws.workloads.settings import LeaderWorkerSetSpec

_VERSION = "v1"
"""The one version that LWS serves of each of its API groups."""


class _Object(UpstreamDeclaration):
    api_version: Any
    kind: Any
    metadata: Any = None
    status: Any = None


class _LeaderWorkerSet(_Object):
    spec: LeaderWorkerSetSpec
    """The spec."""


class _DisaggregatedSet(_Object):
    spec: DisaggregatedSetSpec
    """The spec."""


MODELS: Mapping[str, type[BaseModel]] = {LEADER_WORKER_SET: _LeaderWorkerSet, DISAGGREGATED_SET: _DisaggregatedSet}
"""The model of each kind that we have one of."""


def problems_of_own(subject: RegisteredObject, target: Target) -> Iterator[Problem]:
    """Find what the API server would refuse of an object of a kind in ``MODELS``."""
    manifest, model = subject.properties, MODELS[subject.kind]
    version = manifest["apiVersion"].rpartition("/")[2]
    if version != _VERSION:
        allowed = manifest["apiVersion"].removesuffix(version) + _VERSION
        yield Problem("apiVersion", manifest["apiVersion"], allowed, f"Write {allowed}.")
        return
    try:
        model.model_validate(manifest, by_alias=True, by_name=False)
    except ValidationError as error:
        yield from problems_of(error, model)
    # A pod template has the fields of the Kubernetes that LWS was made with, whatever the cluster's is.
    release = max((known for known in KUBERNETES_OF_LWS if known <= target.lws), default=min(KUBERNETES_OF_LWS))
    # The webhook that completes LeaderWorkerSets writes cpu: 0.5 as 500m before the schema looks.
    completed = subject.kind == LEADER_WORKER_SET
    published = schemas_for(KUBERNETES_OF_LWS[release], in_custom=True, fractions=completed)
    for path, value, definition in [("metadata", manifest.get("metadata"), METADATA), *_embedded(subject)]:
        if isinstance(value, Mapping):
            yield from published.problems(value, definition, path)


def is_taken(problem: Problem, subject: RegisteredObject, target: Target) -> bool:
    """Tell whether the API server takes it, and refuses only what the controller makes of the object.

    The webhook that completes LeaderWorkerSets fills in what is empty before the schema looks, and makes a pod template
    without a spec one without containers. DisaggregatedSets have no such webhook: their schema takes a template without
    a spec. It has no bound on numbers of pods and takes an External role without a spec; their other webhook looks at
    the bounds of a rollout only since LWS 0.10, and only of a role with replicas.
    """
    if subject.kind != DISAGGREGATED_SET:
        filled_in = {
            "spec.networkConfig.subdomainPolicy": "nothing",
            "spec.leaderWorkerTemplate.restartPolicy": "''",
            "spec.rolloutStrategy.type": "''",
        }
        return filled_in.get(problem.path) == problem.found
    if problem.path.endswith((".leaderTemplate.spec", ".workerTemplate.spec")):
        return problem.found == "nothing"
    for role in roles_of(subject):
        groups = role.groups
        size, subgroup = groups.template_at("size"), groups.template_at("subGroupPolicy", "subGroupSize")
        rollout = groups.path_to("rolloutStrategy", "rollingUpdateConfiguration")
        bound = groups.at("rolloutStrategy", "rollingUpdateConfiguration", problem.path.rpartition(".")[2])
        taken = {
            groups.path: groups.spec is None and role.mode == "External",
            groups.template_path("size"): type(size) is int,
            groups.template_path("subGroupPolicy", "subGroupSize"): subgroup is None or type(subgroup) is int,
        } | dict.fromkeys(
            (f"{rollout}.maxUnavailable", f"{rollout}.maxSurge"),
            type(bound) in (int, str) and (target.lws < (0, 10) or groups.replicas == 0),
        )
        if problem.path in taken:
            return taken[problem.path]
    return False


def _embedded(subject: RegisteredObject) -> Iterator[tuple[str, Any, str]]:
    """Yield the objects of Kubernetes inside an object of ours, with their paths and definitions."""
    for groups in groups_of(subject):
        for template in ("leaderTemplate", "workerTemplate"):
            yield groups.template_path(template, "spec"), groups.template_at(template, "spec"), POD_SPEC
        claims = groups.template_at("volumeClaimTemplates")
        for path, claim in items(claims, groups.template_path("volumeClaimTemplates")):
            yield path, claim, CLAIM
