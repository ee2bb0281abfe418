"""The cache of programs: where they lie, who may write, and that only whole results are ever seen there."""

import errno
import hashlib
import json
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from lab.errors import LabError
from lab.folders import cache_folder
from lab.tools.obtained import Obtained, in_folder
from lab.tools.progress import Reporter, Step
from lab.tools.table import Tool

PATIENCE_MINUTES = 60.0
"""How long one process waits for another that makes the same tool: more than the longest build on a slow machine."""


def built_folder(tool: Tool) -> Path:
    """Folder of the tool as built from today's recipe; another recipe, source or processor gives another folder."""
    source = sorted(tool.recipe.source.iterdir()) if tool.recipe.source else []
    recipe = asdict(tool.recipe) | {"source": [file.read_text() for file in source]}  # the same from any checkout
    facts = json.dumps([recipe, tool.version, platform.system(), platform.machine()])
    digest = hashlib.sha256(facts.encode())
    return cache_folder() / tool.name / f"{tool.version}-{digest.hexdigest()[:10]}"


def downloaded_folder(tool: Tool) -> Path:
    """Folder of the tool as downloaded."""
    return cache_folder() / tool.name / f"{tool.version}-official"


def cached(tool: Tool) -> Obtained | None:
    """The tool from the cache, the official download before our own build."""
    return in_folder(tool, downloaded_folder(tool), "download") or in_folder(tool, built_folder(tool), "build")


@contextmanager
def only_one(tool: Tool, report: Reporter, patience: float = PATIENCE_MINUTES) -> Iterator[None]:
    """Lets one process at a time make a tool; the others wait, say so, and find it made.

    The lock goes with its process, however that ends, so nothing has to be cleaned up by hand.

    Args:
        tool: What is to be made.
        report: Shows the wait.
        patience: Minutes to wait.

    Raises:
        LabError: If the other one takes longer than that, or the cache cannot be written.
    """
    home = cache_folder() / tool.name
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = FileLock(home / "lock")
        wait_for(lock, tool, report, patience)
    except OSError as problem:
        raise LabError(
            f"The cache folder {home} cannot be written ({problem.strerror}).",
            "Make it writable, or set XDG_CACHE_HOME to a folder that is.",
        ) from problem
    try:
        yield
    finally:
        lock.release()


def wait_for(lock: FileLock, tool: Tool, report: Reporter, patience: float) -> None:
    """Takes the lock of a tool, telling the user if that needs waiting."""
    with suppress(Timeout):
        lock.acquire(timeout=0)
        return
    until = time.monotonic() + patience * 60
    other = f"another process that is making {tool.name}"
    with report.step(Step(f"waiting for {other}", f"waited for {other}")):
        while time.monotonic() < until:
            with suppress(Timeout):
                lock.acquire(timeout=0.2)
                return
            report.tick()
        raise LabError(
            f"Another process has been making {tool.name} for more than {patience:.0f} min.",
            "Wait for it or stop it, then run this again.",
        )


@contextmanager
def filling(target: Path) -> Iterator[Path]:
    """Gives a work folder whose ``result`` becomes ``target`` in one step if the block ends well.

    Whatever happens in the block, ``target`` is either whole or not there. Only for the holder of ``only_one``: what an
    earlier holder left behind is removed first.

    Raises:
        LabError: If the disk fills up.
    """
    partial = target.parent / "partial"
    clear(partial)
    try:
        (partial / "result").mkdir(parents=True)
        yield partial
        if target.exists():  # programs were deleted from it by hand
            shutil.rmtree(target)
        (partial / "result").rename(target)
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
        raise disk_full(target.parent) from problem
    finally:
        clear(partial)


def clear(folder: Path) -> None:
    """Removes a work folder, and ends a ``go`` that still works in it because whoever started it was killed."""
    if not folder.exists():
        return
    for process in psutil.process_iter(["name", "cwd"]):
        where = process.info["cwd"]  # None for processes of others
        if process.info["name"] == "go" and where and Path(where).is_relative_to(folder.resolve()):
            with suppress(psutil.Error):
                process.kill()
                process.wait(timeout=5)
    shutil.rmtree(folder, ignore_errors=True)


def free_megabytes(folder: Path) -> int:
    """Free space on the disk that a folder is on, or will be on once it is made."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return shutil.disk_usage(existing).free // 1_000_000


def require_space(needed: int, folders: Sequence[Path], free: Callable[[Path], int] = free_megabytes) -> None:
    """Stops before a build that the disk has no room for.

    Args:
        needed: Megabytes.
        folders: Folders that grow; any of them may take most of it.
        free: Tells the free megabytes of a folder's disk.

    Raises:
        LabError: If one of them has less.
    """
    for folder in folders:
        if (found := free(folder)) < needed:
            raise LabError(
                f"Building needs {needed / 1000:.1f} GB of disk space at {folder}, but {found / 1000:.1f} GB are free.",
                "Free some space, or set XDG_CACHE_HOME, GOCACHE and GOMODCACHE to folders on a larger disk.",
            )


def disk_full(folder: Path) -> LabError:
    """The error for a disk that filled up in spite of ``require_space``."""
    return LabError(
        f"The disk became full while programs were made for {folder}.",
        "Free some space and run this again; what is already made stays.",
    )
