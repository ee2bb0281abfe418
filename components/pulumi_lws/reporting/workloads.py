"""Workloads of models among the resources of a stack, whoever wrote them: what they ask for and how they roll."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.reporting.preview import Resource
from pulumi_lws.reporting.workload import Pods, Rollout, Workload, list_of, mapping_of, number_of
from pulumi_lws.rules.groups import Groups, groups_of, scaled
from pulumi_lws.rules.pods import RAY_CLUSTERS
from pulumi_lws.rules.rule import DISAGGREGATED_SET, LEADER_WORKER_SET
from pulumi_lws.rules.values import value_at

DEPLOYMENT = "apps/Deployment"
STATEFUL_SET = "apps/StatefulSet"
_RAY_SERVICE = "ray.io/RayService"
_SERVED_BY_RAY = ("ray.io/RayCluster", _RAY_SERVICE)
"""Kinds of Ray that run on; a RayJob ends by itself."""

_NUMBERS_OF_WORKERS = ("replicas", "minReplicas", "maxReplicas", "scaleStrategy", "idleTimeoutSeconds")
"""Fields of a group of workers that change how many there are, and none of them."""

_AUTOSCALERS: Mapping[str, tuple[str, int, str, int]] = {
    "autoscaling/HorizontalPodAutoscaler": ("minReplicas", 1, "maxReplicas", 1),
    "keda.sh/ScaledObject": ("minReplicaCount", 0, "maxReplicaCount", 100),
}
"""Fields of the least and most replicas, with the defaults of their APIs."""


def workloads_of(resources: Mapping[str, Resource]) -> dict[str, Workload]:
    """Return the workloads of models by key: groups of pods, and what else has GPUs."""
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
        names = [
            str(value_at(role, "name", default="")) for role in list_of(value_at(resource.inputs, "spec", "roles"))
        ]
        # One revision for all: a change of one role rolls every role.
        shared = [
            {"role": name, "leaderWorkerTemplate": role.template_at()} for name, role in zip(names, roles, strict=True)
        ]
        slices = number_of(value_at(resource.inputs, "spec", "slices"), 1)
        for name, role in zip(names, roles, strict=True):
            yield _groups(resource, resources, scalers, _Declared(role, shared, name, slices))
    elif resource.kind in (DEPLOYMENT, STATEFUL_SET):
        workload = _single(resource, resources, scalers)
        if workload.gpus:
            yield workload
    elif resource.kind in _SERVED_BY_RAY:
        for group in list_of(value_at(resource.inputs, *RAY_CLUSTERS[resource.kind], "workerGroupSpecs")):
            workload = _workers(resource, resources, group)
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
    size = max(1, number_of(groups.size, 1))
    leader, *others = (mapping_of(template.manifest) for template in groups.templates())
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
        rollout=Rollout(
            number_of(rollout.unavailable, 1), number_of(rollout.surge, 0), number_of(rollout.partition, 0)
        ),
        alone=groups.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY) is not None,
        revision=declared.revision,
        copy="group",
        budget_minutes=_budget(resource, resources, pods),
    )


def _single(resource: Resource, resources: Mapping[str, Resource], scalers: Sequence[Resource]) -> Workload:
    spec = value_at(resource.inputs, "spec")
    least, most = _replicas(resource, "", scalers, spec)
    pods = (Pods(mapping_of(value_at(spec, "template")), 1),)
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
        rollout=Rollout(number_of(unavailable, 0), number_of(surge, 0), number_of(value_at(rolling, "partition"), 0)),
        alone=False,
        revision={"template": value_at(spec, "template")},
        copy="pod",
        budget_minutes=_budget(resource, resources, pods),
    )


def _workers(resource: Resource, resources: Mapping[str, Resource], group: Any) -> Workload:
    """Read a group of workers of Ray; the head takes no GPUs."""
    cluster = mapping_of(value_at(resource.inputs, *RAY_CLUSTERS[resource.kind]))
    bounds = ("minReplicas", "maxReplicas") if cluster.get("enableInTreeAutoscaling") is True else ("replicas",) * 2
    least, most = (max(0, number_of(value_at(group, field), 0)) for field in bounds)
    pods = (Pods(mapping_of(value_at(group, "template")), max(1, number_of(value_at(group, "numOfHosts"), 1))),)
    rollout, revision = _ray_rollout(resource, cluster, least)
    several = len(list_of(cluster.get("workerGroupSpecs"))) > 1
    name = str(value_at(group, "groupName", default=""))
    return Workload(
        key=f"{resource.urn} {name}",
        urn=resource.urn,
        kind=resource.short_type,
        name=f"{resource.own_name} ({name})" if several else resource.own_name,
        replicas=least,
        most_replicas=max(least, most),
        pods=pods,
        rollout=rollout,
        alone=False,
        revision=revision,
        copy="worker",
        budget_minutes=_budget(resource, resources, pods),
    )


def _ray_rollout(resource: Resource, cluster: Mapping[str, Any], workers: int) -> tuple[Rollout, Any]:
    """Return how workers roll, and what makes them.

    https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/rayservice-incremental-upgrade.html
    """
    upgrade = value_at(resource.inputs, "spec", "upgradeStrategy", "type")
    made_from = {
        **{key: value for key, value in cluster.items() if key != "upgradeStrategy"},
        "workerGroupSpecs": [
            {key: value for key, value in mapping_of(group).items() if key not in _NUMBERS_OF_WORKERS}
            for group in list_of(cluster.get("workerGroupSpecs"))
        ],
    }
    if resource.kind != _RAY_SERVICE:
        # KubeRay leaves the pods of a RayCluster alone unless it is told to make all of them anew.
        return (Rollout(workers, 0), made_from) if upgrade == "Recreate" else (Rollout(0, 0), None)
    application = value_at(resource.inputs, "spec", "serveConfigV2")
    if upgrade == "None":
        return Rollout(1, 0), {"serveConfigV2": application}
    # Without such a mark in the template, a change of the application alone rolls its copies in place.
    marks = value_at(cluster, "headGroupSpec", "template", "metadata", "annotations")
    rollout = Rollout(0, workers) if labels.SERVE_REVISION in mapping_of(marks) else Rollout(1, 0)
    return rollout, {"serveConfigV2": application, **made_from}


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
            least = number_of(value_at(scaler.inputs, "spec", least_field), least_default)
            return least, max(least, number_of(value_at(scaler.inputs, "spec", most_field), most_default))
    replicas = max(0, number_of(value_at(spec, "replicas"), 1))
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
        number_of(value_at(probe, "initialDelaySeconds"), 0)
        + number_of(value_at(probe, "periodSeconds"), 10) * number_of(value_at(probe, "failureThreshold"), 3)
        for probe in probes
        if isinstance(probe, Mapping)
    ]
    return math.ceil(max(seconds) / 60) if seconds else None
