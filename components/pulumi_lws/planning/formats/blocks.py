"""Pieces of text pictures: lines of styled spans, boxes, and boxes beside one another."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

Span = tuple[str, str]
"""A piece of a line and its style, as ``rich`` names styles."""

Line = list[Span]
"""A line, piece by piece."""

_LEAST_ROOM = 20

GAP = 1
"""Columns between two boxes."""


def width_of(line: Iterable[Span]) -> int:
    """Return the columns of a line."""
    return sum(len(text) for text, _ in line)


def box(title: str, lines: Sequence[Line], style: str = "") -> list[Line]:
    """Draw a box around lines of equal width; a title that is too long is cut."""
    inner = max(width_of(line) for line in lines) + 2
    shown = title if len(title) <= inner - 3 else title[: inner - 4] + "…"
    top = f"╭ {shown} " + "─" * (inner - len(shown) - 2) + "╮"
    sides = [[("│ ", style), *line, (" │", style)] for line in lines]
    return [[(top, style)], *sides, [("╰" + "─" * inner + "╯", style)]]


def beside(boxes: Sequence[list[Line]], width: int) -> Iterator[Line]:
    """Yield boxes of equal size beside one another, as many in a row as fit."""
    if not boxes:
        return
    per_row = max((width + GAP) // (width_of(boxes[0][0]) + GAP), 1)
    for first in range(0, len(boxes), per_row):
        row = boxes[first : first + per_row]
        for lines in zip(*row, strict=True):
            joined: Line = []
            for line in lines:
                joined += [(" " * GAP, "")] if joined else []
                joined += line
            yield joined


def wrapped(label: str, text: str, width: int, *, style: str = "", label_style: str = "") -> Iterator[Line]:
    """Yield a text beside its label, on as many lines as it needs; below a label that takes most of the width."""
    if len(label) > width - _LEAST_ROOM:
        yield from ([(part, label_style)] for part in textwrap.wrap(label, width))
        label = ""
    for number, part in enumerate(textwrap.wrap(text, width - len(label), break_on_hyphens=False) or [""]):
        yield [(label if number == 0 else " " * len(label), label_style), (part, style)]


def bar(parts: Sequence[tuple[float, str, str]], whole: float, columns: int) -> Line:
    """Draw shares of a whole as a bar.

    Args:
        parts: Amount, character and style of each share.
        whole: The amount that the whole bar stands for.
        columns: Width of the bar.
    """
    line: Line = []
    end, drawn = 0.0, 0
    for amount, character, style in parts:
        end += max(amount, 0)
        until = min(round(end / whole * columns), columns)
        # What is there is seen, however small.
        until = max(until, min(drawn + 1, columns)) if amount > 0 else max(until, drawn)
        line.append((character * (until - drawn), style))
        drawn = until
    return [*line, ("·" * (columns - drawn), "dim")]
