"""Finding the kubeconfig of an existing cluster."""

from pathlib import Path

import pytest

from pulumi_lws.cluster.kubeconfig import Kubeconfig, read
from pulumi_lws.cluster.settings import ExistingCluster
from pulumi_lws.planning.problems import Problem

CONTENT = "contexts: [{name: a}, {name: b}]\n"


def cluster(**changes: str) -> ExistingCluster:
    return ExistingCluster.model_validate({"kind": "existing", "name": "c", "context": "b", **changes})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config"
    path.write_text(CONTENT)
    return path


def test_the_environment_names_the_file(file: Path) -> None:
    assert read(cluster(), {"KUBECONFIG": str(file)}) == Kubeconfig(CONTENT, "b")


def test_the_declaration_wins_over_the_environment(file: Path) -> None:
    assert read(cluster(kubeconfig=str(file)), {"KUBECONFIG": "/nowhere"}) == Kubeconfig(CONTENT, "b")


def test_of_several_files_the_first_with_the_context_is_taken(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("contexts: [{name: z}]\n")
    assert read(cluster(), {"KUBECONFIG": f"{tmp_path}/missing:{other}::{file}"}) == Kubeconfig(CONTENT, "b")


def test_the_home_folder_holds_the_default(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".kube").mkdir()
    file.rename(tmp_path / ".kube" / "config")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read(cluster(), {}) == Kubeconfig(CONTENT, "b")
    assert read(cluster(kubeconfig="~/.kube/config"), {}) == Kubeconfig(CONTENT, "b")


def test_a_missing_context_is_answered_with_those_there_are(file: Path) -> None:
    assert read(cluster(context="prod"), {"KUBECONFIG": str(file)}) == Problem(
        "cluster.context", "'prod'", f"a, b (of {file})", "Name one of these contexts."
    )


@pytest.mark.parametrize("content", ["", "[", "- a", "contexts: x", "contexts: [1, {}]", "\udcff"])
def test_a_file_that_is_no_kubeconfig_holds_no_context(file: Path, content: str) -> None:
    file.write_text(content, errors="surrogateescape")
    problem = read(cluster(), {"KUBECONFIG": str(file)})
    assert isinstance(problem, Problem)
    assert problem.found.startswith(f"no context in {file}")
    assert problem.fix == "Set KUBECONFIG, or cluster.kubeconfig in the stack file."


def test_an_unreadable_file_says_why(tmp_path: Path) -> None:
    problem = read(cluster(), {"KUBECONFIG": f"{tmp_path}/missing"})
    assert isinstance(problem, Problem)
    assert problem.found == f"no context in {tmp_path}/missing (No such file or directory)"


def test_the_content_is_never_printed() -> None:
    assert "token" not in repr(Kubeconfig("token: abc", "b"))
