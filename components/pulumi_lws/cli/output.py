"""Writing a report to where it is wanted, in the form that is wanted."""

from typing import TextIO

from pulumi_lws.checking.formats import github, json, sarif, text
from pulumi_lws.checking.report import Report
from pulumi_lws.cli.check import Format
from pulumi_lws.cli.stream import print_lines

_RENDERERS = {
    Format.TEXT: text.plain,
    Format.JSON: json.render,
    Format.SARIF: sarif.render,
    Format.GITHUB: github.render,
}


def write(report: Report, form: Format, stream: TextIO) -> None:
    """Write a report; text for people with colours if ``stream`` is a terminal."""
    if form is Format.TEXT and stream.isatty():
        print_lines(text.lines_of(report), stream)
    else:
        stream.write(_RENDERERS[form](report))
