"""A report as workflow commands, which GitHub shows beside the lines of a change.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from collections.abc import Iterator

from pulumi_lws.checking.formats.wording import name_of
from pulumi_lws.checking.report import STANDARD_INPUT, Report
from pulumi_lws.planning.problems import Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.UNSEEN: "notice"}


def render(report: Report) -> str:
    """Write one command for each problem, and one for each thing that could not be read."""
    return "".join(f"{command}\n" for command in _commands(report))


def _commands(report: Report) -> Iterator[str]:
    for checked in report.objects:
        for problem in checked.problems:
            place = _place(checked.read.file, checked.line_of(problem))
            yield _command(_COMMANDS[problem.severity], place, problem.rule, f"{name_of(checked.read)}: {problem}")
    for error in report.errors:
        yield _command("error", _place(error.file, error.line), "unreadable", error.message)
    for note in report.notes:
        yield _command("notice", {}, "lws check", note)


def _place(file: str, line: int | None) -> dict[str, str]:
    if file == STANDARD_INPUT:
        return {}
    return {"file": file} | ({"line": str(line)} if line else {})


def _command(command: str, place: dict[str, str], title: str, message: str) -> str:
    properties = ",".join(f"{name}={_property(value)}" for name, value in (place | {"title": title}).items())
    return f"::{command} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
