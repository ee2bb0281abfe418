"""Pulumi projects that the lab makes to run the engine on: for the benchmark and the tests."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import yaml

from lab import charts, engine
from lab.cluster.crds import Definitions
from lab.errors import LabError
from lab.folders import PROJECT

ProjectType = TypeVar("ProjectType", bound="Project")

STACK = "local"
"""The stack that every such project has."""

_MODELS = ("cluster", "namespace", "pools", "deployments")
_OF_PARTS = ("team", "queue", "autoscaling")
_PATIENCE_SECONDS = 300


@dataclass(frozen=True)
class Project:
    """A project with a backend of its own.

    Attributes:
        folder: Where its files stand.
        environment: The variables with which the engine runs, those of a lab included.
    """

    folder: Path
    environment: Mapping[str, str]

    @property
    def stack_file(self) -> Path:
        """The file of the stack's configuration."""
        return self.folder / "stacks" / f"Pulumi.{STACK}.yaml"

    def command(self, *arguments: str) -> list[str]:
        """The command line of ``pulumi`` with these arguments, which never asks."""
        return ["pulumi", *arguments, "--non-interactive"]

    def pulumi(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command and give what it printed, both streams together."""
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )

    def succeeds(self, *arguments: str) -> str:
        """Run a command that must succeed and give what it printed.

        Raises:
            LabError: It fails.
        """
        ended = self.pulumi(*arguments)
        if ended.returncode:
            raise LabError(f"`pulumi {' '.join(arguments)}` failed.", "What it said stands below.", ended.stdout)
        return ended.stdout


def make(project: ProjectType, program: str, backend: Path) -> ProjectType:
    """Write a project that runs ``program`` with this checkout's environment and the settings of the stack's file.

    Args:
        project: Where, and with which variables.
        program: The text of its ``__main__.py``.
        backend: Folder for the states of its stacks.

    Returns:
        The project, with the backend among its variables.
    """
    for folder in (project.stack_file.parent, backend):
        folder.mkdir(parents=True)
    description = yaml.safe_load((PROJECT / "Pulumi.yaml").read_text(encoding="utf-8"))
    description["runtime"]["options"]["virtualenv"] = str(PROJECT / ".venv")
    (project.folder / "Pulumi.yaml").write_text(yaml.safe_dump(description), encoding="utf-8")
    (project.folder / "__main__.py").write_text(program, encoding="utf-8")
    settings = PROJECT / "stacks" / project.stack_file.name
    project.stack_file.write_text(settings.read_text(encoding="utf-8"), encoding="utf-8")
    return replace(project, environment={**project.environment, "PULUMI_BACKEND_URL": engine.backend(backend)})


def make_whole(project: ProjectType, backend: Path, definitions: Definitions) -> ProjectType:
    """Write a project that is this one: the same program and stack file, with charts of its own to install from.

    Args:
        project: Where, and with which variables.
        backend: Folder for the states of its stacks.
        definitions: What the kinds look like that the charts bring.
    """
    charts.write(project.folder / charts.FOLDER.relative_to(PROJECT), definitions)
    return make(project, (PROJECT / "__main__.py").read_text(encoding="utf-8"), backend)


def leave_models_alone(project: Project) -> None:
    """Take out of the stack file what deployments can do without, such as add-ons: a lab has their kinds already."""
    document = yaml.safe_load(project.stack_file.read_text(encoding="utf-8"))
    platform = document["config"]["pulumi-lws:platform"]
    left = {part: platform[part] for part in _MODELS}
    for deployment in left["deployments"].values():
        for part in _OF_PARTS:
            deployment.pop(part, None)
    document["config"]["pulumi-lws:platform"] = left
    project.stack_file.write_text(yaml.safe_dump(document), encoding="utf-8")
