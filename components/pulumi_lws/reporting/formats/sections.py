"""Folded parts of a comment, made shorter until it fits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Section:
    """A folded part.

    Attributes:
        title: What it is called while it is folded.
        head: Lines before the rows.
        rows: What may be left out from the end.
        foot: Lines after the rows.
        is_open: Whether it starts unfolded.
        left_out: Rows that were left out.
    """

    title: str
    rows: tuple[str, ...]
    head: tuple[str, ...] = ()
    foot: tuple[str, ...] = ()
    is_open: bool = False
    left_out: int = 0

    def lines(self) -> Iterator[str]:
        """Yield it line by line."""
        yield f"<details{' open' if self.is_open else ''}><summary>{self.title}</summary>"
        yield ""
        yield from (*self.head, *self.rows)
        if self.left_out:
            yield ""
            yield f"… and {self.left_out} more"
        if self.foot:
            yield ""
        yield from self.foot
        yield ""
        yield "</details>"

    def shorter(self) -> "Section":
        """Return it with half of its rows."""
        kept = len(self.rows) // 2
        return replace(self, rows=self.rows[:kept], left_out=self.left_out + len(self.rows) - kept)

    @property
    def length(self) -> int:
        """Characters of its rows."""
        return sum(map(len, self.rows)) + len(self.rows)


def fitting(top: Sequence[str], sections: Sequence[Section], longest: int) -> str:
    """Return the text of all, with at most ``longest`` characters: the longest sections lose rows first."""
    sections = list(sections)
    text = _text(top, sections)
    while len(text) > longest and any(section.rows for section in sections):
        index = max(range(len(sections)), key=lambda each: sections[each].length)
        sections[index] = sections[index].shorter()
        text = _text(top, sections)
    return text if len(text) <= longest else text[: max(0, longest - 2)].rstrip() + "…\n"


def _text(top: Sequence[str], sections: Sequence[Section]) -> str:
    return "\n".join([*top, *(line for section in sections for line in ("", *section.lines()))]) + "\n"
