"""Runs one Pulumi program in a process of its own, started by ``child.py`` with the interpreter of the user's project.

The one argument is JSON: ``folder`` (where to run), ``program`` (path in it), ``arguments`` (of the program), ``root``
(of the project) and ``settings`` (keyword arguments of ``pulumi.runtime.Settings``). Configuration comes in the
environment, which other users of the machine cannot read.
"""

import asyncio
import concurrent.futures
import json
import logging
import os
import re
import runpy
import sys
import sysconfig
import traceback
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

try:
    import grpc
    import pulumi
    import pulumi.runtime
except ModuleNotFoundError as error:
    if error.name not in {"grpc", "pulumi"}:
        raise
    sys.exit(
        f"The Python environment {sys.prefix} has no package pulumi. "
        "Name it in the dependencies of the project and run `pulumi install`."
    )

ERROR_SHOWN = 32
"""Exit code that tells the host that the user has already seen what went wrong."""

_ENDED = re.compile(r"(.*: )?context canceled|resource monitor (has terminated|shut down).*", re.IGNORECASE)
"""What calls that are under way fail with once the engine ends an update: texts of ``resource/deploy/source_eval.go``
and of ``pulumi/runtime/settings.py``, since the SDK gives these errors no type of their own."""


def user_frames(trace: TracebackType | None, root: Path) -> TracebackType | None:
    """The part of a traceback that begins in the user's project; None if no frame is of the project.

    Args:
        trace: Where the error passed through, the outermost frame first.
        root: Folder of the project, absolute. Interpreter and packages may lie in it without being the user's code.
    """
    foreign = {Path(path) for path in sysconfig.get_paths().values()} | {Path(__file__).parent}
    while trace:
        file = Path(trace.tb_frame.f_code.co_filename)
        if root in file.parents and foreign.isdisjoint(file.parents):
            return trace
        trace = trace.tb_next
    return None


def describe(error: Exception, root: Path) -> str:
    """The traceback of a failed program without the frames that only led to it."""
    trace = user_frames(error.__traceback__, root)
    if trace is None and not isinstance(error, SyntaxError):  # a syntax error names its place without any frame
        trace = error.__traceback__
    return "".join(traceback.format_exception(type(error), error, trace))


def is_echo(error: Exception) -> bool:
    """Whether an error only says that the engine has ended the update; the engine has shown why."""
    return type(error) in (Exception, pulumi.RunError) and _ENDED.fullmatch(str(error)) is not None


def show(message: str) -> None:
    """Show an error through the engine. An engine that has hung up has said why the update ended, and needs no more."""
    with suppress(grpc.RpcError):
        pulumi.log.error(message)


def run(request: dict[str, Any]) -> int:
    """Run the program to its end and give the exit code of this process."""
    pulumi.runtime.set_all_config(pulumi.runtime.get_config_env(), pulumi.runtime.get_config_secret_keys_env())
    pulumi.runtime.configure(pulumi.runtime.Settings(**request["settings"]))
    os.chdir(request["folder"])
    program = request["program"]
    sys.argv = [program, *request["arguments"]]
    if Path(program).is_dir() and not Path(program, "__main__.py").exists():
        show(f"There is no program: {Path(program).resolve()} holds no __main__.py.")
        return ERROR_SHOWN

    def run_program() -> None:
        runpy.run_path(program, run_name="__main__")

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # Every resource operation waits in a thread; the default of asyncio would serialise them on small machines.
    loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(max(request["settings"]["parallel"], 1) * 4))
    # A failed program leaves futures that nobody awaits. asyncio would report each, after the error that matters.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(run_program))
    except Exception as error:  # noqa: BLE001 - whatever a program raises is shown to its author
        if isinstance(error, pulumi.RunError):
            shown = str(error)
        else:
            shown = f"Program failed with an unhandled exception:\n{describe(error, Path(request['root']).resolve())}"
        if not is_echo(error):
            show(shown)
        return ERROR_SHOWN
    finally:
        unwind(loop)
    return 0


def unwind(loop: asyncio.AbstractEventLoop) -> None:
    """End the tasks that a failed program leaves, which would complain at exit; wait a second at most."""
    for task in (tasks := asyncio.all_tasks(loop)):
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=1))
    loop.close()


if __name__ == "__main__":
    sys.exit(run(json.loads(sys.argv[1])))
