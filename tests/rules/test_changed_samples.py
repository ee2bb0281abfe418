"""Each rule against its samples with one place of them changed: not known yet, of another shape, or missing."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from lab.rule_samples import Sample, samples
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.rule import Rule
from pulumi_lws.rules.values import UNKNOWN

MISSING = object()
SHAPES: tuple[object, ...] = (
    MISSING,
    None,
    True,
    7.0,
    -1,
    "",
    "text",
    [],
    {},
    [None],
    [["text"]],
    {"name": None},
    [{"name": 7}],
)
"""What may stand anywhere instead of what belongs there."""

SILENT: Mapping[str, set[str]] = {
    # What is not known before the update is made by it, so it stands in no program.
    "no-plain-secrets": {"args", "config", "name", "value"},
    # What cannot be told to take accelerators, or EFA, is not held to what these need.
    "efa-requested": {"node.kubernetes.io/instance-type", "nvidia.com/gpu"},
    "efa-security-group": {"Name", "interfaceType"},
    "node-pool-hygiene": {"group", "values"},
    "shared-memory": {"nvidia.com/gpu"},
    # What cannot be told to aim at an engine is not held to what engines need.
    "administrative-paths": {"app", "command", "kind", "leaderworkerset.sigs.k8s.io/name", "name", "namespace"},
    "disruption-budget": {
        "app",
        "disaggregatedset.x-k8s.io/role",
        "key",
        "leaderworkerset.sigs.k8s.io/name",
        "leaderworkerset.sigs.k8s.io/worker-index",
        "name",
        "namespace",
        "operator",
        "values",
    },
    "engine-exposure": {"app", "args", "command", "image", "namespace"},
    "namespace-quota": {"labels"},
    "role-autoscaler": {"name", "namespace"},
}
"""Fields that, not known yet, let a rule say nothing of a sample that it refuses."""

Place = tuple[str | int, ...]


def places(value: Any) -> Iterator[Place]:
    """Every place below a value: what a key or an index leads to, the outer ones first."""
    parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (key,)
        yield from ((key, *rest) for rest in places(part))


def changed(properties: Mapping[str, Any], place: Place, value: object) -> dict[str, Any]:
    """The properties of an object with another value at a place."""
    result = copy.deepcopy(dict(properties))
    part: Any = result
    for key in place[:-1]:
        part = part[key]
    if value is MISSING:
        del part[place[-1]]
    else:
        part[place[-1]] = value
    return result


def changes(sample: Sample, value: object) -> Iterator[tuple[Place, Sample]]:
    """The sample with one place changed, of the judged object (0) and of each other one, and where that is."""
    for number, each in enumerate(sample.together):
        for place in places(each.properties):
            together = list(sample.together)
            together[number] = replace(each, properties=changed(each.properties, place, value))
            yield (number, *place), replace(sample, subject=together[0], others=tuple(together[1:]))


def judged(rule: Rule, sample: Sample) -> list[Problem]:
    return rule.problems(sample.subject, sample.target, sample.values, sample.together)


def breaches(problems: list[Problem]) -> set[str]:
    return {problem.path for problem in problems if problem.severity is not Severity.UNSEEN}


def field_of(place: Place) -> str:
    """The last key of a place that is no index."""
    return next(str(key) for key in reversed(place) if isinstance(key, str))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_value_not_known_yet_is_said_but_for_the_fields_above(rule: Rule) -> None:
    silent = set()
    for sample in samples(rule, "denied"):
        unknown = dict(changes(sample, UNKNOWN))
        outer = {place[:-1] for place in unknown}
        silent |= {field_of(place) for place in unknown.keys() - outer if not judged(rule, unknown[place])}
    assert silent == SILENT.get(rule.name, set())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_value_not_known_yet_makes_no_breach(rule: Rule) -> None:
    invented = [
        f"{sample.path.name}: {place}: {more}"
        for sample in samples(rule, "denied")
        for place, unknown in changes(sample, UNKNOWN)
        if (more := breaches(judged(rule, unknown)) - breaches(judged(rule, sample)))
    ]
    assert invented == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_value_of_another_shape_stops_no_rule(rule: Rule) -> None:
    failed = []
    for sample in samples(rule):
        for shape in SHAPES:
            for place, other in changes(sample, shape):
                try:
                    list(map(str, judged(rule, other)))
                except Exception as error:  # noqa: BLE001 - whatever a rule raises is the finding
                    failed.append(f"{sample.path.name}: {shape!r} at {place}: {error!r}")
    assert failed == []
