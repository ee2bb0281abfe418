"""Which stacks of a Pulumi project a change touches.

A stack's file concerns its stack; every other file of the repository may be read by the program, and concerns all of
them. A stack is never left out because a path was not thought of: what does not count is named.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from pulumi_lws.rules.exemptions import matches

_DESCRIPTIONS = ("Pulumi.yaml", "Pulumi.yml")
_STACK_FILE = re.compile(r"Pulumi\.(?P<stack>[A-Za-z0-9_.-]+)\.ya?ml")
_PAGES = "*.md"
"""Pages change no stack."""

_PATIENCE_SECONDS = 60


class UnreadableProjectError(Exception):
    """There is no project to read, or no history; the text says what is missing and the way out."""


@dataclass(frozen=True)
class Project:
    """A Pulumi project.

    Attributes:
        name: Its name, which stands before a stack's own in reports.
        folder: Where its stack files stand.
        stacks: Each stack that has a file, in alphabetical order → the file's name.
    """

    name: str
    folder: Path
    stacks: Mapping[str, str]


def read_project(folder: Path) -> Project:
    """Read the project of a folder.

    Raises:
        UnreadableProjectError: There is none.
    """
    description = next((folder / name for name in _DESCRIPTIONS if (folder / name).is_file()), None)
    if description is None:
        raise UnreadableProjectError("Pulumi.yaml: not found here. Run this in the folder of the Pulumi project.")
    try:
        content = yaml.safe_load(description.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        content = None
    if not isinstance(content, Mapping) or not isinstance(content.get("name"), str):
        raise UnreadableProjectError(f"{description.name}: it names no project; `name: …` is what Pulumi wants too.")
    files = folder / str(content.get("stackConfigDir") or ".")
    found = (_STACK_FILE.fullmatch(path.name) for path in sorted(files.glob("Pulumi.*")) if path.is_file())
    return Project(content["name"], files, {match["stack"]: match[0] for match in found if match})


def counted(project: Project, root: Path, ignored: Sequence[str]) -> tuple[str, ...]:
    """Return the stacks whose files count.

    Args:
        project: The project.
        root: The root of the repository.
        ignored: Patterns of paths from there that do not count; ``*`` stands for any text.

    Raises:
        UnreadableProjectError: The stack files are outside of the repository.
    """
    files = _stack_files(project, root)
    return tuple(stack for stack, name in project.stacks.items() if not matches(ignored, f"{files}{name}"))


def touched(project: Project, root: Path, ignored: Sequence[str], changed: Iterable[str]) -> Mapping[str, str]:
    """Return the stacks that a change touches, each with the file by which.

    Args:
        project: The project, as it is after the change.
        root: The root of the repository.
        ignored: Patterns of paths from there that do not count; ``*`` stands for any text.
        changed: Paths from there that the change adds, edits or removes.

    Raises:
        UnreadableProjectError: The stack files are outside of the repository.
    """
    stacks, files = counted(project, root, ignored), _stack_files(project, root)
    found: dict[str, str] = {}
    for path in sorted(changed):
        if matches((_PAGES, *ignored), path):
            continue
        own = _STACK_FILE.fullmatch(path.removeprefix(files)) if path.startswith(files) else None
        for stack in stacks:
            if own is None or own["stack"] == stack:
                found.setdefault(stack, path)
    return {stack: found[stack] for stack in stacks if stack in found}


def changed_files(base: str, head: str) -> tuple[str, ...]:
    """Return the paths, from the repository's root, that differ between a revision and where it left another.

    Raises:
        UnreadableProjectError: Git does not know them.
    """
    # A revision is never an option, whatever it begins with.
    options = ("--name-only", "--no-renames", "-z", "--end-of-options")
    return tuple(filter(None, _git("diff", *options, f"{base}...{head}", "--").split("\0")))


def repository_root() -> Path:
    """Return the root of the repository.

    Raises:
        UnreadableProjectError: This is none.
    """
    return Path(_git("rev-parse", "--show-toplevel").rstrip("\n"))


def _stack_files(project: Project, root: Path) -> str:
    """Return how the paths of stack files start, from the repository's root."""
    try:
        start = project.folder.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        raise UnreadableProjectError(
            f"stackConfigDir of Pulumi.yaml: {project.folder} is outside of the repository. Name a folder inside."
        ) from None
    return "" if start == "." else f"{start}/"


def _git(*arguments: str) -> str:
    try:
        ended = subprocess.run(
            ["git", *arguments],  # noqa: S607 - whichever git the user has
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnreadableProjectError(f"git: {error}") from None
    if ended.returncode:
        said = next(_said(ended.stderr), "it failed")
        raise UnreadableProjectError(f"git: {said}. A checkout for this needs `fetch-depth: 2`, or more.")
    return ended.stdout


def _said(text: str) -> Iterator[str]:
    return (line.removeprefix("fatal: ") for line in text.splitlines() if line.strip())
