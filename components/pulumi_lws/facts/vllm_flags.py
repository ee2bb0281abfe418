"""Flags of ``vllm serve`` by version, so that a command line is judged before a GPU node boots for it.

The table is ``vllm_flags.json``: the versions that were read, and of each flag the first of them that has it, the last
one where a newer has it no more, what that has instead, and what follows it. Source: the argument definitions in the
released wheels (``vllm/engine/arg_utils.py`` and ``vllm/entrypoints``), and the parser of the newest, with which ``make
test-vllm`` compares the table.
"""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

Version = tuple[int, ...]
"""A version of vLLM, such as (0, 26, 0)."""

Takes = Literal["nothing", "one", "many"]
"""What follows a flag: nothing, one value, or any number of values."""

_INVERSES = {"--enable-": "--disable-", "--disable-": "--enable-"}
_INVERSES_SINCE: Version = (0, 33, 0)


@dataclass(frozen=True)
class Flag:
    """A flag as the table has it.

    Attributes:
        name: Its name with two dashes.
        first: First version read that has it; the oldest one read stands for older ones too.
        last: Last version read that has it; None where the newest does.
        takes: What follows it.
        instead: What newer versions have instead of it; None where it is gone, or not gone.
    """

    name: str
    first: Version
    last: Version | None = None
    takes: Takes = "one"
    instead: str | None = None


@dataclass(frozen=True)
class FlagTable:
    """The flags of ``vllm serve``.

    Attributes:
        versions: The versions that were read, oldest first.
        short: Long names of the short ones.
        flags: Flags by name.
    """

    versions: tuple[Version, ...]
    short: Mapping[str, str]
    flags: Mapping[str, Flag]

    def find(self, word: str) -> Flag | None:
        """Return the flag that a word of a command line means, in any spelling that vLLM takes; None for no flag."""
        name = self.name_of(word)
        if name in self.flags:
            return self.flags[name]
        if (denied := self._switch(name, "--no-", "--")) is not None:
            return denied
        for prefix, inverse in _INVERSES.items():
            if (inverted := self._switch(name, prefix, inverse)) is not None:
                return Flag(name, max(inverted.first, _INVERSES_SINCE), inverted.last, "nothing")
        return None

    def name_of(self, word: str) -> str:
        """Return the long name in a word: without a value, a path into a mapping, and underscores."""
        name = word.partition("=")[0].partition(".")[0]
        if name.startswith("-O"):
            return "--optimization-level"
        return self.short.get(name, name.replace("_", "-"))

    def _switch(self, name: str, prefix: str, instead: str) -> Flag | None:
        flag = self.flags.get(instead + name.removeprefix(prefix)) if name.startswith(prefix) else None
        return flag if flag is not None and flag.takes == "nothing" else None

    def has(self, name: str, version: Version) -> bool:
        """Tell whether a version surely has a flag."""
        flag = self.find(name)
        if flag is None:
            return False
        return (flag.first == self.versions[0] or version >= flag.first) and (flag.last is None or version <= flag.last)

    def is_too_new(self, flag: Flag, version: Version) -> bool:
        """Tell whether a version surely lacks a flag that newer ones have."""
        older = [read for read in self.versions if read < flag.first]
        return bool(older) and version <= older[-1]

    def is_removed(self, flag: Flag, version: Version) -> bool:
        """Tell whether a version surely lacks a flag that older ones had."""
        newer = [read for read in self.versions if flag.last is not None and read > flag.last]
        return bool(newer) and version >= newer[0]

    def nearest(self, word: str, version: Version) -> str | None:
        """Return the flag of a version whose name is closest to an unknown one; None where none is close."""
        known = [name for name in self.flags if self.has(name, version)]
        return next(iter(difflib.get_close_matches(self.name_of(word), known, n=1)), None)


@cache
def flag_table() -> FlagTable:
    """Return the table; it is read when it is first asked for."""
    text = (resources.files("pulumi_lws.facts") / "vllm_flags.json").read_text(encoding="utf-8")
    data = json.loads(text)
    flags = {
        name: Flag(
            name,
            version_of(entry["first"]),
            version_of(entry["last"]) if "last" in entry else None,
            entry.get("takes", "one"),
            entry.get("instead"),
        )
        for name, entry in data["flags"].items()
    }
    return FlagTable(tuple(map(version_of, data["versions"])), data["short"], flags)


def version_of(text: str) -> Version:
    """Return the numbers of a version: ``v0.26`` and ``0.26.0`` are (0, 26, 0)."""
    numbers = [int(number) for number in text.removeprefix("v").split(".")]
    return tuple([*numbers, 0, 0][:3])
