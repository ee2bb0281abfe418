"""First code of every child: runs Python code as ``python`` would, and ends with the process that started it.

Usage: ``python child.py PATH [ARGUMENT…]`` or ``python child.py -m MODULE [ARGUMENT…]``. It runs with the interpreter
of the user's project, so it needs the standard library only. It leads a process group of its own.

Standard input is the lifeline: a pipe whose other end the host holds and never writes to. However the host ends, the
operating system closes that end, which this process sees as the end of the file. The code that is run finds an empty
standard input.
"""

import os
import runpy
import signal
import sys
import threading
from pathlib import Path

INTERRUPTED = 130
"""Exit code after Ctrl-C, as in a shell."""


def hold_lifeline() -> None:
    """Kill this process and whatever it started once the lifeline breaks."""
    standard_input = 0
    lifeline = os.dup(standard_input)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, standard_input)
    os.close(nothing)

    def watch() -> None:
        while os.read(lifeline, 1):
            pass
        os.killpg(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()


def run(arguments: list[str]) -> None:
    """Run what the arguments name as the main program."""
    # The user's program must never find our modules as its own; with `-m` it finds those of the current folder.
    sys.path[:] = [folder for folder in sys.path if folder != str(Path(__file__).parent)]
    if arguments[0] == "-m":
        sys.path.insert(0, str(Path.cwd()))
        sys.argv[:] = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = arguments
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    hold_lifeline()
    try:
        run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        # The code has ended. To be asked to end while Python clears up would only show a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
