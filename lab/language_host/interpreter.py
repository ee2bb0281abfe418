"""Which Python runs a project, and what is installed there."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from pulumi.runtime.proto.language_pb2 import ProgramInfo

from lab.errors import LabError

TOOLCHAINS = {"pip": None, "uv": ".venv"}
"""Values of the option ``toolchain``, each with its virtual environment where the option ``virtualenv`` is not set."""


@dataclass(frozen=True)
class Interpreter:
    """A Python to run programs with.

    Args:
        executable: Path of the program ``python``.
        virtualenv: Folder of its virtual environment where the project names one.
    """

    executable: Path
    virtualenv: Path | None = None

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """The variables in ``base``, as if the virtual environment had been activated in that shell."""
        variables = dict(base)
        if self.virtualenv:
            variables.pop("PYTHONHOME", None)
            variables["VIRTUAL_ENV"] = str(self.virtualenv)
            variables["PATH"] = os.pathsep.join(filter(None, [str(self.executable.parent), base.get("PATH")]))
        return variables


def options_of(info: ProgramInfo) -> dict[str, Any]:
    """The runtime options that the project's file sets."""
    return json_format.MessageToDict(info.options)


def virtualenv_of(info: ProgramInfo) -> Path | None:
    """Folder of the virtual environment that the project asks for, existing or not.

    Raises:
        LabError: The project wants a toolchain that this host does not know.
    """
    options = options_of(info)
    toolchain = options.get("toolchain", "pip")
    if toolchain not in TOOLCHAINS:
        raise LabError(
            f"The option 'toolchain' of the project is {toolchain!r}, which this language host does not know.",
            f"Set it to {' or '.join(TOOLCHAINS)}, or use the official language host.",
        )
    folder = options.get("virtualenv") or TOOLCHAINS[toolchain]
    return Path(info.root_directory, folder) if folder else None


def interpreter_of(info: ProgramInfo, default: Path) -> Interpreter:
    """The Python that the project wants, ``default`` if it does not say.

    Raises:
        LabError: The project names a virtual environment that is not there, or an unknown toolchain.
    """
    folder = virtualenv_of(info)
    if folder is None:
        return Interpreter(default)
    executable = folder / "bin" / "python"
    if not executable.exists():
        state = "is not a virtual environment" if folder.exists() else "does not exist"
        raise LabError(
            f"The option 'virtualenv' of the project names {folder}, which {state}.",
            f"Run `pulumi install` in {info.root_directory} to make it and install the dependencies.",
        )
    return Interpreter(executable, folder)


def installation(info: ProgramInfo, default: Path) -> list[tuple[Interpreter, tuple[str, ...]]]:
    """What to run, in the program's folder, to install a project's dependencies: each time a Python and its arguments.

    Raises:
        LabError: The project names no virtual environment, or an unknown toolchain.
    """
    folder = virtualenv_of(info)
    if folder is None:
        raise LabError(
            "The project names no virtual environment, and the one of the language host is not for installing into.",
            "Set the option 'virtualenv' of the runtime in the project's file, for example to `venv`.",
        )
    interpreter = Interpreter(folder / "bin" / "python", folder)
    steps: list[tuple[Interpreter, tuple[str, ...]]] = []
    if not interpreter.executable.exists():
        steps.append((Interpreter(default), ("-m", "venv", str(folder))))
    if Path(info.program_directory, "requirements.txt").exists():
        steps.append((interpreter, ("-m", "pip", "install", "-r", "requirements.txt")))
    elif Path(info.program_directory, "pyproject.toml").exists():
        steps.append((interpreter, ("-m", "pip", "install", "-e", ".")))
    return steps


def direct_dependencies(inventory: dict[str, Any]) -> list[dict[str, Any]]:
    """The packages of an inventory that no other package in it requires."""
    required = {name for package in inventory["packages"] for name in package["requires"]}
    return [package for package in inventory["packages"] if package["name"] not in required]
