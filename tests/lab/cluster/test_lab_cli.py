"""The command line as people and scripts use it."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from lab.cluster import parts, processes
from lab.cluster.layout import Layout
from lab.folders import PROJECT, lab_folder
from lab.tools.obtained import Obtained

COMMAND = (sys.executable, "-m", "lab")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def no_controller_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LWS_LAB_CONTROLLER", raising=False)


@pytest.fixture
def name() -> Iterator[str]:
    name = f"test-{secrets.token_hex(3)}"
    yield name
    _run("down", "--name", name)
    assert processes.find(lab_folder(name)) == []


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=PROJECT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _start_halfway(name: str) -> subprocess.Popen[bytes]:
    """An `up` that has started its first part, and has more to do."""
    starter = subprocess.Popen([*COMMAND, "up", "--name", name], cwd=PROJECT, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not processes.find(lab_folder(name)) and time.monotonic() < end:
        time.sleep(0.02)
    return starter


def _outcome(answer: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return answer.returncode, answer.stdout, answer.stderr


def test_env_without_a_lab_prints_nothing_to_eval_and_says_how_to_start_one() -> None:
    assert _outcome(_run("env", "--name", "never-started")) == (
        1,
        "",
        "No lab called never-started runs.\nStart it with `python -m lab up --name never-started`.\n",
    )


def test_status_without_a_lab_fails_with_the_same_words() -> None:
    answer = _run("status", "--name", "never-started", "--format", "json")
    assert (answer.returncode, answer.stdout) == (1, "")


def test_down_without_a_lab_is_no_error_and_leaves_nothing() -> None:
    answer = _run("down", "--name", "never-started")
    assert _outcome(answer) == (0, "Lab never-started is down: nothing ran; its state is deleted.\n", "")
    assert not lab_folder("never-started").exists()


def test_a_wrong_node_spec_is_refused_before_anything_is_built_or_started() -> None:
    code, output, errors = _outcome(_run("up", "--name", "never-started", "--nodes", "p5"))
    assert (code, output) == (1, "")
    assert errors.splitlines()[0] == "--nodes 'p5' cannot be read."
    assert not lab_folder("never-started").exists()


def test_a_controller_without_upstream_crds_is_refused_before_anything_is_built_or_started() -> None:
    controller = {"LWS_LAB_CONTROLLER": "/bin/true", "LWS_LAB_CONTROLLER_VERSION": "0.9.0"}
    code, output, errors = _outcome(_run("up", "--name", "never-started", LWS_LAB_CRDS="", **controller))
    assert (code, output) == (1, "")
    assert errors.splitlines() == [
        "The controller that LWS_LAB_CONTROLLER names cannot work without the upstream CRDs of LeaderWorkerSet.",
        "Set LWS_LAB_CRDS to a folder with lws-0.9.0/*.yaml, or unset LWS_LAB_CONTROLLER.",
    ]
    assert not lab_folder("never-started").exists()


@pytest.mark.parametrize("name", ["../escape", "Upper", "-a", ""])
def test_a_name_that_is_no_folder_name_is_refused(name: str) -> None:
    answer = _run("down", f"--name={name}")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "lower-case letters" in answer.stderr


@pytest.mark.lab
def test_up_status_env_and_down(name: str, tools: dict[str, Obtained]) -> None:
    first = _run("up", "--name", name, "--nodes", "p5=p5.48xlarge:1x2")
    assert first.returncode == 0, first.stderr
    nodes = "Its fake nodes: p5-0-0, p5-0-1, system (system has no GPU)."
    assert first.stdout.splitlines()[1] == nodes
    assert f"started {', '.join(parts.ALWAYS)}." in first.stdout

    again = _run("up", "--name", name)
    assert (again.returncode, again.stdout.partition(" at ")[0]) == (0, f"Lab {name} already runs")
    assert again.stdout.splitlines()[1] == nodes

    told = _run("status", "--name", name, "--format", "json")
    assert told.returncode == 0
    data = json.loads(told.stdout)
    assert [part["name"] for part in data["parts"] if part["running"]] == list(parts.ALWAYS)
    assert {tool: entry["version"] for tool, entry in data["tools"].items()} == {
        tool: obtained.version for tool, obtained in tools.items()
    }

    variables = json.loads(_run("env", "--name", name, "--format", "json").stdout)
    shell = _run("env", "--name", name).stdout
    assert [line.partition("=")[0] for line in shell.splitlines()] == [f"export {variable}" for variable in variables]
    engine = subprocess.run(["pulumi", "version"], env=variables, capture_output=True, text=True, check=True)
    assert engine.stdout.strip().removeprefix("v") == tools["pulumi"].version

    assert _run("down", "--name", name).returncode == 0
    assert not lab_folder(name).exists()
    assert not Layout(lab_folder(name)).lock.exists()
    assert _run("env", "--name", name).returncode == 1


@pytest.mark.lab
@pytest.mark.usefixtures("tools")
def test_an_up_that_is_killed_halfway_leaves_nothing_after_down(name: str) -> None:
    folder = lab_folder(name)
    starter = _start_halfway(name)
    starter.kill()
    starter.wait()
    assert processes.find(folder) != []
    assert _run("down", "--name", name).returncode == 0
    assert (processes.find(folder), folder.exists()) == ([], False)


@pytest.mark.lab
@pytest.mark.usefixtures("tools")
def test_of_two_ups_at_once_one_starts_and_the_other_finds_it_running(name: str) -> None:
    starters = [
        subprocess.Popen([*COMMAND, "up", "--name", name], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [starter.communicate(timeout=120)[0] for starter in starters]
    assert [starter.returncode for starter in starters] == [0, 0]
    assert sorted(output.split()[2] for output in outputs) == ["already", "is"]
    assert [found.part for found in processes.find(lab_folder(name))].count("etcd") == 1


@pytest.mark.lab
@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_up_that_is_asked_to_end_stops_what_it_started(name: str, number: signal.Signals, code: int) -> None:
    starter = _start_halfway(name)
    starter.send_signal(number)
    assert starter.wait(30) == code
    assert processes.find(lab_folder(name)) == []
