"""Two-phase readiness: workers start after their leader, and a group counts as ready exactly when it serves.

The decisions stand in ``two_phase_probe.py``, which runs in the containers; here it is wired to their probes.
"""

import hashlib
from importlib import resources
from typing import Any

from pulumi_lws.serving.timeouts import Timeouts

FOLDER = "/etc/pulumi-lws"
"""Folder of the containers that the program is mounted in."""

PROGRAM = "two_phase_probe.py"
"""File name of the program."""

_PERIOD_SECONDS = 5
_FAILURES = 2
_LIVENESS_PERIOD_SECONDS = 10
# One look-up of a name (1 s) and one question to /health (3 s) fit with the start of the interpreter.
_PROBE_SECONDS = 6


def program() -> str:
    """Return the text of the probe program."""
    return (resources.files("pulumi_lws.serving") / PROGRAM).read_text(encoding="utf-8")


def config_map_name(name: str) -> str:
    """Return the name of the ConfigMap; it changes with the program, so that a new program rolls the groups."""
    return f"{name}-probe-{hashlib.sha256(program().encode()).hexdigest()[:8]}"


def leader_probes(api_port: int, rendezvous_port: int, timeouts: Timeouts) -> dict[str, Any]:
    """Return readiness and liveness of a leader that serves for its group.

    There is no startupProbe: it would keep the first phase from ever being ready.
    """
    ports = ["--api-port", str(api_port), "--rendezvous-port", str(rendezvous_port)]
    alive = ["--api-port", str(api_port), "--start-budget", str(timeouts.start)]
    return {
        "readinessProbe": _exec("leader-ready", ports, _PERIOD_SECONDS, _FAILURES),
        "livenessProbe": _exec("leader-alive", alive, _LIVENESS_PERIOD_SECONDS, 1),
    }


def worker_probes(api_port: int) -> dict[str, Any]:
    """Return the readiness of a worker. It needs no liveness: a worker's exit and its leader's recreate the group."""
    return {"readinessProbe": _exec("worker-ready", ["--api-port", str(api_port)], _PERIOD_SECONDS, _FAILURES)}


def wait_for_leader_command(timeouts: Timeouts) -> list[str]:
    """Return the command with which a worker waits until its leader's name resolves."""
    return _command("wait-for-leader", ["--start-budget", str(timeouts.leader_lookup)])


def _exec(probe: str, arguments: list[str], period: int, failures: int) -> dict[str, Any]:
    return {
        "exec": {"command": _command(probe, arguments)},
        "periodSeconds": period,
        "timeoutSeconds": _PROBE_SECONDS,
        "failureThreshold": failures,
    }


def _command(probe: str, arguments: list[str]) -> list[str]:
    return ["python3", f"{FOLDER}/{PROGRAM}", probe, *arguments]
