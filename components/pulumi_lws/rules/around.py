"""Looking around among the objects of a program by indexes, each of which is made once (``Program.once``).

Names and labels may be of any shape in what anybody wrote, lists among them. So they are told apart by ``repr``.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> Mapping[_Key, list[_Value]]:
    """Return the values by key, in order."""
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
