"""Manifests on disk, and the one rule that tests of checking need."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Rule, is_kind

WriteManifest = Callable[[str], str]


@pytest.fixture
def write_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteManifest:
    """Writes a text to a file of the working directory; returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> str:
        Path("group.yaml").write_text(text, encoding="utf-8")
        return "group.yaml"

    return write


@pytest.fixture
def size_rule() -> Rule:
    """A rule that warns of every LeaderWorkerSet."""
    return Rule(
        name="size-is-odd",
        title="Groups have an odd size.",
        why="Even groups are dull: 50%.",
        fix="Add a pod.",
        severity=Severity.WARNING,
        applies_to=is_kind(LEADER_WORKER_SET),
        check=lambda _subject, _context: [
            Problem("spec.leaderWorkerTemplate.size", "2, which is even", "an odd number", "Add a pod.")
        ],
    )
