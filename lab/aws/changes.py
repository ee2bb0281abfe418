"""Tells how what a program wants differs from what it wanted before, and what takes a new object; pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lab.aws.kinds.kind import Kind
from lab.aws.tables import Table
from lab.aws.wire import UNKNOWN, as_document

_ORDERED = {"instanceTypes", "networkInterfaces"}
"""Lists whose order AWS keeps; most lists of plain values are sets to the real provider."""


@dataclass(frozen=True)
class Change:
    """One property that differs.

    Attributes:
        path: The property, such as ``vpcConfig.subnetIds[0]``.
        kind: ``ADD``, ``DELETE`` or ``UPDATE``.
        replaces: Whether the change takes a new object.
    """

    path: str
    kind: str
    replaces: bool


def changes(kind: Kind | None, table: Table, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """The properties that differ, by their paths."""
    found = []
    for path, before, after in _differences(old, new, ""):
        name = path.partition(".")[0].partition("[")[0]
        output = table["outputs"].get(name)
        if after is None and name == path and output and output["required"]:
            continue  # what AWS computes where nothing is asked for stays as it is
        word = "ADD" if before is None else "DELETE" if after is None else "UPDATE"
        found.append(Change(path, word, _replaces(kind, table, path, before, after)))
    return found


def _differences(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if _same(old, new, path):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            if not name.startswith("__"):
                yield from _differences(old.get(name), new.get(name), f"{path}.{name}" if path else name)
    elif isinstance(old, list) and isinstance(new, list):
        for position in range(max(len(old), len(new))):
            before = old[position] if position < len(old) else None
            after = new[position] if position < len(new) else None
            yield from _differences(before, after, f"{path}[{position}]")
    else:
        yield path, old, new


def _same(old: Any, new: Any, path: str) -> bool:
    if old == new and type(old) is type(new):
        return bool(old != UNKNOWN)
    if isinstance(old, list) and isinstance(new, list) and path.rpartition(".")[2] not in _ORDERED:
        plain = all(isinstance(item, str | int) and item != UNKNOWN for item in (*old, *new))
        return plain and sorted(map(str, old)) == sorted(map(str, new))
    document = as_document(old)
    return document is not None and document == as_document(new)


def _replaces(kind: Kind | None, table: Table, path: str, before: Any, after: Any) -> bool:
    plain = re.sub(r"\[\d+\]", "", path)
    if plain == "region" or plain.partition(".")[0] == "region":
        return True
    if kind is None:
        declared = table["inputs"].get(plain.partition(".")[0])
        return bool(declared and declared["replaces"])
    if any(plain == one or plain.startswith(f"{one}.") for one in kind.replaces):
        return True
    return any(plain == one and test(before, after) for one, test in kind.replaces_if.items())
