"""Writing a report to where it is wanted, in the form that is wanted."""

import io
from typing import TextIO

from pulumi_lws.checking.formats import github, json, sarif, text
from pulumi_lws.checking.report import Report
from pulumi_lws.cli.check import Format

_RENDERERS = {
    Format.TEXT: text.plain,
    Format.JSON: json.render,
    Format.SARIF: sarif.render,
    Format.GITHUB: github.render,
}


def write(report: Report, form: Format, stream: TextIO) -> None:
    """Write a report; text for people with colours if ``stream`` is a terminal."""
    if isinstance(stream, io.TextIOWrapper):
        # A name that this terminal or pipe cannot show is spelt out.
        stream.reconfigure(errors="backslashreplace")
    if form is Format.TEXT and stream.isatty():
        _write_coloured(report, stream)
    else:
        stream.write(_RENDERERS[form](report))


def _write_coloured(report: Report, stream: TextIO) -> None:
    # Only a terminal needs it, and it takes as long to load as all the rest.
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in text.lines_of(report):
        console.print(Text.assemble(*line))
