"""Wrong stack files: what one change to an environment is answered with, word by word.

Each file of ``wrong/`` names a stack, a change to its platform (``null`` removes a field), and the one problem, which
``make golden`` writes anew.
"""

import re
import textwrap
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_lws.platform.checks import read
from tests.conftest import Golden, platform_of

WRONG = sorted((Path(__file__).parent / "wrong").glob("*.yaml"))
TODAY = date(2026, 12, 1)


def changed(value: Any, change: Any) -> Any:
    """Apply a JSON merge patch (RFC 7396)."""
    if not isinstance(change, Mapping):
        return change
    old = value if isinstance(value, Mapping) else {}
    new = {key: changed(old.get(key), part) for key, part in change.items() if part is not None}
    return {key: part for key, part in old.items() if key not in change} | new


def said(raw: Any) -> list[tuple[str, str]]:
    return [(problem.severity.value, str(problem)) for problem in read(raw, TODAY)[1]]


def rewrite(file: Path, severity: str, problem: str) -> None:
    change, *_ = re.split(r"^(?:error|warning): ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = textwrap.wrap(problem, 116, break_long_words=False, break_on_hyphens=False)
    file.write_text(f"{change}{severity}: >-\n" + "".join(f"  {line}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("stack", ["dev", "staging", "prod", "local"])
def test_an_environment_as_it_is_has_no_problem(stack: str) -> None:
    assert said(platform_of(stack)) == []


@pytest.mark.parametrize("file", WRONG, ids=lambda file: file.stem)
def test_a_wrong_stack_file_is_answered_with_its_one_problem(file: Path, golden: Golden) -> None:
    wrong = yaml.safe_load(file.read_text(encoding="utf-8"))
    ((severity, problem),) = said(changed(platform_of(wrong["stack"]), wrong["change"]))
    if golden.rewrite:
        rewrite(file, severity, problem)
        wrong = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert {severity: problem} == {key: wrong[key] for key in ("error", "warning") if key in wrong}
