"""Flags of SGLang's server, so that a command line is judged before a GPU node boots for it.

The table is ``sglang_flags.json``: of one version each flag, its other names, and what follows it. Source: the argument
definitions in the released wheel (``sglang/srt/arg_groups/fields`` and ``sglang/srt/server_args.py``).
"""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

Takes = Literal["nothing", "one", "many"]
"""What follows a flag: nothing, one value, or any number of values."""


@dataclass(frozen=True)
class SglangFlags:
    """The flags of one version.

    Attributes:
        version: The version that was read.
        takes: What follows each flag, by its first name.
        names: The first name of a flag by each of its names.
    """

    version: str
    takes: Mapping[str, Takes]
    names: Mapping[str, str]

    def find(self, word: str) -> str | None:
        """Return the first name of the flag that a word means; None for no flag, or for several.

        SGLang's parser takes the beginning of a name for the whole, where only one begins so: ``--tp`` is
        ``--tp-size``.
        """
        name = word.partition("=")[0]
        if name in self.names:
            return self.names[name]
        meant = {self.names[full] for full in self.names if full.startswith(name)} if name.startswith("--") else set()
        return meant.pop() if len(meant) == 1 else None

    def nearest(self, word: str) -> str | None:
        """Return the name that is closest to an unknown one; None where none is close."""
        name = word.partition("=")[0]
        begun = [full for full in self.names if full.startswith(name)]
        return min(begun, key=len) if begun else next(iter(difflib.get_close_matches(name, self.names, n=1)), None)


@cache
def sglang_flags() -> SglangFlags:
    """Return the table; it is read when it is first asked for."""
    text = (resources.files("pulumi_lws.facts") / "sglang_flags.json").read_text(encoding="utf-8")
    data = json.loads(text)
    names: dict[str, str] = {}
    for name, entry in data["flags"].items():
        names |= dict.fromkeys([name, *entry.get("aliases", ())], name)
        if entry.get("deniable"):
            names[name.replace("--", "--no-", 1)] = name
    return SglangFlags(
        data["version"], {name: entry.get("takes", "one") for name, entry in data["flags"].items()}, names
    )
