"""The arguments that a user adds to the command line of an engine, as its parser reads them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pulumi_lws.planning.problems import Problem

Takes = Literal["nothing", "one", "many"]
"""What follows a flag: nothing, one value, or any number of values."""

# A number below zero is a value.
_FLAG = re.compile(r"--?[A-Za-z]")


@dataclass(frozen=True)
class Argument:
    """A flag with what follows it, or a word that belongs to no flag.

    Attributes:
        path: Where it stands, such as ``extraArguments[2]``.
        word: The word as it stands there.
        takes: What follows such a flag.
        values: Its values, also one behind ``=``.
    """

    path: str
    word: str
    takes: Takes
    values: tuple[str, ...] = ()

    @property
    def is_flag(self) -> bool:
        """Whether it is a flag."""
        return is_flag(self.word)

    @property
    def lacks_value(self) -> bool:
        """Whether the engine would take the next flag, or the end, for its value, and stop."""
        return self.is_flag and self.takes == "one" and not self.values


def is_flag(word: str) -> bool:
    """Tell whether a word is a flag and no value."""
    return _FLAG.match(word) is not None


def arguments_of(words: Sequence[str], takes: Callable[[str], Takes]) -> Iterator[Argument]:
    """Read added arguments.

    Args:
        words: The words.
        takes: Tells what follows a flag.
    """
    position = 0
    while position < len(words):
        word, path = words[position], f"extraArguments[{position}]"
        position += 1
        if not is_flag(word):
            yield Argument(path, word, "nothing")
            continue
        kind = takes(word)
        values = [word.partition("=")[2]] if "=" in word else []
        most = {"nothing": 0, "one": 1 - len(values), "many": 0 if values else len(words)}[kind]
        while most and position < len(words) and not is_flag(words[position]):
            values.append(words[position])
            position, most = position + 1, most - 1
        yield Argument(path, word, kind, tuple(values))


def shape_problem(argument: Argument) -> Problem | None:
    """Return what is wrong with how an argument is written, whatever the flag is."""
    if not argument.is_flag:
        allowed = "a flag, or the value of the flag before it, where that takes one"
        return Problem(argument.path, argument.word or "an empty word", allowed, "Remove it.")
    if argument.lacks_value:
        return Problem(argument.path, f"{argument.word}, without a value", "a value behind it", "Write its value.")
    return None
