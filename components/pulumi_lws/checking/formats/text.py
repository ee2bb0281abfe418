"""A report for people, with colours where it goes to a terminal."""

from collections import Counter
from collections.abc import Iterator

from pulumi_lws.checking.formats.wording import described, headline, visible
from pulumi_lws.checking.report import SCHEMA_RULE, SCHEMA_WHY, CheckedObject, Report, Unreadable
from pulumi_lws.planning.problems import Problem, Severity

Span = tuple[str, str]
"""A piece of a line and its style, as ``rich`` names styles."""

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.UNSEEN: "cyan"}


def lines_of(report: Report) -> Iterator[list[Span]]:
    """Yield the report line by line, in pieces. Why a rule holds is said the first time it is broken."""
    reasons = {rule.name: rule.why for rule in report.rules} | {SCHEMA_RULE: SCHEMA_WHY}
    for checked in report.objects:
        if checked.problems:
            yield [(headline(checked.read), "bold")]
            for problem in checked.problems:
                yield from _lines_of_problem(checked, problem, reasons.pop(problem.rule, None))
            yield []
    for error in report.errors:
        yield _line_of_error(error)
    for note in report.notes:
        yield [("note: ", "cyan"), (visible(note), "")]
    if any(problem.rule != SCHEMA_RULE for problem in report.problems):
        yield [("Samples of each rule, and how to exempt: docs/rules/<rule>.md of pulumi-lws.", "dim")]
    yield [(_closing(report), "bold")]


def plain(report: Report) -> str:
    """Write the report without colours."""
    return "".join("".join(text for text, _ in line) + "\n" for line in lines_of(report))


def _lines_of_problem(checked: CheckedObject, problem: Problem, why: str | None) -> Iterator[list[Span]]:
    where = f"{visible(problem.path) or 'the object'} (line {checked.line_of(problem)})"
    yield [
        ("  ", ""),
        (f"{problem.severity:<8}", _STYLES[problem.severity]),
        (where, "bold"),
        (f"  {problem.rule}{', refused by the API server' if problem.refused else ''}", "dim"),
    ]
    yield [(f"          found {visible(problem.found)}; allowed: {visible(problem.allowed)}", "")]
    if why:
        yield [(f"          why: {visible(why)}", "dim")]
    yield [(f"          fix: {visible(problem.fix)}", "green")]


def _line_of_error(error: Unreadable) -> list[Span]:
    return [("unreadable ", "bold red"), (described(error), "bold"), (f": {visible(error.message)}", "")]


def _closing(report: Report) -> str:
    counts = Counter(problem.severity for problem in report.problems)
    said = [_counted(len(report.objects), "object")]
    said += [_counted(counts[severity], str(severity)) for severity in (Severity.ERROR, Severity.WARNING)]
    if report.errors:
        said.append(f"{len(report.errors)} unreadable")
    return ", ".join(said)


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
