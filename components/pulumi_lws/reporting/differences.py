"""What differs between two descriptions, said without saying anything secret.

Values are shown only of fields that hold no secret by their nature (images, counts, sizes of a split). Of everything
else, environment variables and arguments above all, the name is said and not the value.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import path_of
from pulumi_lws.planning.secrets import without_tokens
from pulumi_lws.reporting.workload import Pods, Workload
from pulumi_lws.rules.values import UNKNOWN, value_at

_MOST_PATHS = 1_000
"""Differing places that are looked for in one resource."""

_SHOWN_FLAGS = frozenset(
    {
        "--tensor-parallel-size",
        "--pipeline-parallel-size",
        "--data-parallel-size",
        "--tp-size",
        "--pp-size",
        "--nnodes",
        "--max-model-len",
        "--gpu-memory-utilization",
        "--kv-cache-dtype",
        "--distributed-timeout-seconds",
    }
)
"""Flags whose values are shown."""


def paths(old: Any, new: Any) -> list[str]:
    """Return where two values differ, at most a thousand places."""
    found: list[str] = []
    for location in _differing(old, new, ()):
        found.append(path_of(location))
        if len(found) == _MOST_PATHS:
            break
    return found


def reasons(old: Workload, new: Workload) -> list[str]:
    """Return what of the pods differs, the most telling first; nothing where no copy restarts."""
    if old.revision == new.revision:
        return []
    found = dict.fromkeys(
        (
            *_arrow(f"pods per {new.copy}", old.size, new.size),
            *(reason for pair in _pairs(old, new) for reason in _of_pods(*pair)),
        )
    )
    if found:
        return sorted(found, key=lambda reason: "→" not in reason)
    # The change stands beside the pods of this role.
    return sorted({_short(path) for path in paths(old.revision, new.revision)})[:3]


def _of_pods(old: Pods, new: Pods) -> Iterator[str]:
    yield from _arrow("GPUs per pod", old.gpus, new.gpus)
    yield from _arrow("EFA per pod", old.efa, new.efa)
    before = {str(each.get("name")): each for each in old.containers()}
    after = {str(each.get("name")): each for each in new.containers()}
    for name in [*before, *(each for each in after if each not in before)]:
        if name not in after:
            yield f"container {name} removed"
        elif name not in before:
            yield f"container {name} added"
        else:
            yield from _of_container(before[name], after[name])
    for field in _differing_keys(value_at(old.template, "spec"), value_at(new.template, "spec")):
        if field not in ("containers", "initContainers"):
            yield field
    if value_at(old.template, "metadata") != value_at(new.template, "metadata"):
        yield "labels or annotations of the pods"


def _of_container(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for field in _differing_keys(old, new):
        if field == "image":
            yield from _arrow("image", old.get(field), new.get(field))
        elif field in ("command", "args"):
            yield from _of_arguments(old.get(field), new.get(field))
        elif field == "env":
            names = _environment(old.get(field)), _environment(new.get(field))
            changed = [name for name in {**names[0], **names[1]} if names[0].get(name) != names[1].get(name)]
            yield f"environment {', '.join(changed[:4])}{'…' if len(changed) > 4 else ''}"
        elif field == "resources":
            yield from _of_resources(old.get(field), new.get(field))
        else:
            yield field


def _of_resources(old: Any, new: Any) -> Iterator[str]:
    for resource in ("cpu", "memory"):
        yield from _arrow(resource, value_at(old, "limits", resource), value_at(new, "limits", resource))
    told = ("cpu", "memory", labels.GPU, labels.EFA)
    if not all(path.endswith(told) for path in paths(old, new)):
        yield "resources"


def _of_arguments(old: Any, new: Any) -> Iterator[str]:
    before, after = _flags(old), _flags(new)
    said = False
    for flag in [*before, *(each for each in after if each not in before)]:
        if before.get(flag) == after.get(flag):
            continue
        said = True
        if flag in _SHOWN_FLAGS:
            yield from _arrow(flag, before.get(flag), after.get(flag))
        else:
            yield flag
    if not said:
        yield "command"


def _flags(arguments: Any) -> dict[str, str]:
    """Return the long flags of a command with their values."""
    words = [str(each) for each in arguments] if isinstance(arguments, list) else []
    found: dict[str, str] = {}
    for number, word in enumerate(words):
        if word.startswith("--"):
            flag, equals, value = word.partition("=")
            following = words[number + 1] if number + 1 < len(words) else ""
            found[flag] = value if equals else "" if following.startswith("--") else following
    return found


def _environment(entries: Any) -> dict[str, Any]:
    listed = entries if isinstance(entries, list) else ()
    return {str(each.get("name")): each for each in listed if isinstance(each, Mapping)}


def _pairs(old: Workload, new: Workload) -> Iterator[tuple[Pods, Pods]]:
    """Pair the templates: leader with leader, worker with worker."""
    yield old.pods[0], new.pods[0]
    if len(old.pods) > 1 or len(new.pods) > 1:
        yield old.pods[-1], new.pods[-1]


def _arrow(what: str, old: Any, new: Any) -> Iterator[str]:
    if old != new:
        yield f"{what} {shown(old)} → {shown(new)}"


def shown(value: Any) -> str:
    """Show a value that cannot be secret by its nature, shortly."""
    if value is UNKNOWN:
        return "not known yet"
    text = "none" if value in (None, "") else without_tokens(str(value))
    return text if len(text) <= 120 else f"{text[:119]}…"


def _differing_keys(old: Any, new: Any) -> list[str]:
    before, after = (value if isinstance(value, Mapping) else {} for value in (old, new))
    return [str(key) for key in {**before, **after} if before.get(key) != after.get(key)]


def _differing(old: Any, new: Any, location: tuple[int | str, ...]) -> Iterator[tuple[int | str, ...]]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            yield from _differing(old.get(key), new.get(key), (*location, str(key)))
    elif isinstance(old, Sequence) and isinstance(new, Sequence) and not isinstance(old, str) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differing(before, after, (*location, index))
    else:
        yield location


def _short(path: str) -> str:
    return ".".join(path.split(".")[-2:])
