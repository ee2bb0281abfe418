"""The very steps of the workflows, on the real engine, with a stand-in for GitHub."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.folders import PROJECT
from tests.ci.forge import Forge, standing
from tests.ci.workflows import run_step

pytestmark = pytest.mark.lab

PLAIN = """\
import pulumi_kubernetes as kubernetes

kubernetes.core.v1.ConfigMap("plain", metadata={"name": "plain", "namespace": "default"}, data={"a": "b"})
"""
"""A program that lets the engine make a provider, which a mandatory policy forbids."""

Step = Callable[..., "subprocess.CompletedProcess[str]"]


def git(folder: Path, *arguments: str) -> None:
    names = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "change")


@pytest.fixture
def forge() -> Iterator[Forge]:
    """A stand-in for GitHub."""
    with standing() as forge:
        yield forge


@pytest.fixture
def checkout(forge: Forge, tmp_path: Path) -> Callable[[Any], Step]:
    """Make a checkout of a project, and run steps of a workflow in it."""

    def make(project: Any) -> Step:
        folder = project.folder
        (folder / ".venv").symlink_to(PROJECT / ".venv")
        (folder / ".gitignore").write_text(".venv\n__pycache__\n")
        shutil.copytree(PROJECT / "policies", folder / "policies")
        git(folder, "init", "--quiet")
        commit(folder)
        event = tmp_path / "event.json"
        event.write_text('{"pull_request": {"number": 7}}')
        variables = {
            **project.environment,
            **forge.environment(),
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "RUNNER_TEMP": str(tmp_path),
            "STACK": "local",
            "STACKS": '["local"]',
        }
        return lambda workflow, job, name, **more: run_step(workflow, job, name, folder, {**variables, **more})

    return make


def test_a_pull_request_has_one_comment_for_its_stack_whatever_comes_of_it(
    lab: Any, local_stack: Any, checkout: Callable[[Any], Step], forge: Forge, tmp_path: Path
) -> None:
    step = checkout(local_stack)

    def ended(**variables: str) -> tuple[bool, int]:
        """Tell whether the preview passed, and the exit code of the report, for a comment that is written."""
        preview, report = (step("pull-request", "preview", name, **variables) for name in ("Preview", "Report"))
        told = step("pull-request", "result", "Comment", **variables)
        assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
        return preview.returncode == 0, report.returncode

    local_stack.succeeds("up", "--yes", "--skip-preview")
    platform = local_stack.settings()
    platform["deployments"]["glm-5"]["image"] = "example.com/vllm:v0.27.0"
    local_stack.declare(platform)
    commit(local_stack.folder)

    found = step("pull-request", "stacks", "Find the stacks that are touched")
    assert (found.returncode, found.stderr) == (0, "local: touched by stacks/Pulumi.local.yaml\n")
    assert (tmp_path / "output").read_text() == 'touched=["local"]\n'

    assert ended() == (True, 0)
    restarts = "<!-- lws report: pulumi-lws/local -->\n### 🔴 `glm-5` restarts and is down for up to 60 min\n"
    assert [text[: len(restarts)] for text in forge.texts()] == [restarts]
    certificate = lab.layout.kubeconfig.read_text().partition("client-key-data: ")[2].split()[0]
    assert certificate not in forge.texts()[0]

    (local_stack.folder / "__main__.py").write_text(PLAIN)
    assert ended() == (False, 1)
    assert "server-side-apply" in forge.texts()[0]

    (local_stack.folder / "__main__.py").write_text("import nothing_of_that_name\n")
    assert ended() == (False, 1)
    assert "\n### 🔴 The preview failed, so nothing is applied\n" in forge.texts()[0]

    assert ended(STACK="none", STACKS='["none"]') == (False, 2)
    first_lines = [text.splitlines()[:2] for text in forge.texts()]
    assert first_lines == [
        ["<!-- lws report: pulumi-lws/local -->", "This pull request no longer touches this stack."],
        ["<!-- lws report: pulumi-lws/none -->", "### ⚪ No preview of `pulumi-lws/none`"],
    ]


def test_drift_has_one_issue_until_it_is_gone(
    lab: Any, project: Callable[[str], Any], checkout: Callable[[Any], Step], forge: Forge
) -> None:
    plain = project(PLAIN)
    step = checkout(plain)

    def look() -> str:
        """Look at the stack as the workflow does."""
        preview = step("drift", "drift", "Preview")
        outcome = "failure" if preview.returncode else "success"
        if preview.returncode:
            step("drift", "drift", "Report")
        told = step("drift", "drift", "Issue", OUTCOME=outcome)
        assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
        return outcome

    assert step("drift", "stacks", "Find the stacks").returncode == 0
    plain.succeeds("up", "--yes", "--skip-preview")
    assert (look(), forge.issues) == ("success", [])

    with lab.api() as api:
        api.delete("/api/v1/namespaces/default/configmaps/plain").raise_for_status()
    assert look() == "failure"
    assert [(issue["title"], issue["state"]) for issue in forge.issues] == [("Drift: pulumi-lws/local", "open")]
    assert "| created | `ConfigMap` | `plain` |" in forge.issues[0]["body"]

    plain.succeeds("up", "--yes", "--skip-preview", "--refresh")
    assert look() == "success"
    assert [issue["state"] for issue in forge.issues] == ["closed"]
