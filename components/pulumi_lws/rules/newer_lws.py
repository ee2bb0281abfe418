"""Rule: the declared version of LWS has every field and value that is used."""

from collections.abc import Iterable, Iterator
from typing import Any

from pulumi_lws.facts.features import FEATURES, Feature
from pulumi_lws.planning.problems import Problem, Severity, path_of
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_KINDS = sorted({feature.kind for feature in FEATURES})


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    newer = [f for f in FEATURES if f.kind == subject.kind and context.target.lws < f.since]
    # Where the kind itself is missing, its fields go without saying.
    for feature in [feature for feature in newer if not feature.path] or newer:
        for path, value in _values(subject.properties, feature.path):
            yield from _judge(feature, path, value, context)


def _judge(feature: Feature, path: str, value: Any, context: Context) -> Iterable[Problem]:
    since, ours = (".".join(map(str, version)) for version in (feature.since, context.target.lws))
    if value is UNKNOWN:
        yield unseen(path, f"whether it needs LWS {since}")
    elif value not in (None, [], ()) and feature.value in (None, value):
        yield Problem(
            path or "kind",
            f"{feature.value or ('a field' if feature.path else 'a kind')} of LWS {since}",
            f"what LWS {ours} knows; it {feature.older}",
            f"Upgrade LWS to {since} or later, or {feature.instead}.",
            refused=True,
        )


def _values(manifest: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the values at a path with their paths; each item's where the path steps through a list."""
    if "[]" not in path:
        yield path_of(path), value_at(manifest, *path) if path else manifest
        return
    split = path.index("[]")
    values = value_at(manifest, *path[:split])
    if values is UNKNOWN:
        yield path_of(path[:split]), UNKNOWN
    for index, item in enumerate(values if isinstance(values, list | tuple) else ()):
        for rest, value in _values(item, path[split + 1 :]):
            yield f"{path_of([*path[:split], index])}.{rest}", value


NEEDS_NEWER_LWS = Rule(
    name="needs-newer-lws",
    title="The declared version of LWS has every kind, field and value that is used.",
    why="An older server refuses a value or a kind that it does not know, and refuses or silently drops a field.",
    fix="Upgrade LWS, or leave out what the declared version does not have.",
    severity=Severity.ERROR,
    applies_to=is_kind(*_KINDS),
    check=_check,
)
