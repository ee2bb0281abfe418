"""A report for programs. Its form is part of the interface of ``lws check``."""

import json
from typing import Any

from pulumi_lws.checking.report import CheckedObject, Report
from pulumi_lws.planning.problems import Problem


def render(report: Report) -> str:
    """Write the report as one JSON object."""
    errors = [{"file": each.file, "document": each.document, "message": each.message} for each in report.errors]
    return json.dumps({"objects": [_object(checked) for checked in report.objects], "errors": errors}, indent=2) + "\n"


def _object(checked: CheckedObject) -> dict[str, Any]:
    read = checked.read
    return {
        "file": read.file,
        "document": read.document,
        "apiVersion": read.text("apiVersion"),
        "kind": read.text("kind"),
        "namespace": read.text("metadata", "namespace"),
        "name": read.text("metadata", "name"),
        "schema": checked.schema,
        "problems": [_problem(problem) for problem in checked.problems],
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "rule": problem.rule,
        "severity": problem.severity,
        "refused": problem.refused,
        "path": problem.path,
        "found": problem.found,
        "allowed": problem.allowed,
        "fix": problem.fix,
    }
