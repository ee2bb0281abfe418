"""What one probe of two-phase readiness costs: it runs beside the engine, every few seconds and on every pod."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from pulumi_lws.serving import two_phase_probe

RUNS = 10
MOST_MILLISECONDS = 100
PROGRAM = Path(two_phase_probe.__file__)

_PROBES = {
    # Nothing answers on port 1. A leader without a rendezvous port gathers, so it looks up its first worker too.
    "leader-ready": ("--health-port", "1"),
    "leader-ready of a node": ("--health-port", "1", "--rendezvous-port", "29501", "--own-sockets"),
    "leader-alive": ("--health-port", "1"),
    "worker-ready": ("--health-port", "1"),
}


def measure() -> list[str]:
    """Return a line for each probe with the CPU time that it takes, and what is wanted."""
    return [
        f"probe {name} {_milliseconds(name.partition(' ')[0], *arguments):.0f} ms of CPU,"
        f" at most {MOST_MILLISECONDS} wanted"
        for name, arguments in _PROBES.items()
    ]


def _milliseconds(*arguments: str) -> float:
    """Return the least CPU time of some runs, since the machine's own noise only ever adds."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-IS", str(PROGRAM), *arguments, "--state-folder", folder]
        return min(_cpu_seconds(command) for _ in range(RUNS)) * 1000


def _cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"LWS_LEADER_ADDRESS": "probe-0.probe.invalid"}
    subprocess.run(command, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
