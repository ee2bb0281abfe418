"""Reading the pods that an object makes, whatever kind it is.

Most rules about pods judge those with accelerators alone. So an ordinary web service never meets them, and a
LeaderWorkerSet without GPUs is not told of GPUs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pulumi_lws.planning.problems import Problem
from pulumi_lws.rules.engine_commands import gpus_of
from pulumi_lws.rules.groups import HAS_GROUPS, groups_of, items
from pulumi_lws.rules.rule import Check, Context, RegisteredObject
from pulumi_lws.rules.values import value_at

_TEMPLATE = ("spec", "template")

RAY_CLUSTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "ray.io/RayCluster": ("spec",),
    "ray.io/RayService": ("spec", "rayClusterConfig"),
    "ray.io/RayJob": ("spec", "rayClusterSpec"),
}
"""Where a kind has its Ray cluster."""

_TEMPLATES: Final[Mapping[str, tuple[str, ...]]] = {
    "apps/Deployment": _TEMPLATE,
    "apps/StatefulSet": _TEMPLATE,
    "apps/DaemonSet": _TEMPLATE,
    "apps/ReplicaSet": _TEMPLATE,
    "batch/Job": _TEMPLATE,
    "batch/CronJob": ("spec", "jobTemplate", "spec", "template"),
    "core/Pod": (),
}
"""Where a kind has its pod template; a pod is its own."""


@dataclass(frozen=True)
class Pods:
    """The pods of one template.

    Attributes:
        template: The template: metadata and spec.
        path: Where it stands; empty for a pod itself.
        ray_parameters: Options of ``ray start``, where KubeRay makes the pods of a group; else None.
    """

    template: Any
    path: str
    ray_parameters: Any = None

    def at(self, *fields: str, default: Any = None) -> Any:
        """Return a value of the pod spec."""
        return value_at(self.template, "spec", *fields, default=default)

    def path_to(self, *fields: str) -> str:
        """Return the path of a field of the template."""
        return ".".join(filter(None, (self.path, *fields)))

    def annotation(self, key: str) -> Any:
        """Return an annotation of the pods."""
        return value_at(self.template, "metadata", "annotations", key)

    def containers(self, *, before: bool = True) -> Iterator[tuple[str, Any]]:
        """Yield the containers with their paths.

        Args:
            before: Whether init containers count.
        """
        for field in ("containers", "initContainers") if before else ("containers",):
            yield from items(self.at(field), self.path_to("spec", field))

    @property
    def has_accelerators(self) -> bool:
        """Whether a container takes GPUs or TPUs, as far as that is known."""
        return any(isinstance(gpus := gpus_of(container), int) and gpus > 0 for _, container in self.containers())


def pods_of(subject: RegisteredObject) -> Iterator[Pods]:
    """Yield the pods of an object, by template."""
    if HAS_GROUPS(subject):
        for groups in groups_of(subject):
            for template in groups.templates():
                yield Pods(template.manifest, template.path)
    elif subject.kind in RAY_CLUSTERS:
        yield from _ray_pods(subject)
    elif subject.kind in _TEMPLATES:
        path = _TEMPLATES[subject.kind]
        yield Pods(value_at(subject.properties, *path) if path else subject.properties, ".".join(path))


def _ray_pods(subject: RegisteredObject) -> Iterator[Pods]:
    path = RAY_CLUSTERS[subject.kind]
    cluster, written = value_at(subject.properties, *path), ".".join(path)
    head = f"{written}.headGroupSpec", value_at(cluster, "headGroupSpec")
    for where, group in (head, *items(value_at(cluster, "workerGroupSpecs"), f"{written}.workerGroupSpecs")):
        yield Pods(value_at(group, "template"), f"{where}.template", value_at(group, "rayStartParams", default={}))


def makes_pods(subject: RegisteredObject) -> bool:
    """Tell whether an object is of a kind that makes pods."""
    return HAS_GROUPS(subject) or subject.kind in RAY_CLUSTERS or subject.kind in _TEMPLATES


def about_accelerated_pods(check: Callable[[Pods, Context], Iterable[Problem]]) -> Check:
    """Return a check that holds pods with accelerators to ``check``."""

    def check_object(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
        for pods in pods_of(subject):
            if pods.has_accelerators:
                yield from check(pods, context)

    return check_object
