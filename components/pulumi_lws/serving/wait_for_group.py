"""Waits for the rest of a group before a container goes on: ``python3 wait_for_group.py leader``, or ``workers -- …``.

Standard library of Python 3.9 only, as the probe that it lies beside. Exit 0 means that they are there, 1 that they did
not come; after ``--`` stands the command that takes its place once they are.
"""

import argparse
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence

try:
    from two_phase_probe import PRESENT, look_up, worker_name  # type: ignore[import-not-found]  # beside it in a pod
except ImportError:
    from pulumi_lws.serving.two_phase_probe import PRESENT, look_up, worker_name

CONNECT_SECONDS = 1.0


def missing_leader(address: str) -> str:
    """Return what is missing before a worker may start: its leader's name; empty if nothing is."""
    return "" if look_up(address).answer == PRESENT else f"the leader's name {address} did not resolve"


def missing_worker(address: str, size: int, port: int) -> str:
    """Return what is missing before a leader may start: a worker's name, or its port, unless 0; empty if nothing is."""
    for name in (worker_name(address, index) for index in range(1, size)):
        found = look_up(name)
        if found.answer != PRESENT:
            return f"the worker's name {name} did not resolve"
        if port and not accepts(found.address, port):
            return f"the worker {name} did not open port {port}"
    return ""


def accepts(address: str, port: int) -> bool:
    """Tell whether somebody accepts connections."""
    try:
        with socket.create_connection((address, port), timeout=CONNECT_SECONDS):
            return True
    except OSError:
        return False


def wait(
    missing: Callable[[], str],
    budget: float,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Ask every second what is missing until nothing is, within the budget of seconds."""
    end = clock() + budget
    while what := missing():
        if clock() >= end:
            sys.stderr.write(f"{what} within {budget:.0f} s\n")
            return False
        sleep(1)
    return True


def become(command: Sequence[str]) -> int:
    """Run ``command`` in the place of this process; return only if it cannot be run."""
    # Python ignores these, and what is ignored stays so in the command.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], list(command))  # noqa: S606 - no shell is the point
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]}: {error.strerror}\n")
    return 127


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Wait for whom the arguments name and return the exit code, unless a command took the place of this process."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser()
    parser.add_argument("whom", choices=["leader", "workers"])
    parser.add_argument("--budget", type=float, default=3600.0, help="seconds")
    parser.add_argument(
        "--port", type=int, default=0, help="port that each worker must open; default: a name is enough"
    )
    options, command = parser.parse_args(arguments[:split]), arguments[split + 1 :]
    # The first process of a container that handles no signal is deaf to it.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    leader, size = environment.get("LWS_LEADER_ADDRESS", ""), int(environment.get("LWS_GROUP_SIZE", "1"))
    if not leader:
        sys.stderr.write("LWS_LEADER_ADDRESS is empty: this pod is in no group of a LeaderWorkerSet\n")
        return 1
    missing: Mapping[str, Callable[[], str]] = {
        "leader": lambda: missing_leader(leader),
        "workers": lambda: missing_worker(leader, size, options.port),
    }
    if not wait(missing[options.whom], options.budget):
        return 1
    return become(command) if command else 0


if __name__ == "__main__":
    code = main(sys.argv[1:], os.environ)
    sys.stderr.flush()
    # A look-up that still hangs in its thread must not hold up the exit.
    os._exit(code)
