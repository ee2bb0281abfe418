"""Looks for tools that are already on this machine and as good as the pinned ones."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from lab.folders import DEFAULT_LAB, cache_folder, lab_folder
from lab.tools.obtained import Obtained, in_folder
from lab.tools.table import Tool, VersionRule

ANSWER_SECONDS = 10.0
"""How long a program on PATH may take to tell its version before it counts as unusable."""

Version = tuple[int, int, int]


def version_numbers(text: str) -> Version | None:
    """The first version in a text, such as a program's answer to ``--version``."""
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def at_least(found: Version, wanted: Version) -> bool:
    """Whether it is the wanted version or a later one that promises to work the same way."""
    return found >= wanted and found[0] == wanted[0]


def same_minor(found: Version, wanted: Version) -> bool:
    """Whether both are patches of one minor version, as Kubernetes counts its API."""
    return found[:2] == wanted[:2]


RULES: Mapping[VersionRule, Callable[[Version, Version], bool]] = {"at least": at_least, "same minor": same_minor}


def installed(tool: Tool) -> Obtained | None:
    """The tool as it stands on this machine outside the lab's own folders, if it suits."""
    if tool.installed_in:
        return in_folder(tool, Path.home() / tool.installed_in.format(version=tool.version), "path")
    return on_path(tool) if tool.suits else None


def on_path(tool: Tool) -> Obtained | None:
    """The tool from PATH, if every one of its programs is there with a version that suits."""
    path = foreign_path()
    programs = {name: Path(found) for name in tool.binaries if (found := shutil.which(name, path=path))}
    wanted = version_numbers(tool.version)
    if tool.suits is None or wanted is None or programs.keys() != set(tool.binaries):
        return None
    versions = [told_version(program) for program in programs.values()]
    lowest = min((version for version in versions if version), default=None)
    if lowest is None or not all(version and RULES[tool.suits](version, wanted) for version in versions):
        return None
    first = next(iter(programs.values()))
    beside = os.pathsep.join([str(first.resolve().parent), str(first.parent), path])
    companions = {name: Path(found) for name in tool.companions if (found := shutil.which(name, path=beside))}
    return Obtained(first.parent, programs | companions, ".".join(map(str, lowest)), "path")


def foreign_path() -> str:
    """PATH without what a lab has put on it: in the shell of a lab that runs, those copies last only as long as it."""
    labs = lab_folder(DEFAULT_LAB).parent
    entries = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    return os.pathsep.join(
        str(entry) for entry in entries if labs.name not in entry.parts and not entry.is_relative_to(cache_folder())
    )


def told_version(program: Path) -> Version | None:
    """The version that a program tells; None if it tells none, fails or does not answer in time."""
    try:
        answer = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ANSWER_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
            env=os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return version_numbers(answer.stdout)
