"""Two-phase readiness: workers start after their leader, and a group counts as ready exactly when it serves.

The decisions stand in ``two_phase_probe.py``, which runs in the containers; here it is wired to their probes, and
``wait_for_group.py`` to what must wait.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal

from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving.engines.engine import Behaviour
from pulumi_lws.serving.timeouts import Timeouts

FOLDER = "/etc/pulumi-lws"
"""Folder of the containers that the programs are mounted in."""

PERIOD_SECONDS = 5
"""How often readiness is asked."""

FAILURES = 2
"""How many times in a row readiness is denied before a pod is not ready."""

LIVENESS_PERIOD_SECONDS = 10
"""How often liveness is asked."""

# A container runtime that is slow to start the program denies too; one slow answer must not cost a group.
LIVENESS_FAILURES = 3
_PROBE = "two_phase_probe.py"
_WAIT = "wait_for_group.py"
# One look-up of a name (1 s) and one question to the engine (3 s) fit, with the start of the interpreter.
_PROBE_SECONDS = 6
_PLAIN_PROBE_SECONDS = 5
_SILENCE_SECONDS = 180


def problems(behaviour: Behaviour, group_size: int) -> list[Problem]:
    """Return what keeps groups of this size from being ready."""
    if group_size == 1 or behaviour.runs_probe:
        return []
    return [
        Problem(
            "engine.hasPython",
            f"false, for groups of {group_size} pods",
            "true for groups of 2 pods or more, false for a group of 1",
            "Take an image with python3 (3.9 or newer) and set hasPython to true, or choose a parallelism that fits"
            " one pod: no probe of a port tells a leader that gathers its workers from one that still loads.",
        )
    ]


def probes(
    behaviour: Behaviour,
    position: Literal["leader", "worker"],
    group_size: int,
    timeouts: Timeouts,
    *,
    host_network: bool,
) -> dict[str, Any]:
    """Return the probes of an engine's container, as fields of it.

    Args:
        behaviour: What the engine does.
        position: Which pod of the group it is; the only one is its leader.
        group_size: Pods of the group.
        timeouts: Every time-out.
        host_network: Whether the pod uses the network of its node.
    """
    if group_size == 1:
        return _plain_probes(behaviour, timeouts)
    if position == "leader":
        return _leader_probes(behaviour, timeouts, host_network=host_network)
    if behaviour.serves == "every_pod":
        return _plain_probes(behaviour, timeouts)
    # It needs no liveness: a worker's exit recreates the group, and so does its leader's.
    return {"readinessProbe": _exec("worker-ready", _health(behaviour), PERIOD_SECONDS, FAILURES)}


def leader_command(
    behaviour: Behaviour, command: Sequence[str], group_size: int, timeouts: Timeouts
) -> tuple[str, ...]:
    """Return the command of a leader, which waits for its workers first where they must be up first.

    It waits in the main container: LWS makes the workers once the leader is Ready, and a pod whose init containers
    run never is.
    """
    if group_size == 1 or behaviour.startup == "leader_first":
        return tuple(command)
    port = [] if behaviour.rendezvous_port is None else ["--port", str(behaviour.rendezvous_port)]
    return (*_wait("workers", timeouts.start), *port, "--", *command)


def wait_for_leader_command(timeouts: Timeouts) -> list[str]:
    """Return the command with which a worker waits until its leader's name resolves."""
    return _wait("leader", timeouts.leader_lookup)


def config_map(name: str, namespace: str) -> dict[str, Any]:
    """Return the ConfigMap that holds the programs for the deployment ``name``; it must exist before the pods."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": config_map_name(name), "namespace": namespace},
        "data": dict(programs()),
    }


def config_map_name(name: str) -> str:
    """Return the name of the ConfigMap; it changes with the programs, so that new ones roll the groups."""
    return f"{name}-probe-{hashlib.sha256(''.join(programs().values()).encode()).hexdigest()[:8]}"


@cache
def programs() -> Mapping[str, str]:
    """Return the text of each program by its file name."""
    folder = resources.files("pulumi_lws.serving")
    return MappingProxyType({name: (folder / name).read_text(encoding="utf-8") for name in (_PROBE, _WAIT)})


def _leader_probes(behaviour: Behaviour, timeouts: Timeouts, *, host_network: bool) -> dict[str, Any]:
    """Return readiness and liveness of a leader with workers.

    There is no startupProbe: it would keep the first phase from ever being ready.
    """
    ready = _health(behaviour)
    # A leader that starts after its workers gathers them from its first moment.
    if behaviour.startup == "leader_first" and behaviour.rendezvous_port is not None:
        ready += ["--rendezvous-port", str(behaviour.rendezvous_port)]
        ready += ["--own-sockets"] if host_network else []
    alive = [*_health(behaviour), "--budget", str(timeouts.start)]
    return {
        "readinessProbe": _exec("leader-ready", ready, PERIOD_SECONDS, FAILURES),
        "livenessProbe": _exec("leader-alive", alive, LIVENESS_PERIOD_SECONDS, LIVENESS_FAILURES),
    }


def _plain_probes(behaviour: Behaviour, timeouts: Timeouts) -> dict[str, Any]:
    """Return the probes of a pod that answers for itself and holds up nobody's start."""
    asked = {
        "httpGet": {"path": behaviour.health_path, "port": behaviour.health_port},
        "timeoutSeconds": _PLAIN_PROBE_SECONDS,
    }
    return {
        "startupProbe": _every(asked, LIVENESS_PERIOD_SECONDS, timeouts.start // LIVENESS_PERIOD_SECONDS),
        "readinessProbe": _every(asked, PERIOD_SECONDS, FAILURES),
        "livenessProbe": _every(asked, LIVENESS_PERIOD_SECONDS, _SILENCE_SECONDS // LIVENESS_PERIOD_SECONDS),
    }


def _health(behaviour: Behaviour) -> list[str]:
    return ["--health-port", str(behaviour.health_port), "--health-path", behaviour.health_path]


def _exec(probe: str, arguments: list[str], period: int, failures: int) -> dict[str, Any]:
    # Isolated from the image's site-packages and Python variables: they cost time, and may break it.
    command = ["python3", "-IS", f"{FOLDER}/{_PROBE}", probe, *arguments]
    return _every({"exec": {"command": command}, "timeoutSeconds": _PROBE_SECONDS}, period, failures)


def _every(asked: dict[str, Any], period: int, failures: int) -> dict[str, Any]:
    return {**asked, "periodSeconds": period, "failureThreshold": failures}


def _wait(whom: str, budget: int) -> list[str]:
    # Isolated too, but for its own folder: it uses the probe's look-up.
    return ["python3", "-ES", f"{FOLDER}/{_WAIT}", whom, "--budget", str(budget)]
