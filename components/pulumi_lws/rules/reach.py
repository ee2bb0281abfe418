"""Reading which pods the selector of a Service, of a pool or of a budget reaches."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from pulumi_lws.facts import labels
from pulumi_lws.rules.around import grouped
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, groups_of, items, texts
from pulumi_lws.rules.pods import Pods, pods_of
from pulumi_lws.rules.roles import roles_of, slices_of
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Program, RegisteredObject
from pulumi_lws.rules.values import UNKNOWN, Unknown, value_at, whole_number

_RAY: Final = "ray.io/"


@dataclass(frozen=True)
class Reachable:
    """Pods that are alike: those of one template, leaders apart from workers.

    Attributes:
        owner: The object that makes them.
        pods: Their template.
        groups: Where the spec of their groups stands; empty for pods without groups.
        leads: Whether each is a leader, or the only one of its kind.
        count: How many there are; None where that is not written.
        stamped: What their controller labels them with, as far as the object tells.
    """

    owner: RegisteredObject
    pods: Pods
    groups: str = ""
    leads: bool = True
    count: int | None = None
    stamped: Mapping[str, Any] = field(default_factory=dict)

    def has(self, key: Any, value: Any) -> bool | None:
        """Tell whether the pods have a label; None where a controller adds it and the object does not tell."""
        if key == labels.LWS_WORKER_INDEX and HAS_GROUPS(self.owner):
            is_leader = str(value) == "0"
            # Workers have every other index, each its own.
            return is_leader if self.leads else False if is_leader else None
        if not isinstance(key, str):
            return False
        if key in self.stamped:
            return None if self.stamped[key] is UNKNOWN else bool(self.stamped[key] == value)
        if key == labels.LWS_NAME and labels.DS_NAME in self.stamped:
            # A DisaggregatedSet calls its LeaderWorkerSets after itself.
            name = self.stamped[labels.DS_NAME]
            return None if name is UNKNOWN or str(value).startswith(f"{name}-") else False
        if key.startswith(_added_to(self.owner)):
            return None
        own = value_at(self.pods.template, "metadata", "labels")
        return isinstance(own, Mapping) and own.get(key) == value

    def told(self) -> Mapping[Any, Any]:
        """Return the labels that the object tells; of a name that its controller makes longer, how it begins."""
        return {**texts(value_at(self.pods.template, "metadata", "labels")), **self._given}

    def may_be_given(self, key: Any) -> bool:
        """Tell whether a controller adds a label of which the object tells nothing."""
        is_added = isinstance(key, str) and key.startswith(_added_to(self.owner))
        return is_added and self._given.get(key, UNKNOWN) is UNKNOWN

    @property
    def _given(self) -> Mapping[str, Any]:
        name = self.stamped.get(labels.DS_NAME, UNKNOWN)
        return self.stamped if name is UNKNOWN else {labels.LWS_NAME: f"{name}-", **self.stamped}

    def meets(self, selector: Any) -> bool | None:
        """Tell whether a label selector reaches them; None where that cannot be told."""
        match_labels, expressions = (value_at(selector, part) for part in ("matchLabels", "matchExpressions"))
        if UNKNOWN in (match_labels, expressions):
            return None
        verdicts = [self.has(key, value) for key, value in texts(match_labels).items()]
        verdicts += [self._expression(one) for _, one in items(expressions, "")]
        return False if False in verdicts else None if None in verdicts else True

    def _expression(self, expression: Any) -> bool | None:
        values = [one for _, one in items(value_at(expression, "values"), "")]
        if value_at(expression, "operator") != "In" or UNKNOWN in values:
            return None
        verdicts = [self.has(value_at(expression, "key"), value) for value in values]
        return True if True in verdicts else None if None in verdicts else False

    @property
    def whose(self) -> str:
        """Say whose pods they are, such as ``LeaderWorkerSet glm-5``."""
        return described(self.owner)


def _added_to(owner: RegisteredObject) -> tuple[str, ...]:
    """Return the prefixes of the labels that controllers add to the pods of an object."""
    if HAS_GROUPS(owner):
        return (labels.LWS_PREFIX, labels.DS_PREFIX) if owner.kind == DISAGGREGATED_SET else (labels.LWS_PREFIX,)
    return (_RAY,) if owner.kind.startswith(_RAY) else ()


def described(subject: RegisteredObject) -> str:
    """Say what an object is, such as ``LeaderWorkerSet glm-5``."""
    name = value_at(subject.properties, "metadata", "name", default="")
    return f"{subject.kind.partition('/')[2]} {name}" if isinstance(name, str) and name else "an engine"


def namespace_of(subject: RegisteredObject) -> Any:
    """Return the namespace of an object."""
    return value_at(subject.properties, "metadata", "namespace", default="default")


@dataclass(frozen=True)
class _Labelled:
    """The pods of a namespace, to be found by their labels."""

    pods: Sequence[Reachable]

    @cached_property
    def _told(self) -> Mapping[tuple[str, str], list[int]]:
        return grouped(
            ((repr(key), repr(value)), number)
            for number, pods in enumerate(self.pods)
            for key, value in pods.told().items()
        )

    @cached_property
    def _given(self) -> dict[str, list[int]]:
        return {}

    def _places(self, key: Any, value: Any) -> list[list[int]]:
        """Return where pods stand that have a label, or may have it; no others have."""
        name = repr(key)
        begins = [value[: dash.end()] for dash in re.finditer("-", value)] if isinstance(value, str) else []
        if name not in self._given:
            self._given[name] = [number for number, pods in enumerate(self.pods) if pods.may_be_given(key)]
        return [self._given[name], *(self._told.get((name, repr(each)), []) for each in (value, *begins))]

    def near(self, selector: Any) -> Iterable[Reachable]:
        """Return the pods that the rarest label of a selector leaves, in order: few, where it means few."""
        written = [value_at(selector, part) for part in ("matchLabels", "matchExpressions")]
        if UNKNOWN in written:
            return self.pods
        wanted = [(key, [value]) for key, value in texts(written[0]).items()]
        for _, one in items(written[1], ""):
            values = [value for _, value in items(value_at(one, "values"), "")]
            if value_at(one, "operator") == "In" and UNKNOWN not in values:
                wanted.append((value_at(one, "key"), values))
        found = [[part for value in values for part in self._places(key, value)] for key, values in wanted]
        if not found:
            return self.pods
        rarest = min(found, key=lambda parts: sum(map(len, parts)))
        return [self.pods[number] for number in sorted({number for part in rarest for number in part})]


def _by_namespace(program: Program) -> Mapping[str, _Labelled]:
    """Return the pods of a program by the ``repr`` of their namespaces."""
    pods = grouped((repr(namespace_of(each)), pods) for each in program for pods in reachable(each))
    return {namespace: _Labelled(each) for namespace, each in pods.items()}


def reached(selector: Any, namespace: Any, program: Program) -> Iterator[tuple[Reachable, bool | None]]:
    """Yield the pods of a namespace that a label selector may reach, each with ``meets``."""
    labelled = program.once(_by_namespace).get(repr(namespace), _Labelled(()))
    for pods in labelled.near(selector):
        if (met := pods.meets(selector)) is not False:
            yield pods, met


def reachable(owner: RegisteredObject) -> Iterator[Reachable]:
    """Yield the pods of an object, leaders of groups apart from their workers."""
    if not HAS_GROUPS(owner):
        replicas = _written(value_at(owner.properties, "spec", "replicas"))
        yield from (Reachable(owner, pods, count=replicas) for pods in pods_of(owner))
        return
    for groups, stamped, slices in _stamped(owner):
        copies = None if slices is None or (one := _written(groups.at("replicas"))) is None else slices * one
        workers = None if copies is None or isinstance(groups.size, Unknown) else copies * (groups.size - 1)
        for template in groups.templates():
            pods = Pods(template.manifest, template.path)
            if template.leads:
                yield Reachable(owner, pods, groups.path, leads=True, count=copies, stamped=stamped)
            if template.works:
                yield Reachable(owner, pods, groups.path, leads=False, count=workers, stamped=stamped)


def _stamped(owner: RegisteredObject) -> Iterator[tuple[Groups, Mapping[str, Any], int | None]]:
    """Yield the groups with the labels that their controller gives them, and how many times they are made."""
    name = value_at(owner.properties, "metadata", "name", default=UNKNOWN)
    if owner.kind != DISAGGREGATED_SET:
        yield from ((groups, {labels.LWS_NAME: name}, 1) for groups in groups_of(owner))
        return
    slices = slices_of(owner)
    for role in roles_of(owner):
        known = {labels.DS_NAME: name, labels.DS_ROLE: role.name}
        yield role.groups, known, None if isinstance(slices, Unknown) else slices


def _written(replicas: Any) -> int | None:
    """Return a number of copies; None where another has a say: an autoscaler, or the update."""
    number = whole_number(replicas, default=-1)
    return number if isinstance(number, int) and number >= 0 else None
