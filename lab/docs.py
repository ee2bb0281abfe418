"""Writes the pages, and parts of pages, that are generated: ``python -m lab.docs``."""

import json
import os
import re
from collections.abc import Iterable
from contextlib import chdir
from datetime import date
from pathlib import Path

from lab import add_ons_page
from lab.folders import PROJECT
from lab.models_page import models_page
from lab.runbooks_page import runbooks_page
from lab.settings_page import settings_page
from pulumi_lws.checking.formats import text
from pulumi_lws.checking.judging import check
from pulumi_lws.planning.formats import svg as plan_svg
from pulumi_lws.planning.formats import text as plan_text
from pulumi_lws.platform.files import read_file
from pulumi_lws.platform.schema import stack_schema_text
from pulumi_lws.reporting.formats import md as report_md
from pulumi_lws.reporting.reading import read_preview
from pulumi_lws.reporting.report import report
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.rule import Rule, Target

EXAMPLE = "examples/check/glm-5.yaml"
PLAN_EXAMPLE = "examples/plan/Pulumi.prod.yaml"
REPORT_EXAMPLE = "tests/reporting/previews/change-the-instance-type.json"
PLAN_DAY = date(2026, 12, 1)
"""The day of the plan that the pages show; nothing in it depends on today."""

_RULES_PAGE = """\
# Rules

What `lws check` and the policy pack hold objects to, beside the schemas of the API server. Generated from
`pulumi_lws/rules/` by `make docs`.

An *error* would be refused, hang or break a running deployment; a *warning* works at a price. A *choice* is not forced
by LWS or Kubernetes but made by this library: `lws check` and the policy pack hold objects to it, components do not.

{rules}

Rules marked *programs only* judge how a Pulumi program registers objects; `lws check` leaves them out.

## Parameters

Set in the [configuration](policies.md#configuration) of the policy pack.

{parameters}
"""


def pages() -> dict[Path, str]:
    """Return every generated page with the text that it should have."""
    add_ons = PROJECT / "docs" / "addons.md"
    check_page = PROJECT / "docs" / "check.md"
    plan_page = PROJECT / "docs" / "plan.md"
    report_page = PROJECT / "docs" / "report.md"
    plan = read_file(str(PROJECT / PLAN_EXAMPLE)).plan(PLAN_DAY)
    return {
        PROJECT / "docs" / "rules.md": rules_page(RULES),
        PROJECT / "docs" / "models.md": models_page(),
        PROJECT / "docs" / "runbooks.md": runbooks_page(),
        PROJECT / "docs" / "settings.md": settings_page(),
        PROJECT / "stacks" / "settings.schema.json": stack_schema_text(),
        add_ons: with_tables(add_ons.read_text(encoding="utf-8"), add_ons_page.add_ons(), add_ons_page.upgrades()),
        check_page: with_example(check_page.read_text(encoding="utf-8"), f"lws check {EXAMPLE}", _checked()),
        plan_page: with_example(
            plan_page.read_text(encoding="utf-8"), f"lws plan {PLAN_EXAMPLE}", plan_text.plain(plan)
        ),
        PROJECT / "docs" / "images" / "plan.svg": plan_svg.render(plan),
        report_page: with_example(report_page.read_text(encoding="utf-8"), "lws report preview.json", _reported()),
    }


def rules_page(rules: Iterable[Rule]) -> str:
    """Return the page of all rules."""
    rules = tuple(rules)
    return _RULES_PAGE.format(
        rules=_table(("rule", "what must hold", "why", "fix", "severity", "since"), map(_row, rules)),
        parameters=_table(
            ("rule", "parameter", "meaning", "default"),
            (
                (f"`{rule.name}`", f"`{name}`", str(parameter.schema.get("description", "")), _shown(parameter.default))
                for rule in rules
                for name, parameter in rule.parameters.items()
            ),
        ),
    )


def with_example(page: str, command: str, said: str) -> str:
    """Return a page with what a command says between its marks."""
    block = f"<!-- example -->\n\n    $ {command}\n"
    block += "".join(f"    {line}".rstrip() + "\n" for line in said.splitlines()) + "\n<!-- end of example -->"
    return re.sub(r"<!-- example -->.*<!-- end of example -->", lambda _: block, page, flags=re.DOTALL)


def with_tables(page: str, *tables: add_ons_page.Table) -> str:
    """Return a page with a table between each two marks, in their order."""
    around = re.split(r"<!-- table -->.*?<!-- end of table -->", page, flags=re.DOTALL)
    marked = [f"<!-- table -->\n\n{_table(*table)}\n\n<!-- end of table -->" for table in tables]
    return "".join(text + table for text, table in zip(around, [*marked, ""], strict=True))


def _checked() -> str:
    with chdir(PROJECT):
        return text.plain(check([EXAMPLE], Target()))


def _reported() -> str:
    return report_md.render(report(read_preview(str(PROJECT / REPORT_EXAMPLE))))


def main() -> None:
    """Write every page."""
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
        print(os.path.relpath(path))  # noqa: T201 - what a command says


def _row(rule: Rule) -> tuple[str, ...]:
    marks = [mark for mark, holds in (("choice", rule.house), ("programs only", rule.of_programs)) if holds]
    severity = ", ".join([rule.severity, *marks])
    return f"`{rule.name}`", rule.title, rule.why, rule.fix, severity, rule.since


def _shown(default: object) -> str:
    return "none" if default in (None, (), []) else f"`{json.dumps(default)}`"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    main()
