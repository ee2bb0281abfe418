"""Writes the pages, and parts of pages, that are generated: ``python -m lab.docs``."""

import os
import re
from contextlib import chdir
from datetime import date
from pathlib import Path

from lab import add_ons_page, rules_page
from lab.folders import PROJECT
from lab.markdown import block, table
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
from pulumi_lws.rules.rule import Target

EXAMPLE = "examples/check/glm-5.yaml"
PLAN_EXAMPLE = "examples/plan/Pulumi.prod.yaml"
REPORT_EXAMPLE = "tests/reporting/previews/change-the-instance-type.json"
PAGES_OF_RULES = PROJECT / "docs" / "rules"
PLAN_DAY = date(2026, 12, 1)
"""The day of the plan that the pages show; nothing in it depends on today."""


def pages() -> dict[Path, str]:
    """Return every generated page with the text that it should have."""
    add_ons = PROJECT / "docs" / "addons.md"
    check_page = PROJECT / "docs" / "check.md"
    plan_page = PROJECT / "docs" / "plan.md"
    report_page = PROJECT / "docs" / "report.md"
    plan = read_file(str(PROJECT / PLAN_EXAMPLE)).plan(PLAN_DAY)
    return {
        PROJECT / "docs" / "rules.md": rules_page.index(RULES),
        **{PAGES_OF_RULES / f"{rule.name}.md": rules_page.page(rule) for rule in RULES},
        PROJECT / "docs" / "models.md": models_page(),
        PROJECT / "docs" / "runbooks.md": runbooks_page(),
        PROJECT / "docs" / "settings.md": settings_page(),
        PROJECT / "stacks" / "settings.schema.json": stack_schema_text(),
        add_ons: with_tables(
            add_ons.read_text(encoding="utf-8"),
            add_ons_page.add_ons(),
            add_ons_page.images(),
            add_ons_page.upgrades(),
        ),
        check_page: with_example(check_page.read_text(encoding="utf-8"), f"lws check {EXAMPLE}", _checked()),
        plan_page: with_example(
            plan_page.read_text(encoding="utf-8"), f"lws plan {PLAN_EXAMPLE}", plan_text.plain(plan)
        ),
        PROJECT / "docs" / "images" / "plan.svg": plan_svg.render(plan),
        report_page: with_example(report_page.read_text(encoding="utf-8"), "lws report preview.json", _reported()),
    }


def left_over() -> list[Path]:
    """Return the pages of rules that there are no more."""
    names = {rule.name for rule in RULES}
    return [path for path in PAGES_OF_RULES.glob("*.md") if path.stem not in names]


def with_example(page: str, command: str, said: str) -> str:
    """Return a page with what a command says between its marks."""
    shown = block(f"$ {command}\n{said}")
    example = f"<!-- example -->\n\n{shown}\n\n<!-- end of example -->"
    return re.sub(r"<!-- example -->.*<!-- end of example -->", lambda _: example, page, flags=re.DOTALL)


def with_tables(page: str, *tables: add_ons_page.Table) -> str:
    """Return a page with a table between each two marks, in their order."""
    around = re.split(r"<!-- table -->.*?<!-- end of table -->", page, flags=re.DOTALL)
    marked = [f"<!-- table -->\n\n{table(*each)}\n\n<!-- end of table -->" for each in tables]
    return "".join(text + one for text, one in zip(around, [*marked, ""], strict=True))


def _checked() -> str:
    with chdir(PROJECT):
        return text.plain(check([EXAMPLE], Target()))


def _reported() -> str:
    return report_md.render(report(read_preview(str(PROJECT / REPORT_EXAMPLE))))


def main() -> None:
    """Write every page, and delete those of rules that there are no more."""
    PAGES_OF_RULES.mkdir(exist_ok=True)
    for path in left_over():
        path.unlink()
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
        print(os.path.relpath(path))  # noqa: T201 - what a command says


if __name__ == "__main__":
    main()
