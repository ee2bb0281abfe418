"""The workflows that users copy, judged by those who know them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from lab.tools.obtain import obtain
from lab.tools.progress import reporter
from pulumi_lws.facts.versions import PINS
from tests.ci.workflows import FOLDER, read

DIGEST = "@[0-9a-f]{40} # v\\d+\\.\\d+\\.\\d+$"
FILES = sorted(FOLDER.rglob("*.yml"))

Judge = Callable[[Path], str]


@pytest.fixture(scope="session")
def actionlint() -> Judge:
    """What actionlint says of a repository; nothing where all is well."""
    program = obtain(["actionlint"], reporter())["actionlint"].binaries["actionlint"]
    return lambda folder: said_by([str(program), "-no-color"], folder)


def zizmor(folder: Path) -> str:
    """What zizmor says of a repository; nothing where all is well."""
    program = str(Path(sys.executable).parent / "zizmor")
    return said_by(
        [program, "--offline", "--no-progress", "--quiet", "--format", "plain", "--color", "never", "."], folder
    )


def said_by(command: list[str], folder: Path) -> str:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    said = ended.stdout + ended.stderr
    assert (ended.returncode == 0) == ("No findings" in said or not said), said
    return "" if ended.returncode == 0 else said


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A repository into which somebody copied the workflows."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    shutil.copytree(FOLDER, tmp_path / ".github")
    return tmp_path


def test_actionlint_and_zizmor_find_nothing(copied: Path, actionlint: Judge) -> None:
    assert (actionlint(copied), zizmor(copied)) == ("", "")


def test_actionlint_and_zizmor_find_what_is_wrong(copied: Path, actionlint: Judge) -> None:
    workflow = copied / ".github" / "workflows" / "pull-request.yml"
    text = workflow.read_text()
    text = re.sub("@[0-9a-f]{40} # v7.0.1", "@v7", text, count=1)
    text = text.replace('--stack "$STACK"', "--stack ${{ github.head_ref }}")
    workflow.write_text(text.replace("needs: stacks\n", "needs: stack\n"))
    said = zizmor(copied)
    assert "error[unpinned-uses]" in said
    assert "error[template-injection]" in said
    said = actionlint(copied)
    assert 'job "preview" needs job "stack" which does not exist' in said
    assert '"github.head_ref" is potentially untrusted' in said


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_actions_of_others_are_pinned_by_digest_with_their_version(file: Path) -> None:
    used = re.findall(r"uses: (?!\./)(.*)", file.read_text(encoding="utf-8"))
    assert [line for line in used if not re.search(DIGEST, line)] == []


def test_an_action_has_one_digest_everywhere() -> None:
    used = {line for file in FILES for line in re.findall(r"uses: (?!\./)(.*)", file.read_text(encoding="utf-8"))}
    names = [line.partition("@")[0] for line in used]
    assert sorted(names) == sorted(set(names))


def test_the_engine_is_the_one_that_the_lab_runs() -> None:
    action = (FOLDER / "actions" / "lws" / "action.yml").read_text(encoding="utf-8")
    assert f'pulumi-version: "{PINS["pulumi"].version}"' in action


@pytest.mark.parametrize("name", ["pull-request", "drift"])
def test_each_job_has_its_own_permissions_and_an_end(name: str) -> None:
    workflow = read(name)
    assert workflow["permissions"] == {}
    assert [
        job for job, each in workflow["jobs"].items() if not {"permissions", "timeout-minutes"} <= each.keys()
    ] == []


def test_no_job_that_runs_what_a_pull_request_brings_may_write_to_it() -> None:
    jobs = read("pull-request")["jobs"]
    writing = {name for name, job in jobs.items() if "pull-requests" in job["permissions"]}
    (checkout,) = [each for each in jobs["result"]["steps"] if each.get("uses", "").startswith("actions/checkout@")]
    assert (writing, checkout["with"]["ref"]) == ({"result"}, "${{ github.event.pull_request.base.sha }}")


def test_the_role_that_previews_is_for_exact_subjects_and_only_reads() -> None:
    folder = FOLDER.parent / "aws"
    trust, allowed = (json.loads((folder / f"{name}-policy.json").read_text()) for name in ("trust", "preview"))
    (statement,) = trust["Statement"]
    assert statement["Condition"] == {
        "StringEquals": {
            "token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
            "token.actions.githubusercontent.com:sub": [
                "repo:OWNER/REPOSITORY:pull_request",
                "repo:OWNER/REPOSITORY:ref:refs/heads/main",
            ],
        }
    }
    actions = [action for each in allowed["Statement"] for action in _listed(each["Action"])]
    assert [action for action in actions if not re.search(":(Decrypt$|Describe|Get|List)", action)] == []


def test_a_kubeconfig_is_for_the_runner_alone_gone_after_the_preview_and_in_nobodys_way(tmp_path: Path) -> None:
    action = yaml.safe_load((FOLDER / "actions" / "lws" / "action.yml").read_text(encoding="utf-8"))
    written, output = tmp_path / ".kube" / "config", tmp_path / "output"

    def run(steps: list[dict[str, str]], name: str) -> int:
        (found,) = [each for each in steps if each.get("name") == name]
        variables = {"HOME": str(tmp_path), "GITHUB_OUTPUT": str(output), "TEXT": "clusters: []", "PATH": os.defpath}
        command = ["bash", "-eo", "pipefail", "-c", found["run"]]
        return subprocess.run(command, env=variables, capture_output=True, check=False).returncode

    assert run(action["runs"]["steps"], "Write the kubeconfig") == 0
    assert (written.read_text(), written.stat().st_mode & 0o777) == ("clusters: []\n", 0o600)
    assert output.read_text() == "state=written\n"
    for workflow, job in (("pull-request", "preview"), ("drift", "drift")):
        written.write_text("mine")
        assert run(action["runs"]["steps"], "Write the kubeconfig") != 0
        assert written.read_text() == "mine"
        assert run(read(workflow)["jobs"][job]["steps"], "Remove the kubeconfig") == 0
        assert not written.exists()


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
