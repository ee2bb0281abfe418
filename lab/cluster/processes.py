"""The processes of a lab, as the process table knows them.

Each part is started with two variables in its environment that say whose it is. Finding parts by these and not by
files with process ids means that a start that was killed halfway, or a state folder that is gone, hides nothing.
"""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from lab.cluster.layout import Layout
from lab.cluster.parts import Part
from lab.errors import LabError

LAB = "PULUMI_LWS_LAB_FOLDER"
PART = "PULUMI_LWS_LAB_PART"

_PASSED_ON = ("PATH", "TMPDIR", "LANG")
"""All that parts get of the caller's environment: no credentials, no proxies."""

_PATIENCE = 5.0
"""Seconds for a part to end by itself once it was asked to, and again once it was killed."""
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Running:
    """A part that runs.

    Attributes:
        part: Its name.
        process: Its process.
        command: Its command line.
    """

    part: str
    process: psutil.Process
    command: tuple[str, ...]


def find(folder: Path) -> list[Running]:
    """All living processes of the lab whose state folder is ``folder``, oldest first."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
            if environment.get(LAB) == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(Running(environment.get(PART, ""), process, tuple(process.cmdline())))
        except (psutil.Error, OSError):
            # It ended meanwhile or is another user's: in no case one of ours.
            continue
    return sorted(found, key=lambda running: running.process.create_time())


def find_engines(folder: Path) -> list[Running]:
    """Processes whose program stands in the state folder: the Pulumi engine and its plugins, which outlive a kill."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            program = Path(process.exe())
            if program.is_relative_to(folder):
                found.append(Running(program.name, process, tuple(process.cmdline())))
    return found


def start(layout: Layout, part: Part) -> psutil.Process:
    """Start a part in a session of its own, so that it outlives the caller and its terminal.

    Raises:
        LabError: Its program cannot be run.
    """
    log = layout.log(part.name)
    if log.exists():
        log.replace(layout.earlier_log(part.name))
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # With a home of their own, parts read no settings that the person keeps for programs of the same name.
    environment |= {"HOME": str(layout.folder), **part.environment, LAB: str(layout.folder), PART: part.name}
    try:
        # Not subprocess.Popen: it complains about children that outlive it, which these are meant to.
        pid = os.posix_spawn(
            part.command[0],
            part.command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    except OSError as error:
        raise LabError(
            f"{part.name} cannot be started: {part.command[0]}: {error.strerror}.",
            "Run `python -m lab build` to obtain the programs again.",
        ) from error
    return psutil.Process(pid)


def stop(running: Iterable[Running], order: Iterable[str]) -> list[Running]:
    """End processes, those of the last part in ``order`` first; return those that would not end.

    Each part is asked to end and, after a bounded wait, killed. Unknown parts go first.
    """
    position = {part: index for index, part in enumerate(order)}
    latest_first = sorted(running, key=lambda found: position.get(found.part, len(position)), reverse=True)
    return [found for found in latest_first if not _end(found.process)]


def _end(process: psutil.Process) -> bool:
    """Whether the process ended, asked or killed."""
    for ask in (process.terminate, process.kill):
        with suppress(psutil.NoSuchProcess):
            ask()
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if _has_ended(process):
                return True
            time.sleep(_POLL_SECONDS)
    return False


def _has_ended(process: psutil.Process) -> bool:
    # Not Process.wait: an orphan's entry stays until process 1 collects it, which can take seconds in a container.
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
