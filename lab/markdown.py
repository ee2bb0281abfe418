"""Parts of pages."""

from collections.abc import Iterable


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def block(text: str) -> str:
    """Return text as it stands: a block of code."""
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
