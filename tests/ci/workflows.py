"""The workflows and the action that users copy, as data, and what their steps run."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lab.folders import PROJECT

FOLDER = PROJECT / "ci" / "github"
"""What users copy as .github."""


def read(name: str) -> dict[str, Any]:
    """A workflow."""
    text = (FOLDER / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    workflow: dict[str, Any] = yaml.safe_load(text)
    return workflow


def run_step(
    workflow: str, job: str, step: str, folder: Path, variables: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run the shell lines of a step as a runner does, with the variables that the step declares from these."""
    declared = read(workflow)["jobs"][job]
    (found,) = [each for each in declared["steps"] if each.get("name") == step]
    fixed = {name: value for name, value in found.get("env", {}).items() if "${{" not in value}
    missing = (declared.get("env", {}) | found.get("env", {})).keys() - fixed.keys() - variables.keys()
    assert not missing, f"the step reads {missing}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]],
        cwd=folder,
        env={**variables, **fixed},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
