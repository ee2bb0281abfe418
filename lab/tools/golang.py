"""The Go toolchain of this machine: whether it will do, and running it so that it never outlives us."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError
from lab.tools.table import GO_NEEDED, Tool

FETCHES_TOOLCHAINS = (1, 21, 0)
"""Go release from which an older ``go`` command downloads the newer one that a module asks for."""

TAKES_AWAY_OUR_MODULES = ("-mod", "-modfile", "-overlay")
"""Flags in a user's GOFLAGS that are meant for their own module and would break ours."""


@dataclass(frozen=True)
class Go:
    """A usable toolchain.

    Attributes:
        program: The ``go`` command.
        settings: Environment variables that every call of it gets on top of the user's.
        caches: Folders outside ours that a build fills.
    """

    program: str
    settings: dict[str, str]
    caches: tuple[Path, ...]


def find_go(tools: Sequence[Tool]) -> Go:
    """The toolchain on PATH.

    Args:
        tools: What it is wanted for; named in the error.

    Raises:
        LabError: If there is none, or it is too old and may not fetch a newer one.
    """
    ways = f"Install Go {GO_NEEDED} or newer (https://go.dev/dl){or_bring_along(tools)}."
    program = shutil.which("go")
    if program is None:
        raise LabError(f"No Go toolchain was found to build {listed([tool.name for tool in tools])}.", ways)
    names = ["GOVERSION", "GOTOOLCHAIN", "GOFLAGS", "GOCACHE", "GOMODCACHE", "GOHOSTOS", "GOHOSTARCH"]
    try:
        answer = subprocess.run(
            [program, "env", "-json", *names], cwd="/", capture_output=True, text=True, timeout=60, check=True
        )
        found: dict[str, str] = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as failure:
        raise LabError(f"The Go toolchain {program} does not work.", ways, str(failure)) from failure
    version = go_release(found["GOVERSION"])
    may_fetch = version >= FETCHES_TOOLCHAINS and not found["GOTOOLCHAIN"].startswith("local")
    if version < go_release(GO_NEEDED) and not may_fetch:
        raise LabError(f"The Go toolchain {program} is {found['GOVERSION']}, but Go {GO_NEEDED} is needed.", ways)
    return Go(program, settings(found), (Path(found["GOCACHE"]), Path(found["GOMODCACHE"])))


def go_release(text: str) -> tuple[int, int, int]:
    """The release in what Go calls its version: ``go1.26.8``, ``go1.27rc1``, ``devel go1.28-3f2a…``."""
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else (0, 0, 0)


def settings(found: dict[str, str]) -> dict[str, str]:
    """Settings that make a build of ours independent of what the user has set up for their own modules.

    Where modules come from and how they are verified stays theirs. No value is empty: Go reads an empty variable as one
    that is not set, and would take the value from ``go env -w`` after all.
    """
    flags = [flag for flag in found["GOFLAGS"].split() if flag.split("=")[0] not in TAKES_AWAY_OUR_MODULES]
    return {
        "GOFLAGS": " ".join([*flags, "-buildvcs=false"]),
        "GOWORK": "off",
        "GO111MODULE": "on",
        "GOOS": found["GOHOSTOS"],
        "GOARCH": found["GOHOSTARCH"],
        "CGO_ENABLED": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


class GoFailedError(Exception):
    """A ``go`` command failed; the text is what it printed."""


def run(go: Go, arguments: Sequence[str], folder: Path, log: Path, tick: Callable[[], None]) -> str:
    """Runs a ``go`` command and gives what it printed.

    Args:
        go: The toolchain.
        arguments: What follows ``go``.
        folder: Folder of the module; temporary files go to ``tmp`` beside it.
        log: File that the output is added to.
        tick: Called a few times a second.

    Raises:
        GoFailedError: If the command fails.
    """
    scratch = folder.parent / "tmp"
    scratch.mkdir(exist_ok=True)
    environment = {"GOTMPDIR": str(scratch)} | os.environ | go.settings
    with log.open("a+b") as output:
        output.write(f"$ go {' '.join(arguments)}\n".encode())
        output.flush()
        start = output.tell()
        # A group of its own lets us end the compilers together with the go command that started them.
        process = subprocess.Popen(
            [go.program, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        try:
            wait(process, tick)
        except BaseException:
            end_group(process)
            raise
        output.seek(start)
        printed = output.read().decode(errors="replace")
    if process.returncode:
        raise GoFailedError(printed)
    return printed


def wait(process: "subprocess.Popen[bytes]", tick: Callable[[], None]) -> None:
    """Waits for a process while something goes on ticking."""
    while True:
        try:
            process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            tick()
        else:
            return


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """Ends a process and everything in its group; nothing of it is worth a clean shutdown."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def or_bring_along(tools: Sequence[Tool]) -> str:
    """The other way out: programs to put on PATH, with the versions that would do; empty if there is none."""
    forms = {"at least": "{} {} or newer", "same minor": "{} {}"}
    programs = [forms[tool.suits].format(listed(tool.binaries), tool.version) for tool in tools if tool.suits]
    return f", or put on PATH: {'; '.join(programs)}" if programs else ""


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them: ``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
