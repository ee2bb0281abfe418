"""Reading manifests that anybody may have written: fields are missing, of the wrong type, or not known yet."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity


class Unknown(Enum):
    """The type of the one value that stands for what is not known before the update."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        """Read like a value that is shown."""
        return "a value not known yet"


UNKNOWN: Final = Unknown.UNKNOWN
"""Stands in a manifest where the real value is made during the update."""


def value_at(manifest: Any, *path: str, default: Any = None) -> Any:
    """Return the value at ``path``; ``default`` where it or a parent is missing, null or no mapping.

    A value below something unknown is unknown.
    """
    value = manifest
    for part in path:
        if value is UNKNOWN:
            return UNKNOWN
        value = value.get(part) if isinstance(value, Mapping) else None
    return default if value is None else value


def whole_number(value: Any, default: int) -> int | Unknown:
    """Return ``value`` as a number; ``default`` where it is none. The engine sends whole numbers as floats.

    Numbers of more than 64 bits are none to the API server either.
    """
    if isinstance(value, Unknown):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and -(2**63) <= value < 2**63 else default


def unseen(path: str, question: str) -> Problem:
    """Return the report that a rule could not answer ``question`` because the value at ``path`` is not known yet."""
    return Problem(
        path,
        "a value not known before the update",
        "a plain value",
        f"Make it plain, so that a preview can tell {question}.",
        Severity.UNSEEN,
    )
