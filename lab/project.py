"""Pulumi projects that the lab makes to run the engine on: for the benchmark and the tests."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import yaml

from lab.folders import PROJECT

ProjectType = TypeVar("ProjectType", bound="Project")

STACK = "local"
"""The stack that every such project has."""

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
    return replace(project, environment={**project.environment, "PULUMI_BACKEND_URL": backend.as_uri()})
