"""A small writer of SVG: shapes, and text that is wrapped by the width of a monospaced font."""

import textwrap
from collections.abc import Sequence
from html import escape

_CHARACTER = 7.25
"""Width of a character at 12 px: monospaced fonts have about 0.6 em."""

_LINE = 18


class Canvas:
    """Collects shapes from top to bottom; ``y`` is where the next line starts."""

    def __init__(self, width: int, margin: int) -> None:
        self.y = float(margin)
        self._width = width
        self._margin = margin
        self._shapes: list[str] = []

    def skip(self, height: float) -> None:
        """Leave room."""
        self.y += height

    def rectangle(self, x: float, y: float, width: float, height: float, style: str, *, radius: float = 0) -> None:
        """Draw a rectangle; ``style`` names classes of the style sheet."""
        if width > 0:
            size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
            rounded = f' rx="{radius:g}"' if radius else ""
            self._shapes.append(f'<rect {size}{rounded} class="{style}"/>')

    def vertical(self, x: float, top: float, bottom: float, style: str) -> None:
        """Draw a vertical line."""
        self._shapes.append(f'<path d="M{x:.1f} {top:.1f}V{bottom:.1f}" class="{style}"/>')

    def text(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> None:
        """Write text with its baseline at ``y``."""
        anchored = f' text-anchor="{anchor}"' if anchor != "start" else ""
        styled = f' class="{style}"' if style else ""
        self._shapes.append(f'<text x="{x:.1f}" y="{y:.1f}"{anchored}{styled}>{escape(text)}</text>')

    def fitting_text(self, x: float, width: float, y: float, candidates: Sequence[str], style: str) -> None:
        """Write the first of the texts that fits between ``x`` and ``x + width``, in the middle; none if none does."""
        fitting = [text for text in candidates if len(text) * _CHARACTER + 6 <= width]
        if fitting:
            self.text(x + width / 2, y, fitting[0], style, anchor="middle")

    def line(self, text: str, style: str = "") -> None:
        """Write one line."""
        self.text(self._margin, self.y + 13, text, style)
        self.y += _LINE + 4 * style.startswith("title")

    def paragraph(self, text: str, style: str = "") -> None:
        """Write text on as many lines as it needs."""
        self._write(text, self._margin, style)

    def labelled(self, label: str, text: str, *, indent: float = 0, column: float = 0, style: str = "") -> None:
        """Write a label and, beside it, text on as many lines as it needs.

        Args:
            label: The label.
            text: The text.
            indent: Where the label starts, from the margin.
            column: Where the text starts, from the label; by default right after it.
            style: Style of the label; by default that of a name.
        """
        x = self._margin + indent
        self.text(x, self.y + 13, label, style or "name")
        self._write(text, x + (column or (len(label) + 2) * _CHARACTER), "quiet" if not column else "")

    def _write(self, text: str, x: float, style: str) -> None:
        columns = int((self._width - self._margin - x) / _CHARACTER)
        for part in textwrap.wrap(text, columns, break_on_hyphens=False) or [""]:
            self.text(x, self.y + 13, part, style)
            self.y += _LINE

    def document(self, title: str, style: str) -> str:
        """Return the whole picture. ``title`` is what a screen reader says."""
        height = self.y + self._margin
        size = f'width="{self._width}" height="{height:.0f}" viewBox="0 0 {self._width} {height:.0f}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">',
                f"<style>{style}</style>",
                f'<rect x="0.5" y="0.5" width="{self._width - 1}" height="{height - 1:.0f}" rx="8" class="page"/>',
                *self._shapes,
                "</svg>\n",
            ]
        )
