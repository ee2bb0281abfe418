"""What is wrong with a declaration, said so that the reader can mend it.

Planning and rules return problems instead of raising, so that all of them are shown at once. Only the edge of the
library (a component, a command) turns them into an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from pydantic_core import PydanticCustomError

from pulumi_lws.planning.secrets import without_tokens


class Severity(StrEnum):
    """How bad a problem is."""

    ERROR = "error"
    """It would be refused, hang, or break a running deployment: nothing is applied."""
    WARNING = "warning"
    """It works, at a price that the reader may not know."""
    UNSEEN = "unseen"
    """A value is not known before the update, so the rule could not judge it."""


@dataclass(frozen=True)
class Problem:
    """One thing to mend.

    Attributes:
        path: Where it stands, in the reader's own spelling, such as ``deployments.glm-5.parallelism.tensor``.
        found: What stands there.
        allowed: What may stand there.
        fix: What to do, as an imperative sentence.
        severity: How bad it is.
        rule: Name of the rule that found it; empty for the shape of a declaration itself.
        refused: Whether the API server would refuse the object for it.
    """

    path: str
    found: str
    allowed: str
    fix: str
    severity: Severity = Severity.ERROR
    rule: str = ""
    refused: bool = False

    def __post_init__(self) -> None:
        """Take tokens out of every text: problems are printed, logged and sent to reviewers."""
        for field in ("path", "found", "allowed", "fix"):
            object.__setattr__(self, field, without_tokens(getattr(self, field)))

    def __str__(self) -> str:
        """Say the problem in one line."""
        where = f"{self.path}: " if self.path else ""
        return f"{where}found {self.found}; allowed: {self.allowed}. {self.fix}"

    def below(self, prefix: str) -> "Problem":
        """Return the same problem with ``prefix`` before its path."""
        path = f"{prefix}.{self.path}" if self.path else prefix
        return replace(self, path=path)


def describe(problems: Sequence[Problem], subject: str) -> str:
    """Say all problems of ``subject`` at once: a headline, then a line for each."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    return "\n".join([f"{subject} has {count}:", *(f"  - {problem}" for problem in problems)])


def errors_of(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems that forbid applying."""
    return [problem for problem in problems if problem.severity is Severity.ERROR]


def invalid(allowed: str, fix: str, *, field: str = "", found: str = "") -> PydanticCustomError:
    """Return the error that a validator raises to say what is allowed and how to get there.

    Pydantic adds the path and the value that was found. The validator of a whole model names the field that it means,
    and what it found there.
    """
    # Not in the message: pydantic would read braces in it as fields of a template.
    return PydanticCustomError(
        "problem", "not allowed", {"allowed": allowed, "fix": fix, "field": field, "found": found}
    )


def path_of(location: Iterable[int | str]) -> str:
    """Write a location as a reader would: ``roles[1].name``."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path


_LONGEST_TEXT = 200


def shown(value: Any) -> str:
    """Show a value shortly. A mapping or list is named by its shape: it may hold a secret, and is too long anyway."""
    match value:
        case None:
            text = "nothing"
        case bool():
            text = str(value).lower()
        case int() | float():
            text = str(value)
        case str():
            text = repr(value if len(value) <= _LONGEST_TEXT else f"{value[:_LONGEST_TEXT]}…")
        case list() | tuple():
            text = f"a list of {len(value)}"
        case Mapping():
            text = "a mapping with " + (", ".join(map(str, value)) or "no fields")
        case _:
            # Its own text may be long, secret, or an error: that of an Output of Pulumi is.
            text = f"a value of the type {type(value).__name__}"
    return text
