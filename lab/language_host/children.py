"""Starting and ending the processes that run the user's code. None of them outlives the host."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypedDict

from lab.language_host.interpreter import Interpreter

PIECE = 2**16  # bytes

HERE = Path(__file__).resolve().parent

GRACE = 3.0
"""Seconds that a child has between being asked to end and being killed. The engine gives the host itself five."""

QUIET_GRPC = {"GRPC_VERBOSITY": "ERROR"}
"""Keeps gRPC from noting on standard error, which the user sees, that the engine has hung up."""


class Written(TypedDict, total=False):
    """A piece of what a process wrote, to one of its streams."""

    stdout: bytes
    stderr: bytes


class Children:
    """The living children of the host."""

    def __init__(self) -> None:
        self._living: set[Process] = set()

    @asynccontextmanager
    async def start(
        self,
        interpreter: Interpreter,
        *arguments: str,
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
        piped: bool = False,
    ) -> AsyncIterator[Process]:
        """A process that runs ``arguments`` as Python would; it has ended when the context ends.

        Args:
            interpreter: What runs it.
            *arguments: A path or ``-m`` and a module, then the arguments of that.
            folder: Where to run, the host's own folder if None.
            environment: Its variables before activation, those of the host if None.
            piped: Whether its output can be read with ``output``. Otherwise it goes where the host's own goes, which
                the engine shows as output of the program.
        """
        process = await asyncio.create_subprocess_exec(
            interpreter.executable,
            "-u",  # what a program prints is seen while it runs, and not lost if it is killed
            HERE / "child.py",
            *arguments,
            cwd=folder,
            env=QUIET_GRPC | interpreter.environment(os.environ if environment is None else environment),
            stdin=PIPE,  # the lifeline, see child.py
            stdout=PIPE if piped else None,
            stderr=PIPE if piped else None,
            process_group=0,  # signals then reach what the child started, and only through this module
        )
        self._living.add(process)
        try:
            yield process
        finally:
            await end(process)
            self._living.discard(process)

    async def end_all(self) -> None:
        """End every child."""
        await asyncio.gather(*map(end, self._living))


async def end(process: Process) -> None:
    """Interrupt a process and what it started, as Ctrl-C does, and wait for its end; after the grace it is killed."""
    for request in (signal.SIGINT, signal.SIGKILL):
        if process.returncode is None:
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.killpg(process.pid, request)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
            return


async def output(process: Process) -> AsyncIterator[Written]:
    """What a piped process writes, as it writes it, until both streams end."""
    pieces: asyncio.Queue[Written | None] = asyncio.Queue()

    async def read_stdout(stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(PIECE):
            pieces.put_nowait({"stdout": piece})

    async def read_stderr(stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(PIECE):
            pieces.put_nowait({"stderr": piece})

    if process.stdout and process.stderr:
        reading = asyncio.gather(read_stdout(process.stdout), read_stderr(process.stderr))
        reading.add_done_callback(lambda _: pieces.put_nowait(None))
        while written := await pieces.get():
            yield written
