"""A report in SARIF 2.1.0, which code scanning services read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import json
import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pulumi_lws.checking.formats.wording import name_of
from pulumi_lws.checking.report import SCHEMA_RULE, SCHEMA_WHY, STANDARD_INPUT, CheckedObject, Report, Unreadable
from pulumi_lws.planning.problems import Problem, Severity

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.UNSEEN: "note"}


def render(report: Report) -> str:
    """Write the report as one run."""
    run = {
        "tool": {
            "driver": {
                "name": "lws check",
                "semanticVersion": metadata.version("pulumi-lws"),
                "rules": list(_rules(report)),
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not report.errors,
                "toolExecutionNotifications": [
                    *map(_notification, report.errors),
                    *({"level": "note", "message": {"text": note}} for note in report.notes),
                ],
            }
        ],
        "results": [_result(checked, problem) for checked in report.objects for problem in checked.problems],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rules(report: Report) -> Iterator[dict[str, Any]]:
    title = "Objects are as the API server's schema has them."
    yield _rule(SCHEMA_RULE, title, SCHEMA_WHY, "Mend the field as its problem says.", Severity.ERROR)
    for rule in report.rules:
        # A helpUri has to be absolute, and the project has no address of its own.
        page = f"Samples, and how to exempt: docs/rules/{rule.name}.md of pulumi-lws."
        yield _rule(rule.name, rule.title, rule.why, f"{rule.fix} {page}".lstrip(), rule.severity)


def _rule(name: str, title: str, why: str, fix: str, severity: Severity) -> dict[str, Any]:
    return {
        "id": name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": why},
        "help": {"text": fix},
        "defaultConfiguration": {"level": _LEVELS[severity]},
    }


def _result(checked: CheckedObject, problem: Problem) -> dict[str, Any]:
    location = _location(checked.read.file, checked.line_of(problem))
    logical = {"fullyQualifiedName": f"{name_of(checked.read)} {problem.path}".rstrip(), "kind": "member"}
    return {
        "ruleId": problem.rule,
        "level": _LEVELS[problem.severity],
        "message": {"text": f"{name_of(checked.read)}: {problem}"},
        "locations": [location | {"logicalLocations": [logical]}],
        "properties": {"refused": problem.refused},
    }


def _notification(error: Unreadable) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": error.message},
        "locations": [_location(error.file, error.line)],
    }


def _location(file: str, line: int | None) -> dict[str, Any]:
    region = {"region": {"startLine": line}} if line else {}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(file)}, **region}}


def _uri(file: str) -> str:
    """Return a file relative to the working directory: a report must not say how somebody's machine is laid out."""
    if file == STANDARD_INPUT:
        return "stdin"
    relative = os.path.relpath(file) if Path(file).is_absolute() else file
    return quote(os.fsencode(Path(relative).as_posix()))
