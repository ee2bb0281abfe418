"""The names that a deployment takes in its namespace: those of its objects, and of what controllers make for them.

Source: ``pkg/controllers`` of LWS 0.10. A LeaderWorkerSet ``glm`` has a StatefulSet and a headless Service of its own
name, and for the workers of its group 5 a StatefulSet ``glm-5``, which is what a LeaderWorkerSet ``glm-5`` has for its
leaders.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_lws.serving.roles import Role

Name = tuple[str, str]
"""Kind and name of an object."""

_LWS = "LeaderWorkerSet"
_STATEFUL_SET = "StatefulSet"

_MADE: Mapping[str, tuple[Name, ...]] = {
    _LWS: ((_STATEFUL_SET, "{}"), ("Service", "{}")),
    "DisaggregatedSet": tuple(("DisaggregatedSetRoleScaler", f"{{}}-{role}") for role in ("prefill", "decode")),
    "ScaledObject": (("HorizontalPodAutoscaler", "keda-hpa-{}"),),
}
"""What controllers make for an object of a kind: kind, and name with ``{}`` for that of the object."""

_NUMBERED = re.compile(r"(?P<name>.+)-(?P<number>0|[1-9][0-9]*)")
_CHILD = re.compile(r"(?P<name>.+)-[0-9]+-[0-9a-f]{8}-(prefill|decode)")


@dataclass(frozen=True)
class TakenNames:
    """The names of one deployment.

    Attributes:
        fixed: Objects whose names are known.
        numbered: How many StatefulSets of workers a LeaderWorkerSet can have at once, by its name.
        sets: Names of DisaggregatedSets, whose LeaderWorkerSets are called after a revision, too.
    """

    fixed: frozenset[Name]
    numbered: Mapping[str, int]
    sets: frozenset[str]


def taken_names(manifests: Iterable[Mapping[str, Any]], roles: Sequence[Role]) -> TakenNames:
    """Return the names that a rendered deployment takes.

    Args:
        manifests: Its objects.
        roles: Its roles.
    """
    rendered = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests]
    made = [(kind, form.format(name)) for owner, name in rendered for kind, form in _MADE.get(owner, ())]
    groups = {role.workload: role for role in roles if role.shape.size > 1}
    return TakenNames(
        fixed=frozenset([*rendered, *made]),
        numbered={
            name: groups[name].settings.most_replicas + groups[name].surge
            for kind, name in rendered
            if kind == _LWS and name in groups
        },
        sets=frozenset(name for kind, name in rendered if kind == "DisaggregatedSet"),
    )


def clashes(names: Mapping[str, TakenNames]) -> Iterator[tuple[str, str, Name]]:
    """Yield two deployments and a name that both take, once for each two.

    The time grows with the names, not with their pairs: a numbered name is looked up by what stands before the number.

    Args:
        names: Their names, by deployment.
    """
    numbered = {name: (deployment, count) for deployment, own in names.items() for name, count in own.numbered.items()}
    sets = {name: deployment for deployment, own in names.items() for name in own.sets}
    order = {deployment: place for place, deployment in enumerate(names)}
    owners: dict[Name, str] = {}
    said: set[frozenset[str]] = set()
    for deployment, own in names.items():
        for name in sorted(own.fixed):
            others = {owners.setdefault(name, deployment), *_patterns(name, numbered, sets)} - {deployment}
            for other in sorted(others, key=order.__getitem__):
                if (both := frozenset({deployment, other})) not in said:
                    said.add(both)
                    yield deployment, other, name


def _patterns(name: Name, numbered: Mapping[str, tuple[str, int]], sets: Mapping[str, str]) -> Iterator[str]:
    """Yield the deployments whose controllers make objects of such a name."""
    kind, text = name
    if kind == _STATEFUL_SET and (found := _NUMBERED.fullmatch(text)) and found["name"] in numbered:
        deployment, count = numbered[found["name"]]
        # A name of so many digits is no number of a group; it is as long as it likes.
        if len(found["number"]) <= len(str(count)) and int(found["number"]) < count:
            yield deployment
    if kind == _LWS and (found := _CHILD.fullmatch(text)) and found["name"] in sets:
        yield sets[found["name"]]
