"""Mappings and lists that remember where in their file each part stands, and how it was written."""

import json
import re
from collections.abc import Iterator
from typing import Any

_LONGEST_PATH = 2_000
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")


class LocatedMapping(dict[str, Any]):
    """A mapping; ``lines`` has the line of each key, ``written`` the text of plain scalars that are no text."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}
        self.written: dict[str, str] = {}


class LocatedList(list[Any]):
    """A list; ``lines`` has the line of each item, ``written`` the text of plain scalars that are no text."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[int, int] = {}
        self.written: dict[int, str] = {}


def extend_path(path: str, part: str | int) -> str:
    """Return the path of a part, as rules write it: ``metadata.labels['app.kubernetes.io/name']``, ``roles[1]``."""
    if isinstance(part, int):
        return f"{path}[{part}]"
    if not _PLAIN_KEY.fullmatch(part):
        return f"{path}['{part}']"
    return f"{path}.{part}" if path else part


def line_of(value: Any, path: str, line: int) -> int:
    """Return the line of what stands at ``path`` below ``value``, or of the nearest thing around it.

    Args:
        value: What was read.
        path: Path of a problem; a key with dots may stand in it as it is, or in brackets.
        line: The line of ``value`` itself.
    """
    for container, part, _rest in _steps(value, path):
        line = container.lines.get(part, line)
    return line


def written_at(value: Any, path: str) -> str | None:
    """Return how the number, true or false at ``path`` was written, such as ``yes``; None if there is none."""
    for container, part, rest in _steps(value, path):
        item = container[part]
        if not rest and isinstance(item, bool | int | float):
            return str(container.written.get(part) or json.dumps(item))
    return None


def _steps(value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """Walk along a path as far as it is there: each container, the part that is taken from it, and what remains."""
    while 0 < len(path) < _LONGEST_PATH and isinstance(value, LocatedMapping | LocatedList):
        taken = _taken_from_list(path) if isinstance(value, LocatedList) else _taken_from_mapping(value, path)
        if taken is None or (isinstance(value, LocatedList) and taken[0] not in range(len(value))):
            return
        part, rest = taken
        path = rest.removeprefix(".")
        yield value, part, path
        value = value[part]


def _taken_from_list(path: str) -> tuple[Any, str] | None:
    match = re.match(r"\[(\d{1,9})\]", path)
    return (int(match[1]), path[match.end() :]) if match else None


def _taken_from_mapping(mapping: LocatedMapping, path: str) -> tuple[Any, str] | None:
    if (match := re.match(r"\['(.*?)'\]", path)) and match[1] in mapping:
        return match[1], path[match.end() :]
    # The longest first: a key may have dots.
    for end in reversed([match.start() for match in re.finditer(r"[.\[]|$", path)]):
        if path[:end] in mapping:
            return path[:end], path[end:]
    return None
