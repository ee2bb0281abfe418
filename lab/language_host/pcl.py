"""Reads the part of Pulumi's configuration language (PCL) in which the engine describes imported resources.

It is what ``pulumi import`` writes: blocks of attributes whose values are literals, lists, objects, references to other
resources and calls such as ``secret(…)``. Programs that people write in PCL have more, which is refused.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

TOKEN = re.compile(
    r"""
    \s+ | \#[^\n]*
    | (?P<string> "(?: [^"\\] | \\. )*" )
    | (?P<number> -?\d+ (?: \.\d+ )? (?: [eE][-+]?\d+ )? )
    | (?P<name> [A-Za-z_][\w-]* )
    | (?P<sign> [\[\]{}(),=.] )
    """,
    re.VERBOSE,
)

CONSTANTS = {"true": True, "false": False, "null": None}


class PclError(Exception):
    """The text is not of the part of the language that is read here."""


@dataclass(frozen=True)
class Reference:
    """``name.attribute…``: a resource or one of its properties."""

    path: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """``function(argument)``."""

    function: str
    argument: Any


class Property(str):
    """A key that was written without quotes: the name of a property, which each language spells in its own way."""

    __slots__ = ()


@dataclass
class Block:
    """``kind "label" … { attributes and blocks }``."""

    kind: str
    labels: list[str] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    blocks: list["Block"] = field(default_factory=list)


def parse(text: str) -> list[Block]:
    """The blocks of a text, in order.

    Raises:
        PclError: The text has something else in it.
    """
    return _Parser(text).body("").blocks


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))

    def _next(self) -> tuple[str, str]:
        return self._tokens.pop(0)

    def _take(self, sign: str) -> bool:
        found = self._tokens[0] == ("sign", sign)
        if found:
            self._next()
        return found

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise PclError(f"{self._tokens[0][1]!r} stands where {sign!r} is needed")

    def body(self, kind: str) -> Block:
        """What stands in a block, up to its end."""
        block = Block(kind)
        while self._tokens[0][0] == "name":
            _, name = self._next()
            if self._take("="):
                block.attributes[Property(name)] = self._value()
                continue
            labels = []
            while not self._take("{"):
                labels.append(self._key())
            inner = self.body(name)
            inner.labels = labels
            block.blocks.append(inner)
            self._need("}")
        return block

    def _key(self) -> str:
        kind, text = self._next()
        if kind == "string":
            return _unquoted(text)
        if kind == "name":
            return Property(text)
        raise PclError(f"{text!r} stands where a name is needed")

    def _value(self) -> Any:
        kind, text = self._next()
        if kind == "string":
            return _unquoted(text)
        if kind == "number":
            number = float(text)
            return int(number) if number.is_integer() else number
        if kind == "name":
            return CONSTANTS[text] if text in CONSTANTS else self._reference_or_call(text)
        items: Any
        if text == "[":
            items = []
            while not self._take("]"):
                items.append(self._value())
                self._take(",")
            return items
        if text == "{":
            items = {}
            while not self._take("}"):
                key = self._key()
                self._need("=")
                items[key] = self._value()
                self._take(",")
            return items
        raise PclError(f"{text!r} stands where a value is needed")

    def _reference_or_call(self, name: str) -> Reference | Call:
        if self._take("("):
            argument = self._value()
            self._need(")")
            return Call(name, argument)
        path = [name]
        while self._take("."):
            path.append(self._key())
        return Reference(tuple(path))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(text):
        found = TOKEN.match(text, position)
        if not found:
            raise PclError(f"{text[position : position + 20]!r} cannot be read")
        position = found.end()
        if found.lastgroup:
            yield found.lastgroup, found[0]
    yield "end", "the end"


def _unquoted(text: str) -> str:
    # A `$` or `%` before a brace is doubled where it is meant as it stands.
    if re.search(r"(?<!\$)\$\{|(?<!%)%\{", text):
        raise PclError(f"the template {text} cannot be read")
    try:
        plain: str = json.loads(text.replace("$${", "${").replace("%%{", "%{"), strict=False)
    except ValueError:
        raise PclError(f"the string {text} cannot be read") from None
    return plain
