"""Reading the words of a container as the commands that run: a shell splits its script, and nothing else is split."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

Line = tuple[str, ...]
"""The words of one command."""

_SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "zsh"})
# Few letters, since engines have options such as -cc and -dcp.
_TAKES_SCRIPT: Final = re.compile(r"-[eiluvx]*c[eiluvx]*")
_HERE_DOCUMENT: Final = re.compile(r"(?<!<)<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n(?:.*?\n)??[ \t]*\2(?=\s|$)", re.DOTALL)
_PIECES: Final = re.compile(
    r"""
    (?P<gap>[^\S\n]+|(?<![^\s;&|()])\#[^\n]*)
    |(?P<substitution>\$\((?:[^()]|\([^()]*\))*\))
    |(?P<redirection>[<>]&)
    |(?P<end>[;&|()\n])
    |'(?P<single>[^']*)'
    |"(?P<double>(?:\\.|[^"\\])*)"
    |\\(?P<escaped>.)
    |(?P<plain>[^\s;&|()'"\\<>$\#]+|.)
    """,
    re.DOTALL | re.VERBOSE,
)
_ESCAPED: Final = re.compile(r"\\([\"\\$`])")
_WITH_VALUE: Final = re.compile(r"(--?[A-Za-z][\w.-]*)=(.*)", re.DOTALL)
_OPTION: Final = re.compile(r"--[\w-]+")


def lines_of(words: Sequence[str]) -> Iterator[Line]:
    """Yield the commands that some words run: those of a script where a shell is given one, else the words alone.

    Options are spelled alike: ``--a_b=c`` becomes ``--a-b`` and ``c``.
    """
    script = _script_of(words)
    if script is None:
        yield tuple(part for word in words for part in _spelled(word))
        return
    for line in _split(_HERE_DOCUMENT.sub(r"\3", script).replace("\\\n", "")):
        yield from lines_of(line)


def _script_of(words: Sequence[str]) -> str | None:
    """Return what the first shell among some words is to run; None where it is a file, or there is no shell.

    Words that begin with ``-c`` are arguments of a shell that the image starts.
    """
    shells = (index for index, word in enumerate(words) if word.rpartition("/")[2] in _SHELLS)
    first = -1 if words and _TAKES_SCRIPT.fullmatch(words[0]) else next(shells, len(words))
    options = words[first + 1 :]
    for index, option in enumerate(options[:-1]):
        if _TAKES_SCRIPT.fullmatch(option):
            return next((word for word in options[index + 1 :] if word != "--"), None)
        if not option.startswith(("-", "+")) and option != "pipefail":
            return None
    return None


def _split(script: str) -> Iterator[Line]:
    """Yield the commands of a script as their words, quotes removed; what a command is filled in from comes first."""
    words: list[str] = []
    word: str | None = None
    for piece in _PIECES.finditer(f"{script}\n"):
        kind = str(piece.lastgroup)
        text = piece[kind]
        if kind in ("gap", "end"):
            words += [] if word is None else [word]
            word = None
            if kind == "end" and words:
                yield tuple(words)
                words = []
            continue
        if kind == "substitution":
            yield from _split(text[2:-1])
        word = (word or "") + (_ESCAPED.sub(r"\1", text) if kind == "double" else text)


def _spelled(word: str) -> Line:
    option, value = found.groups() if (found := _WITH_VALUE.fullmatch(word)) else (word, None)
    name = option.replace("_", "-") if _OPTION.fullmatch(option) else option
    return (name,) if value is None else (name, value)
