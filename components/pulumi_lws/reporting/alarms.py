"""Changes beside the models that a reviewer must not miss: what takes more with it than its own line says."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pulumi_lws.reporting.pools import NODE_GROUP, NODE_POOL
from pulumi_lws.reporting.preview import Operation, Resource, Step
from pulumi_lws.rules.values import value_at


@dataclass(frozen=True)
class _Weighty:
    """A kind of resource that others depend on.

    Attributes:
        what: What people call it.
        loss: What its end means.
        stops_everything: Whether nothing goes on without it.
    """

    what: str
    loss: str
    stops_everything: bool = False


_WEIGHTY: Mapping[str, _Weighty] = {
    "aws:eks/cluster:Cluster": _Weighty("cluster", "everything on it stops", stops_everything=True),
    "aws:ec2/vpc:Vpc": _Weighty("VPC", "everything in it goes with it, the cluster included", stops_everything=True),
    "apiextensions.k8s.io/CustomResourceDefinition": _Weighty(
        "CRD", "every object of its kind is deleted with it", stops_everything=True
    ),
    "core/Namespace": _Weighty("namespace", "everything in it is deleted", stops_everything=True),
    NODE_POOL: _Weighty("node pool", "its nodes are drained and terminated"),
    NODE_GROUP: _Weighty("node group", "its nodes are drained and terminated"),
    "karpenter.k8s.aws/EC2NodeClass": _Weighty("node class", "its nodes are drained and terminated"),
    "eks.amazonaws.com/NodeClass": _Weighty("node class", "its nodes are drained and terminated"),
    "aws:ec2/capacityReservation:CapacityReservation": _Weighty(
        "capacity reservation", "its capacity is given back, and may not be had again"
    ),
    "core/PersistentVolumeClaim": _Weighty("volume claim", "its data may be deleted"),
}
"""By kind of a Kubernetes object, or type token."""

_LWS_IMAGE = re.compile(r"(?:^|/)lws(?:/lws)?:v?(?P<version>[\w.-]+)$")
_LWS_CHART = re.compile(r"(?:^|/)lws$")


@dataclass(frozen=True)
class Alarm:
    """What a reviewer must not miss.

    Attributes:
        what: Kind of the things, as people call it.
        names: Their names.
        operation: What is done to them.
        loss: What that means.
        stops_everything: Whether nothing goes on without them.
    """

    what: str
    names: tuple[str, ...]
    operation: Operation
    loss: str
    stops_everything: bool


@dataclass(frozen=True)
class Upgrade:
    """Another version of the controller of LeaderWorkerSets.

    Attributes:
        old: The version now; None for a new installation.
        new: The version then; None where it is removed.
        is_told: Whether the stack does not install LWS itself, and only its deployments are told another version.
    """

    old: str | None
    new: str | None
    is_told: bool = False


def alarms(steps: Iterable[Step]) -> list[Alarm]:
    """Return what is deleted or replaced of all that others depend on, alike things together."""
    found: dict[tuple[str, Operation], list[str]] = {}
    for step in steps:
        key = step.resource.kind or step.resource.type
        if key in _WEIGHTY and step.operation in (Operation.DELETE, Operation.REPLACE):
            found.setdefault((key, step.operation), []).append((step.old or step.resource).own_name)
    listed = [
        Alarm(_WEIGHTY[key].what, tuple(names), operation, _WEIGHTY[key].loss, _WEIGHTY[key].stops_everything)
        for (key, operation), names in found.items()
    ]
    order = [weighty.what for weighty in _WEIGHTY.values()]
    return sorted(listed, key=lambda alarm: order.index(alarm.what))


def upgrade(before: Mapping[str, Resource], after: Mapping[str, Resource]) -> Upgrade | None:
    """Return the change of LWS's version: of its chart or its controller's image, else of what deployments are told."""
    for told, version in enumerate((_installed, _told)):
        old, new = (_versions(resources, version) for resources in (before, after))
        if old != new and not (told and None in (old, new)):
            return Upgrade(old, new, bool(told))
        if old or new:
            return None
    return None


def _versions(resources: Mapping[str, Resource], version: Callable[[Resource], str | None]) -> str | None:
    found = {each for resource in resources.values() if (each := version(resource))}
    return ", ".join(sorted(found)) or None


def _told(resource: Resource) -> str | None:
    version = value_at(resource.inputs, "lwsVersion") if resource.type.startswith("lws:") else None
    return version if isinstance(version, str) else None


def _installed(resource: Resource) -> str | None:
    if resource.kind in ("helm.sh/Chart", "helm.sh/Release"):
        chart, version = value_at(resource.inputs, "chart"), value_at(resource.inputs, "version")
        is_lws = isinstance(chart, str) and _LWS_CHART.search(chart)
        return version.removeprefix("v") if is_lws and isinstance(version, str) else None
    if resource.kind == "apps/Deployment":
        containers = value_at(resource.inputs, "spec", "template", "spec", "containers", default=())
        for container in containers if isinstance(containers, list) else ():
            image = value_at(container, "image")
            if isinstance(image, str) and (match := _LWS_IMAGE.search(image)):
                return match["version"]
    return None
