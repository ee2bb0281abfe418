"""Compares what a program wrote with what the SDK's table allows; pure."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lab.aws.tables import Properties, Table
from lab.aws.wire import UNKNOWN


class Finding(NamedTuple):
    """What is wrong with one property.

    Attributes:
        path: The property, such as ``vpcConfig.subnetIds[0]``.
        reason: A sentence for the person who wrote it.
    """

    path: str
    reason: str


def check(table: Table, values: Mapping[str, Any]) -> list[Finding]:
    """What the table of a resource type or function does not allow, in the order of the properties."""
    return list(_object(table["token"], table["inputs"], table["objects"], values, ""))


def _object(
    called: str, properties: Properties, objects: Mapping[str, Properties], values: Mapping[str, Any], prefix: str
) -> Iterator[Finding]:
    for name, declared in properties.items():
        if declared["required"] and name not in values:
            yield Finding(prefix + name, f"{called} requires {name}, but it is not set.")
    for name, value in values.items():
        if name in properties:
            yield from _value(properties[name]["type"], objects, value, prefix + name)
        elif not name.startswith("__"):
            near = difflib.get_close_matches(name, properties, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            yield Finding(prefix + name, f"{called} has no property {name}.{hint}")


def _value(declared: Any, objects: Mapping[str, Properties], value: Any, path: str) -> Iterator[Finding]:
    if value == UNKNOWN or declared == "any":
        return
    if isinstance(declared, str):
        if not _is(declared, value):
            yield Finding(path, f"{path} must be of type {declared}, not {_named(value)}.")
        return
    [(form, of)] = declared.items()
    kind: type[Any] = {"list": list, "map": dict, "object": dict}.get(form, object)
    if not isinstance(value, kind):
        yield Finding(path, f"{path} must be of type {'list' if kind is list else 'object'}, not {_named(value)}.")
    elif form == "choice" and value not in of:
        yield Finding(path, f"{path} must be one of {', '.join(map(str, of))}, not {value!r}.")
    elif form == "either":
        outcomes = [list(_value(one, objects, value, path)) for one in of]
        # What is wrong with the alternative that comes nearest: one of the right type says more than one of another.
        yield from min(outcomes, key=lambda found: (bool(found), any(one.path == path for one in found)))
    elif form == "object":
        yield from _object(path, objects[of], objects, value, f"{path}.")
    elif form == "map":
        for name, item in value.items():
            yield from _value(of, objects, item, f"{path}.{name}")
    elif form == "list":
        for position, item in enumerate(value):
            yield from _value(of, objects, item, f"{path}[{position}]")


def _is(declared: str, value: Any) -> bool:
    if isinstance(value, bool) or declared == "boolean":
        return isinstance(value, bool) and declared == "boolean"
    kinds: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float)}
    return isinstance(value, kinds[declared])


def _named(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "list", dict: "object"}
    return names.get(type(value), type(value).__name__)
