"""Workloads of models among the resources of a stack, whoever wrote them: what they ask for and how they roll."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.reporting.preview import Resource
from pulumi_lws.rules.groups import Groups, groups_of, scaled, texts
from pulumi_lws.rules.rule import DISAGGREGATED_SET, LEADER_WORKER_SET
from pulumi_lws.rules.values import value_at, whole_number

DEPLOYMENT = "apps/Deployment"
STATEFUL_SET = "apps/StatefulSet"
_AUTOSCALERS: Mapping[str, tuple[str, int, str, int]] = {
    "autoscaling/HorizontalPodAutoscaler": ("minReplicas", 1, "maxReplicas", 1),
    "keda.sh/ScaledObject": ("minReplicaCount", 0, "maxReplicaCount", 100),
}
"""Fields of the least and most replicas, with the defaults of their APIs."""


@dataclass(frozen=True)
class Pods:
    """Pods of one template.

    Attributes:
        template: The pod template.
        count: Pods of it in one copy.
    """

    template: Mapping[str, Any]
    count: int

    @property
    def gpus(self) -> int:
        """GPUs of one pod."""
        return self._resource(labels.GPU)

    @property
    def efa(self) -> int:
        """EFA interfaces of one pod."""
        return self._resource(labels.EFA)

    def containers(self) -> Iterator[Mapping[str, Any]]:
        """Yield all containers, the initial ones too."""
        for field in ("initContainers", "containers"):
            found = value_at(self.template, "spec", field)
            yield from (each for each in found if isinstance(each, Mapping)) if isinstance(found, list) else ()

    def _resource(self, name: str) -> int:
        return sum(_requested(container, name) for container in self.containers())


@dataclass(frozen=True)
class Rollout:
    """How copies are changed for others.

    Attributes:
        unavailable: Copies that may be missing meanwhile.
        surge: Copies on top.
        kept: Copies that keep the old template.
    """

    unavailable: int
    surge: int
    kept: int = 0


@dataclass(frozen=True)
class Workload:
    """Copies of a model that are made from one template.

    Attributes:
        key: What it is known by, before and after.
        urn: The resource that declares it.
        kind: Kind of that resource, as ``LeaderWorkerSet``.
        name: As people call it: its deployment, and the role where there are several.
        replicas: Copies; of an autoscaler the least.
        most_replicas: Copies at most.
        pods: The pods of one copy.
        rollout: How it rolls.
        alone: Whether a copy has its nodes for itself (exclusive topology).
        revision: What, if it changes, restarts every copy.
        copy: What a copy is called: ``group`` or ``pod``.
        budget_minutes: Longest start of one copy; None where nothing tells.
    """

    key: str
    urn: str
    kind: str
    name: str
    replicas: int
    most_replicas: int
    pods: tuple[Pods, ...]
    rollout: Rollout
    alone: bool
    revision: Any
    copy: str
    budget_minutes: int | None

    @property
    def size(self) -> int:
        """Pods of one copy."""
        return sum(pods.count for pods in self.pods)

    @property
    def gpus(self) -> int:
        """GPUs of one copy."""
        return sum(pods.gpus * pods.count for pods in self.pods)

    @property
    def efa(self) -> int:
        """EFA interfaces of one copy."""
        return sum(pods.efa * pods.count for pods in self.pods)

    @property
    def images(self) -> tuple[str, ...]:
        """Images of its containers, each once."""
        return tuple(dict.fromkeys(str(c.get("image")) for pods in self.pods for c in pods.containers()))

    @property
    def node_labels(self) -> dict[str, frozenset[str]]:
        """Labels that its nodes must have, with the values that will do."""
        wanted: dict[str, frozenset[str]] = {}
        for pods in self.pods:
            for key, value in texts(value_at(pods.template, "spec", "nodeSelector")).items():
                wanted[key] = frozenset({str(value)})
            for key, values in _required(pods.template):
                wanted[key] = wanted.get(key, values) & values
        return wanted


def workloads_of(resources: Mapping[str, Resource]) -> dict[str, Workload]:
    """Return the workloads of models by key: groups of pods, and Deployments and StatefulSets with GPUs."""
    scalers = [each for each in resources.values() if each.kind in _AUTOSCALERS]
    found: dict[str, Workload] = {}
    for resource in resources.values():
        for workload in _workloads(resource, resources, scalers):
            found[workload.key] = workload
    return found


def _workloads(
    resource: Resource, resources: Mapping[str, Resource], scalers: Sequence[Resource]
) -> Iterator[Workload]:
    if resource.kind == LEADER_WORKER_SET:
        (groups,) = groups_of(resource.registered)
        network = value_at(resource.inputs, "spec", "networkConfig")
        revision = {"leaderWorkerTemplate": groups.template_at(), "networkConfig": network}
        yield _groups(resource, resources, scalers, _Declared(groups, revision))
    elif resource.kind == DISAGGREGATED_SET:
        roles = groups_of(resource.registered)
        names = [str(value_at(role, "name", default="")) for role in _list(value_at(resource.inputs, "spec", "roles"))]
        # One revision for all: a change of one role rolls every role.
        shared = [
            {"role": name, "leaderWorkerTemplate": role.template_at()} for name, role in zip(names, roles, strict=True)
        ]
        slices = _number(value_at(resource.inputs, "spec", "slices"), 1)
        for name, role in zip(names, roles, strict=True):
            yield _groups(resource, resources, scalers, _Declared(role, shared, name, slices))
    elif resource.kind in (DEPLOYMENT, STATEFUL_SET):
        workload = _single(resource, resources, scalers)
        if workload.gpus:
            yield workload


@dataclass(frozen=True)
class _Declared:
    """Groups that an object declares, its own or those of a role."""

    groups: Groups
    revision: Any
    role: str = ""
    slices: int = 1


def _groups(
    resource: Resource, resources: Mapping[str, Resource], scalers: Sequence[Resource], declared: _Declared
) -> Workload:
    groups, role = declared.groups, declared.role
    least, most = _replicas(resource, role, scalers, groups.spec)
    size = max(1, _number(groups.size, 1))
    leader, *others = (_mapping(template.manifest) for template in groups.templates())
    pods = (Pods(leader, 1), Pods(others[0], size - 1)) if others else (Pods(leader, size),)
    rollout = groups.rollout
    return Workload(
        key=f"{resource.urn} {role}".strip(),
        urn=resource.urn,
        kind=resource.short_type,
        name=_name(resource, role, groups.label(labels.DEPLOYMENT), groups.label(labels.ROLE)),
        replicas=least * declared.slices,
        most_replicas=most * declared.slices,
        pods=pods,
        rollout=Rollout(_number(rollout.unavailable, 1), _number(rollout.surge, 0), _number(rollout.partition, 0)),
        alone=groups.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY) is not None,
        revision=declared.revision,
        copy="group",
        budget_minutes=_budget(resource, resources, pods),
    )


def _single(resource: Resource, resources: Mapping[str, Resource], scalers: Sequence[Resource]) -> Workload:
    spec = value_at(resource.inputs, "spec")
    least, most = _replicas(resource, "", scalers, spec)
    pods = (Pods(_mapping(value_at(spec, "template")), 1),)
    stateful = resource.kind == STATEFUL_SET
    strategy = value_at(spec, "updateStrategy" if stateful else "strategy")
    rolling = value_at(strategy, "rollingUpdate")
    unavailable = scaled(value_at(rolling, "maxUnavailable", default=1 if stateful else "25%"), least, up=False)
    surge = scaled(value_at(rolling, "maxSurge", default=0 if stateful else "25%"), least, up=True)
    if value_at(strategy, "type") == "Recreate":
        unavailable, surge = least, 0
    return Workload(
        key=resource.urn,
        urn=resource.urn,
        kind=resource.short_type,
        name=_name(resource, "", value_at(resource.inputs, "metadata", "labels", labels.DEPLOYMENT), None),
        replicas=least,
        most_replicas=most,
        pods=pods,
        rollout=Rollout(_number(unavailable, 0), _number(surge, 0), _number(value_at(rolling, "partition"), 0)),
        alone=False,
        revision={"template": value_at(spec, "template")},
        copy="pod",
        budget_minutes=_budget(resource, resources, pods),
    )


def _name(resource: Resource, role: str, deployment: Any, labelled_role: Any) -> str:
    name = deployment if isinstance(deployment, str) else resource.own_name
    role = role or (labelled_role if isinstance(labelled_role, str) and labelled_role != "serve" else "")
    return f"{name} ({role})" if role else name


def _replicas(resource: Resource, role: str, scalers: Iterable[Resource], spec: Any) -> tuple[int, int]:
    """Return the least and the most copies: what the object says, or the autoscaler that owns them."""
    targets = {resource.own_name, f"{resource.own_name}-{role}"} if role else {resource.own_name}
    namespace = value_at(resource.inputs, "metadata", "namespace")
    for scaler in scalers:
        if value_at(scaler.inputs, "spec", "scaleTargetRef", "name") not in targets:
            continue
        if value_at(scaler.inputs, "metadata", "namespace") == namespace:
            least_field, least_default, most_field, most_default = _AUTOSCALERS[scaler.kind]
            least = _number(value_at(scaler.inputs, "spec", least_field), least_default)
            return least, max(least, _number(value_at(scaler.inputs, "spec", most_field), most_default))
    replicas = max(0, _number(value_at(spec, "replicas"), 1))
    return replicas, replicas


def _budget(resource: Resource, resources: Mapping[str, Resource], pods: Iterable[Pods]) -> int | None:
    """Return the start budget of the component around an object; without one, what its probes bear."""
    above: Resource | None = resource
    while above is not None:
        budget = value_at(above.inputs, "startBudgetMinutes")
        if isinstance(budget, int) and above.type.startswith("lws:"):
            return budget
        above = resources.get(above.parent)
    probes = [value_at(container, "startupProbe") for each in pods for container in each.containers()]
    seconds = [
        _number(value_at(probe, "initialDelaySeconds"), 0)
        + _number(value_at(probe, "periodSeconds"), 10) * _number(value_at(probe, "failureThreshold"), 3)
        for probe in probes
        if isinstance(probe, Mapping)
    ]
    return math.ceil(max(seconds) / 60) if seconds else None


def _requested(container: Mapping[str, Any], name: str) -> int:
    for field in ("limits", "requests"):
        amount = value_at(container, "resources", field, name)
        if isinstance(amount, str) and amount.isdecimal():
            return int(amount)
        if isinstance(amount, int) and not isinstance(amount, bool):
            return amount
    return 0


def _required(template: Mapping[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what node affinity requires by ``In``. Several terms are alternatives: nothing holds for all of them."""
    affinity = value_at(template, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = _list(value_at(affinity, "nodeSelectorTerms"))
    for expression in _list(value_at(terms[0], "matchExpressions")) if len(terms) == 1 else ():
        key, values = value_at(expression, "key"), value_at(expression, "values")
        if value_at(expression, "operator") == "In" and isinstance(key, str) and isinstance(values, list):
            yield key, frozenset(map(str, values))


def _number(value: Any, default: int) -> int:
    """Return a number; ``default`` where there is none, or none that is known yet."""
    number = whole_number(value, default)
    return number if isinstance(number, int) else default


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
