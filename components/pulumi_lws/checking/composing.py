"""YAML events to values.

The parser's events are read instead of its values: that gives lines, finds duplicate keys, and stops at the bounds
before anything large is built.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from pulumi_lws.checking.located import LocatedList, LocatedMapping
from pulumi_lws.checking.scalars import Scalar, key_text, resolve

MAXIMUM_DEPTH = 100
"""Most levels of nesting. The deepest schema inside a CRD has about 40."""
MAXIMUM_VALUES = 1_000_000
"""Most values of one file, each alias counted as often as what it stands for. A LeaderWorkerSet has about 300."""

TOO_MANY_VALUES = f"more than {MAXIMUM_VALUES:,} values in one file, aliases written out"
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class CannotReadError(Exception):
    """A document breaks a bound, or says something that the Kubernetes tools do not take."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class Budget:
    """Counts the values of a file."""

    values: int = 0

    @property
    def is_spent(self) -> bool:
        """Whether the file has more than the most."""
        return self.values > MAXIMUM_VALUES


def read_yaml(chunk: str, first_line: int, budget: Budget) -> Iterator[tuple[int, Any]]:
    """Yield the line and the value of each document of a text.

    Raises:
        CannotReadError: A document breaks a bound, or cannot be JSON.
        yaml.YAMLError: A document is no YAML.
    """
    line = first_line
    composer = _Composer(first_line, budget)
    for event in yaml.parse(chunk, Loader=_PARSER):
        if isinstance(event, yaml.DocumentStartEvent):
            line = _line_of(event, first_line)
            composer = _Composer(first_line, budget)
        elif isinstance(event, yaml.DocumentEndEvent):
            yield line, composer.root
        elif isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
            composer.take(event)


def _line_of(event: yaml.Event, first_line: int) -> int:
    return first_line + (event.start_mark.line if event.start_mark else 0)


@dataclass
class _Anchored:
    """What an anchor names; not complete while its mapping or list is still open."""

    value: Any = None
    weight: int = 1
    complete: bool = False


@dataclass
class _Frame:
    """A mapping or list under construction."""

    value: LocatedMapping | LocatedList
    anchored: _Anchored
    weight: int = 1
    key: str | None = None
    key_line: int = 0
    merges: bool = False
    own: dict[str, int] = field(default_factory=dict)


class _Composer:
    """Builds one value from the events of its document."""

    def __init__(self, first_line: int, budget: Budget) -> None:
        self.root: Any = None
        self._first_line = first_line
        self._budget = budget
        self._open: list[_Frame] = []
        self._anchors: dict[str, _Anchored] = {}

    def take(self, event: Any) -> None:
        """Take the next event.

        Raises:
            CannotReadError: The document breaks a bound or cannot be JSON.
        """
        line = _line_of(event, self._first_line)
        if isinstance(event, yaml.AliasEvent):
            anchored = self._named(event.anchor, line)
            self._place(anchored.value, anchored.weight, line)
        elif isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0]
            try:
                value = resolve(event.value, event.tag, plain=plain)
            except ValueError as error:
                raise CannotReadError(str(error), line) from None
            self._anchor(event.anchor, _Anchored(value, complete=True))
            self._place(value, 1, line, event.value if plain else "")
        elif isinstance(event, yaml.CollectionStartEvent):
            into = LocatedMapping() if isinstance(event, yaml.MappingStartEvent) else LocatedList()
            self._begin(_Frame(into, self._anchor(event.anchor, _Anchored(into))), line)
        else:
            frame = self._open.pop()
            frame.anchored.weight, frame.anchored.complete = frame.weight, True
            self._place(frame.value, frame.weight, line, counted=True)

    def _begin(self, frame: _Frame, line: int) -> None:
        if len(self._open) >= MAXIMUM_DEPTH:
            raise CannotReadError(f"more than {MAXIMUM_DEPTH} levels of nesting", line)
        self._count(1, line)
        self._open.append(frame)

    def _count(self, values: int, line: int) -> None:
        self._budget.values += values
        if self._budget.is_spent:
            raise CannotReadError(TOO_MANY_VALUES, line)

    def _anchor(self, name: str | None, anchored: _Anchored) -> _Anchored:
        if name is not None:
            self._anchors[name] = anchored
        return anchored

    def _named(self, anchor: str | None, line: int) -> _Anchored:
        if anchor is None or anchor not in self._anchors:
            raise CannotReadError(f"no anchor '{anchor}' stands before its alias", line)
        if not self._anchors[anchor].complete:
            raise CannotReadError(f"the value of anchor '{anchor}' contains itself", line)
        return self._anchors[anchor]

    def _place(self, value: Any, weight: int, line: int, written: str = "", *, counted: bool = False) -> None:
        if not counted:
            self._count(weight, line)
        if not self._open:
            self.root = value
            return
        frame = self._open[-1]
        frame.weight += weight
        into = frame.value
        merges = written == "<<"
        written = "" if isinstance(value, str) else written
        if isinstance(into, LocatedList):
            into.lines[len(into)] = line
            if written:
                into.written[len(into)] = written
            into.append(value)
        elif frame.merges:
            _merge(value, into, line)
            frame.merges = False
        elif frame.key is None:
            self._take_key(frame, value, line, merges=merges)
        else:
            into[frame.key] = value
            into.lines[frame.key] = frame.key_line
            into.written.pop(frame.key, None)
            if written:
                into.written[frame.key] = written
            frame.key = None

    @staticmethod
    def _take_key(frame: _Frame, value: Scalar | dict[str, Any] | list[Any], line: int, *, merges: bool) -> None:
        if isinstance(value, dict | list):
            raise CannotReadError("a mapping or a list as a key", line)
        if merges:
            frame.merges = True
            return
        try:
            key = key_text(value)
        except ValueError as error:
            raise CannotReadError(str(error), line) from None
        if key in frame.own:
            first = frame.own[key]
            raise CannotReadError(f"the key '{key}' stands twice, first on line {first}", line)
        frame.own[key] = frame.key_line = line
        frame.key = key


def _merge(value: Any, into: LocatedMapping, line: int) -> None:
    """Merge as the Kubernetes tools do: over the keys before it, under those after it, the first of a list on top."""
    for merged in reversed(value) if isinstance(value, list) else [value]:
        if not isinstance(merged, LocatedMapping):
            raise CannotReadError("<< merges something that is no mapping", line)
        into.update(merged)
        into.lines.update(merged.lines)
        into.written.update(merged.written)
