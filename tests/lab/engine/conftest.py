"""A lab for the whole run, and projects that the real engine works on."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from lab.cluster import client, parts, record
from lab.cluster.crds import Definitions
from lab.cluster.layout import Layout
from lab.folders import PROJECT, lab_folder
from lab.project import STACK, Project, leave_models_alone, make, make_whole

PATIENCE_SECONDS = 180


@dataclass(frozen=True)
class Lab:
    """A running lab, as a shell sees it."""

    layout: Layout
    environment: Mapping[str, str]

    def objects(self, path: str) -> list[dict[str, Any]]:
        """The objects at a path of the API server."""
        return list(self.get(path)["items"])

    def get(self, path: str) -> dict[str, Any]:
        """What the API server answers at a path."""
        with self.api() as api:
            answer: dict[str, Any] = api.get(path).raise_for_status().json()
        return answer

    def api(self) -> httpx.Client:
        """A connection of the administrator."""
        known = record.load(self.layout)
        assert known
        return client.connect(self.layout, known.ports[parts.API_PORT])


class TestedProject(Project):
    """A project whose commands are expected to end one way or the other."""

    def succeeds(self, *arguments: str) -> str:
        """Run a command that must succeed and give what it printed."""
        ended = self.pulumi(*arguments)
        assert ended.returncode == 0, ended.stdout
        return ended.stdout

    def fails(self, *arguments: str, **environment: str) -> str:
        """Run a command that must fail and give what it printed: clearly, so without a traceback."""
        ended = self.pulumi(*arguments, **environment)
        assert ended.returncode != 0, ended.stdout
        assert "Traceback" not in ended.stdout, ended.stdout
        return ended.stdout

    def starts(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start a command in a group of its own, as a terminal does."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )

    def state(self) -> dict[str, str]:
        """Type of each resource in the state by its name, components and providers left out."""
        exported = json.loads(self.succeeds("stack", "export"))
        resources = exported["deployment"].get("resources", [])
        return {r["urn"].rpartition("::")[2]: r["type"] for r in resources if r["type"].startswith("kubernetes:")}

    def settings(self) -> dict[str, Any]:
        """The platform of the stack file."""
        platform: dict[str, Any] = yaml.safe_load(self.stack_file.read_text())["config"]["pulumi-lws:platform"]
        return platform

    def declare(self, platform: Mapping[str, Any]) -> None:
        """Write the platform of the stack file anew."""
        document = yaml.safe_load(self.stack_file.read_text())
        document["config"]["pulumi-lws:platform"] = dict(platform)
        self.stack_file.write_text(yaml.safe_dump(document))


def lab_command(*arguments: str, **environment: str) -> str:
    """Run a command of the lab that must succeed."""
    ended = subprocess.run(
        [sys.executable, "-m", "lab", *arguments],
        cwd=PROJECT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@contextmanager
def running(*arguments: str, **environment: str) -> Iterator[Lab]:
    """Run a lab, brought up with these arguments and variables."""
    name = f"engine-{secrets.token_hex(3)}"
    try:
        lab_command("up", "--name", name, *arguments, **environment)
        variables = json.loads(lab_command("env", "--name", name, "--format", "json"))
        yield Lab(Layout(lab_folder(name)), os.environ | variables)
    finally:
        lab_command("down", "--name", name)


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """A lab of this run with two fake p5.48xlarge nodes, without a real controller of LeaderWorkerSet."""
    with running("--nodes", "p5=p5.48xlarge:1x2", LWS_LAB_CONTROLLER="") as lab:
        yield lab


@pytest.fixture(scope="session")
def another_lab() -> Callable[..., AbstractContextManager[Lab]]:
    """Run further labs, for tests that need one of another kind."""
    return running


@pytest.fixture
def project(lab: Lab, tmp_path: Path) -> Iterator[Callable[[str], TestedProject]]:
    """Make projects from the text of a program, each with its own backend; stacks are destroyed at the end."""
    made: list[TestedProject] = []

    def make_one(program: str) -> TestedProject:
        one = TestedProject(tmp_path / f"project-{len(made)}", lab.environment)
        one = make(one, program, tmp_path / f"backend-{len(made)}")
        one.succeeds("stack", "select", "--create", STACK)
        made.append(one)
        return one

    yield make_one
    for one in made:
        one.pulumi("cancel", "--yes")
        one.pulumi("destroy", "--yes", "--skip-preview")


@pytest.fixture
def local_stack(project: Callable[[str], TestedProject]) -> TestedProject:
    """The program of this repository and its local stack without add-ons, for a lab that has all kinds."""
    one = project((PROJECT / "__main__.py").read_text())
    leave_models_alone(one)
    return one


@contextmanager
def running_bare() -> Iterator[Lab]:
    """Run a lab without the kinds of add-ons, which a program brings."""
    with running("--bare", "--nodes", "p5=p5.48xlarge:1x2", LWS_LAB_CONTROLLER="") as lab:
        yield lab


@pytest.fixture(scope="module")
def bare_lab() -> Iterator[Lab]:
    """A lab of a module without the kinds of add-ons."""
    with running_bare() as lab:
        yield lab


def whole_project(lab: Lab, folder: Path, definitions: Definitions) -> TestedProject:
    """Make a project with the program and the whole local stack of this repository.

    Args:
        lab: Where it is deployed to.
        folder: Where the project stands.
        definitions: What the kinds look like that its charts bring.
    """
    one = make_whole(TestedProject(folder / "project", lab.environment), folder / "backend", definitions)
    one.succeeds("stack", "select", "--create", STACK)
    return one


@pytest.fixture(scope="module")
def whole_stack_with(
    bare_lab: Lab, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Definitions], AbstractContextManager[TestedProject]]:
    """Have the whole local stack, with charts that bring these definitions."""

    @contextmanager
    def having(definitions: Definitions) -> Iterator[TestedProject]:
        one = whole_project(bare_lab, tmp_path_factory.mktemp("whole"), definitions)
        try:
            yield one
        finally:
            one.pulumi("cancel", "--yes")
            one.pulumi("destroy", "--yes", "--skip-preview")

    return having


@pytest.fixture(scope="session")
def whole_stack_to_throw_away(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[], AbstractContextManager[tuple[Lab, TestedProject]]]:
    """Have a bare lab with the whole local stack, charts whose kinds accept anything; the lab ends with all in it.

    A lab is up sooner than a stack is destroyed: just after a kind was made, the garbage collector of Kubernetes takes
    up to half a minute to notice it, and deletions wait for that.
    """

    @contextmanager
    def having() -> Iterator[tuple[Lab, TestedProject]]:
        with running_bare() as lab:
            yield lab, whole_project(lab, tmp_path_factory.mktemp("whole"), Definitions())

    return having


@pytest.fixture
def whole_stack(
    whole_stack_with: Callable[[Definitions], AbstractContextManager[TestedProject]],
) -> Iterator[TestedProject]:
    """The program and the whole local stack of this repository, with charts whose kinds accept anything."""
    with whole_stack_with(Definitions()) as one:
        yield one


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool]], None]:
    """Wait until something holds, within a bound."""

    def wait(holds: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            assert time.monotonic() < end, "it did not come to hold"
            time.sleep(0.2)

    return wait


@pytest.fixture
def interrupt() -> Callable[["subprocess.Popen[str]", Sequence[signal.Signals]], str]:
    """Send signals to a command, as a terminal does, and give what it printed until it ended."""

    def send(process: "subprocess.Popen[str]", signals: Sequence[signal.Signals]) -> str:
        for one in signals:
            os.killpg(process.pid, one)
        printed, _ = process.communicate(timeout=PATIENCE_SECONDS)
        return printed

    return send
