"""The structure of the code, held by tests."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = PROJECT / "components" / "pulumi_lws"
SOURCES = sorted(PACKAGE.rglob("*.py"))

SHELL = re.compile(r"(^|/)(component\.py|component/|testing/monitor\.py|policies/)")
"""Where Pulumi may be imported."""


def imports_of(source: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_shell_imports_pulumi(source: Path) -> None:
    relative = source.relative_to(PACKAGE).as_posix()
    pulumi = {name for name in imports_of(source) if name.startswith("pulumi") and name != "pulumi_lws"}
    assert not pulumi or SHELL.search(relative), f"{relative} imports {pulumi}"


@pytest.mark.parametrize(
    "module",
    [
        "pulumi_lws",
        "pulumi_lws.platform.settings",
        "pulumi_lws.rules.catalogue",
        "pulumi_lws.checking.judging",
        "pulumi_lws.cli.main",
    ],
)
def test_pure_modules_load_without_pulumi(module: str) -> None:
    code = f"import {module}, sys; sys.exit('pulumi' in sys.modules or 'grpc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "source",
    [*SOURCES, *sorted((PROJECT / "lab").rglob("*.py"))],
    ids=lambda path: str(path.relative_to(PROJECT)),
)
def test_a_module_stays_short(source: Path) -> None:
    assert len(source.read_text(encoding="utf-8").splitlines()) <= 300


def test_no_module_is_called_utils() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    assert [name for name in tracked.splitlines() if "util" in Path(name).name] == []
