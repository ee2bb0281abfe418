"""A workload of models, as a report looks at it: its pods, what they take, and how they roll."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.rules.groups import texts
from pulumi_lws.rules.values import value_at, whole_number


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
    terms = list_of(value_at(affinity, "nodeSelectorTerms"))
    for expression in list_of(value_at(terms[0], "matchExpressions")) if len(terms) == 1 else ():
        key, values = value_at(expression, "key"), value_at(expression, "values")
        if value_at(expression, "operator") == "In" and isinstance(key, str) and isinstance(values, list):
            yield key, frozenset(map(str, values))


def number_of(value: Any, default: int) -> int:
    """Return a number; ``default`` where there is none, or none that is known yet."""
    number = whole_number(value, default)
    return number if isinstance(number, int) else default


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a mapping; an empty one where there is none."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: Any) -> list[Any]:
    """Return a list; an empty one where there is none."""
    return value if isinstance(value, list) else []
