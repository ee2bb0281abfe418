"""A Python environment of its own with vLLM, whose parser judges our command lines; it needs no GPU."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from lab.errors import LabError
from lab.folders import cache_folder
from lab.tools.failures import SHOWN_LINES
from lab.tools.progress import Reporter, Step
from pulumi_lws.facts.versions import PINS

VERSION = PINS["vllm-parser"].version
"""Version of vLLM that is installed."""

INSTALL_SECONDS = 40 * 60.0
"""Longest installation: 4 GB come over the network."""

NEEDED_GIGABYTES = 20
"""Free space that an installation wants: 9.4 GB stay, and as much passes through."""

Install = Callable[[Path, Path, float, Callable[[], None]], None]
"""Fills a folder with the environment and writes a log, within some seconds; calls back a few times a second."""


def interpreter(report: Reporter, install: Install | None = None, limit: float = INSTALL_SECONDS) -> Path:
    """Return the Python of the environment, and make it first where it is missing.

    Whoever comes second waits for the first. An environment is made beside its place and moved there in one step, so
    one that is there is whole.

    Args:
        report: Shows how far it is.
        install: Makes an environment; with uv unless a test has another.
        limit: Longest installation, and longest wait for another's, in seconds.

    Raises:
        LabError: If it takes too long, the disk has no room, or packages cannot be had.
    """
    home = cache_folder() / "vllm"
    place = home / VERSION
    if _works(place):
        return python_of(place)
    home.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(home / f"{VERSION}.lock", timeout=limit):
            if not _works(place):
                _make(home, place, report, install or _with_uv, limit)
    except Timeout as problem:
        raise LabError(
            f"Another process has been installing vLLM for more than {limit / 60:.0f} min.",
            "Wait for it or stop it, then run this again.",
        ) from problem
    return python_of(place)


def python_of(folder: Path) -> Path:
    """Return where an environment has its interpreter."""
    return folder / "bin" / "python"


def _works(folder: Path) -> bool:
    """Tell whether an environment is there, and the interpreter it was made from still is."""
    return python_of(folder).exists()


def _make(home: Path, place: Path, report: Reporter, install: Install, limit: float) -> None:
    free = shutil.disk_usage(home).free / 1e9
    if free < NEEDED_GIGABYTES:
        raise LabError(
            f"vLLM needs {NEEDED_GIGABYTES} GB of disk space at {home}, but {free:.1f} GB are free.",
            "Free some space, or set XDG_CACHE_HOME to a folder on a larger disk.",
        )
    # Whoever left these was killed: we hold the lock.
    partial = home / f"{VERSION}.partial"
    for left in (partial, place):
        shutil.rmtree(left, ignore_errors=True)
    try:
        with report.step(Step(f"installing vLLM {VERSION}", f"installed vLLM {VERSION}", usual=300)):
            install(partial, home / f"{VERSION}.log", limit, report.tick)
        partial.rename(place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _with_uv(folder: Path, log: Path, limit: float, tick: Callable[[], None]) -> None:
    uv = Path(sys.executable).with_name("uv")
    empty: list[str | Path] = [uv, "venv", "--no-cache", "--python", sys.executable, folder]
    packages: list[str | Path] = [
        uv,
        "pip",
        "install",
        "--no-cache",
        "--no-progress",
        "--python",
        python_of(folder),
        f"vllm=={VERSION}",
    ]
    end = time.monotonic() + limit
    log.write_bytes(b"")
    for command in (empty, packages):
        _run(command, log, end, tick)


def _run(command: Sequence[str | Path], log: Path, end: float, tick: Callable[[], None]) -> None:
    with log.open("ab") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            while process.poll() is None and time.monotonic() < end:
                tick()
                time.sleep(0.2)
            late = process.poll() is None
        finally:
            process.kill()
    if late:
        raise LabError("Installing vLLM took too long.", f"Run this again; the whole log is in {log}.")
    if process.returncode:
        printed = log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN_LINES:]
        raise LabError("vLLM cannot be installed.", f"The whole log is in {log}.", "\n".join(printed))
