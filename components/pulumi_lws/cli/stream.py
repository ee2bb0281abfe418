"""Standard output: delivering a report there, and colours where it is a terminal."""

import io
import sys
from collections.abc import Callable, Iterable
from typing import TextIO

import typer


def deliver(write: Callable[[TextIO], None]) -> None:
    """Let ``write`` write a report to standard output.

    Raises:
        typer.Exit: It cannot be written; the reason is said on standard error.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What this terminal or pipe cannot show is spelt out.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        write(sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # whoever read it has seen enough
    except (OSError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is closed"
        # Python would try once more to write what is left.
        sys.stdout = None
        typer.echo(f"The report cannot be written: {reason}.", err=True)
        raise typer.Exit(2) from None


def print_lines(lines: Iterable[list[tuple[str, str]]], stream: TextIO) -> None:
    """Print lines of pieces with their styles, as ``rich`` names them."""
    # Only a terminal needs it, and it takes as long to load as all the rest.
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*line))
