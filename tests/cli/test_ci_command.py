"""``lws ci`` as a job runs it, with a stand-in for GitHub."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pulumi_lws.cli.main import app
from tests.ci.forge import TOKEN, Forge, standing

REPORT = "<!-- lws report: serving/dev -->\n### 🟢 Nothing changes\n"


def lws(*arguments: str) -> Result:
    ended = CliRunner().invoke(app, ["ci", *arguments])
    assert TOKEN not in ended.output
    return ended


def git(*arguments: str) -> None:
    names = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]
    subprocess.run(["git", *names, *arguments], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a project of two stacks, as a job has it."""
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", "--initial-branch", "main")
    Path("Pulumi.yaml").write_text("name: serving\nruntime: python\nstackConfigDir: stacks\n")
    for stack in ("dev", "prod"):
        file = tmp_path / "stacks" / f"Pulumi.{stack}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.touch()
    git("add", "--all")
    git("commit", "--quiet", "--message", "all")
    return tmp_path


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    """A stand-in for GitHub, and the variables of a job for pull request 7 on it."""
    event = tmp_path / "event.json"
    event.write_text('{"pull_request": {"number": 7}}')
    with standing() as forge:
        files = {"GITHUB_EVENT_PATH": str(event), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
        for name, value in (forge.environment() | files).items():
            monkeypatch.setenv(name, value)
        yield forge


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A folder with the report on one stack."""
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "dev.md").write_text(REPORT)
    return tmp_path / "reports"


def test_stacks_are_all_of_the_project_but_those_that_do_not_count() -> None:
    assert json.loads(lws("stacks").stdout) == ["dev", "prod"]
    assert json.loads(lws("stacks", "--ignore", "stacks/Pulumi.dev.yaml").stdout) == ["prod"]


def test_stacks_that_a_merge_touches_are_told_with_their_reason() -> None:
    git("switch", "--quiet", "--create", "change")
    Path("stacks/Pulumi.prod.yaml").rename("stacks/Pulumi.new one.yaml")
    Path("README.md").touch()
    git("add", "--all")
    git("commit", "--quiet", "--message", "change")
    git("switch", "--quiet", "main")
    Path("stacks/Pulumi.dev.yaml").write_text("config: {}\n")
    git("commit", "--quiet", "--all", "--message", "on the base meanwhile")
    git("merge", "--quiet", "--no-ff", "change")
    ended = lws("stacks", "--base", "HEAD^1")
    assert (ended.exit_code, json.loads(ended.stdout)) == (0, ["dev"])
    assert ended.stderr == "dev: touched by stacks/Pulumi.new one.yaml\n"
    ended = lws("stacks", "--base", "HEAD^1", "--head", "change", "--ignore", "*new one*")
    assert (ended.exit_code, ended.stdout) == (0, "[]\n")


def test_a_history_that_is_too_short_is_said() -> None:
    ended = lws("stacks", "--base", "HEAD^1")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("unreadable git: ")
    assert ended.stderr.endswith("A checkout for this needs `fetch-depth: 2`, or more.\n")


@pytest.mark.parametrize("option", ["--base", "--head"])
def test_a_variable_that_is_not_set_never_means_that_nothing_is_touched(option: str) -> None:
    others = [] if option == "--base" else ["--base", "HEAD"]
    ended = lws("stacks", *others, option, "")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "it is empty" in ended.stderr


def test_a_revision_is_no_option_of_git(tmp_path: Path) -> None:
    ended = lws("stacks", "--base", f"--output={tmp_path / 'written'}")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("written")] == []


def test_stack_files_outside_of_the_repository_are_said() -> None:
    Path("Pulumi.yaml").write_text("name: serving\nruntime: python\nstackConfigDir: ../elsewhere\n")
    ended = lws("stacks")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "is outside of the repository. Name a folder inside." in ended.stderr


def test_a_folder_without_a_project_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("stacks")
    said = "unreadable Pulumi.yaml: not found here. Run this in the folder of the Pulumi project.\n"
    ended = lws("stacks")
    assert (ended.exit_code, ended.stdout, ended.stderr) == (2, "", said)


def test_comments_are_written_and_later_written_anew(forge: Forge, reports: Path) -> None:
    missing = (
        "<!-- lws report: serving/prod -->\n### ⚪ No preview of `serving/prod`\n\n"
        "Its job ended before there was one: https://github.example.com/team/serving/actions/runs/42"
    )
    ended = lws("comment", "--stacks", '["dev", "prod"]', str(reports))
    assert (ended.exit_code, ended.output, forge.texts()) == (0, "", [REPORT, missing])
    (reports / "prod.md").write_text("### 🟢 Nothing changes\n")
    assert lws("comment", "--stacks", '["prod"]', str(reports)).exit_code == 0
    assert forge.texts() == [
        "<!-- lws report: serving/dev -->\nThis pull request no longer touches this stack.",
        REPORT.replace("dev", "prod"),
    ]


def test_a_token_that_may_not_write_leads_to_the_summary(forge: Forge, reports: Path, tmp_path: Path) -> None:
    forge.failures.append((403, {}))
    ended = lws("comment", "--stacks", '["dev"]', str(reports))
    assert (ended.exit_code, forge.comments) == (0, [])
    assert ended.stderr.splitlines() == [
        "GitHub answers 403 to GET issues/7/comments?per_page=100&page=1: no, text (not shown).",
        "What was to be written stands in the summary of the job.",
        (
            "The token may not write. That of a pull request from a fork or from Dependabot never may; any other"
            " job needs `pull-requests: write` for comments, and `issues: write` for issues."
        ),
    ]
    assert (tmp_path / "summary.md").read_text() == f"{REPORT}\n"


def test_another_failure_leads_to_the_summary_and_fails(forge: Forge, reports: Path, tmp_path: Path) -> None:
    forge.failures.append((404, {}))
    ended = lws("comment", "--stacks", '["dev"]', str(reports))
    assert (ended.exit_code, (tmp_path / "summary.md").read_text()) == (1, f"{REPORT}\n")
    assert ended.stderr.startswith("GitHub answers 404 to GET issues/7/comments")


def test_a_report_that_is_too_long_stands_in_the_summary(forge: Forge, reports: Path, tmp_path: Path) -> None:
    text = "x" * 65_537
    (reports / "dev.md").write_text(text)
    assert lws("comment", "--stacks", '["dev"]', str(reports)).exit_code == 0
    assert "is too long for a comment" in forge.texts()[0]
    assert (tmp_path / "summary.md").read_text() == f"{text}\n"


def test_drift_opens_an_issue_and_closes_it(forge: Forge, reports: Path) -> None:
    drift = ("drift", "--stack", "dev", str(reports / "dev.md"), "--outcome")
    for _ in range(2):
        assert lws(*drift, "failure").exit_code == 0
    assert [(each["title"], each["body"], each["state"]) for each in forge.issues] == [
        ("Drift: serving/dev", REPORT, "open")
    ]
    assert lws(*drift, "success").exit_code == 0
    assert forge.issues[0]["state"] == "closed"
    assert lws(*drift, "skipped").exit_code == 0
    assert len(forge.issues) == 2


@pytest.mark.parametrize(
    ("arguments", "variable", "said"),
    [
        (["--stacks", "dev"], ("", ""), 'it is no JSON list of names of stacks, as ["dev", "prod"]'),
        (["--stacks", '["../x"]'], ("", ""), 'it is no JSON list of names of stacks, as ["dev", "prod"]'),
        (["--stacks", '["a\\nb"]'], ("", ""), 'it is no JSON list of names of stacks, as ["dev", "prod"]'),
        (["--stacks", "[]"], ("GITHUB_TOKEN", ""), "GITHUB_TOKEN is not set"),
        (["--stacks", "[]"], ("GITHUB_TOKEN", f"{TOKEN}\nX-Other: 1"), "has characters that no token has"),
        (["--stacks", "[]"], ("GITHUB_EVENT_PATH", "/nowhere"), "the event is none of a pull request"),
    ],
)
@pytest.mark.usefixtures("forge")
def test_what_a_job_lacks_is_said(
    arguments: list[str], variable: tuple[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable[0]:
        monkeypatch.setenv(*variable)
    ended = lws("comment", "reports", *arguments)
    assert ended.exit_code == 2
    assert said in " ".join(ended.stderr.replace("│", " ").split())
