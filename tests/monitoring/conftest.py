"""What the tests of rules share: promtool, which evaluates them as Prometheus does."""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lab.tools.obtain import obtain
from lab.tools.progress import reporter

Promtool = Callable[..., str]
"""Runs promtool with arguments and documents, which become files; gives what it says, or fails the test with it."""


@pytest.fixture(scope="session")
def promtool_program() -> Path:
    """The program, built if need be."""
    return obtain(["promtool"], reporter())["promtool"].binaries["promtool"]


@pytest.fixture
def promtool(promtool_program: Path, tmp_path: Path) -> Promtool:
    """Runs promtool in a folder with some documents; fails with what it says where it finds something wrong."""

    def run(*arguments: str, documents: Mapping[str, Any]) -> str:
        for name, document in documents.items():
            # JSON is YAML too, and ten times as fast to write.
            (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
        done = subprocess.run(
            [promtool_program, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def evaluated(promtool: Promtool) -> Callable[[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]], None]:
    """Evaluates groups of rules on tests as ``promtool test rules`` has them."""

    def evaluate(groups: Sequence[Mapping[str, Any]], tests: Sequence[Mapping[str, Any]]) -> None:
        document = {
            "rule_files": ["rules.json"],
            "evaluation_interval": "1m",
            # Without it promtool takes groups in another order each time, and what one records reaches another late.
            "group_eval_order": [group["name"] for group in groups],
            "tests": tests,
        }
        promtool("test", "rules", "tests.json", documents={"rules.json": {"groups": groups}, "tests.json": document})

    return evaluate
