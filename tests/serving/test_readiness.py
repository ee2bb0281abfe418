"""How the probe program is wired to containers: which pod gets which probes."""

from dataclasses import replace
from typing import Any

import pytest

from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving import readiness, timeouts
from pulumi_lws.serving.engines.engine import Behaviour

LIMITS = timeouts.derive(60)
SERVES_ALONE = Behaviour(
    serves="leader", startup="leader_first", rendezvous_port=29501, ports={"http": 8000}, health_port=8000
)
EVERY_POD = replace(SERVES_ALONE, serves="every_pod", rendezvous_port=29550, health_port=8208, health_path="/ready")
WORKERS_FIRST = replace(SERVES_ALONE, startup="workers_first", rendezvous_port=50052)

PROBE = ["python3", "-IS", "/etc/pulumi-lws/two_phase_probe.py"]
WAIT = ["python3", "-ES", "/etc/pulumi-lws/wait_for_group.py"]
HEALTH = ["--health-port", "8000", "--health-path", "/health"]


def executed(command: list[str], period: int, failures: int) -> dict[str, Any]:
    return {
        "exec": {"command": [*PROBE, *command]},
        "timeoutSeconds": 6,
        "periodSeconds": period,
        "failureThreshold": failures,
    }


def asked(path: str, port: int, period: int, failures: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": path, "port": port},
        "timeoutSeconds": 5,
        "periodSeconds": period,
        "failureThreshold": failures,
    }


def test_a_leader_of_workers_is_asked_by_the_program_and_has_no_startup_probe() -> None:
    assert readiness.probes(SERVES_ALONE, "leader", 2, LIMITS, host_network=False) == {
        "readinessProbe": executed(["leader-ready", *HEALTH, "--rendezvous-port", "29501"], 5, 2),
        "livenessProbe": executed(["leader-alive", *HEALTH, "--budget", "3600"], 10, 3),
    }


def test_a_worker_of_a_leader_that_serves_alone_asks_for_its_leader() -> None:
    assert readiness.probes(SERVES_ALONE, "worker", 2, LIMITS, host_network=False) == {
        "readinessProbe": executed(["worker-ready", *HEALTH], 5, 2)
    }


def test_where_every_pod_serves_only_the_leader_gathers_and_workers_answer_for_themselves() -> None:
    leader = readiness.probes(EVERY_POD, "leader", 2, LIMITS, host_network=False)
    health = ["--health-port", "8208", "--health-path", "/ready"]
    assert leader["readinessProbe"] == executed(["leader-ready", *health, "--rendezvous-port", "29550"], 5, 2)
    assert readiness.probes(EVERY_POD, "worker", 2, LIMITS, host_network=False) == {
        "startupProbe": asked("/ready", 8208, 10, 360),
        "readinessProbe": asked("/ready", 8208, 5, 2),
        "livenessProbe": asked("/ready", 8208, 10, 18),
    }


@pytest.mark.parametrize("behaviour", [SERVES_ALONE, EVERY_POD, WORKERS_FIRST, replace(SERVES_ALONE, runs_probe=False)])
def test_a_group_of_one_pod_needs_no_program(behaviour: Behaviour) -> None:
    behaviour = replace(behaviour, health_port=8000, health_path="/health")
    assert readiness.probes(behaviour, "leader", 1, LIMITS, host_network=True) == {
        "startupProbe": asked("/health", 8000, 10, 360),
        "readinessProbe": asked("/health", 8000, 5, 2),
        "livenessProbe": asked("/health", 8000, 10, 18),
    }
    assert readiness.leader_command(behaviour, ["serve"], 1, LIMITS) == ("serve",)
    assert readiness.problems(behaviour, 1) == []


def test_on_the_network_of_a_node_a_leader_looks_at_its_own_sockets() -> None:
    leader = readiness.probes(SERVES_ALONE, "leader", 2, LIMITS, host_network=True)
    command = ["leader-ready", *HEALTH, "--rendezvous-port", "29501", "--own-sockets"]
    assert leader["readinessProbe"] == executed(command, 5, 2)


def test_a_leader_that_starts_last_waits_in_its_main_container_and_gathers_from_its_start() -> None:
    waiting = [*WAIT, "workers", "--budget", "3600", "--port", "50052", "--", "llama-server", "--rpc"]
    assert readiness.leader_command(WORKERS_FIRST, ["llama-server", "--rpc"], 2, LIMITS) == tuple(waiting)
    leader = readiness.probes(WORKERS_FIRST, "leader", 2, LIMITS, host_network=True)
    assert leader["readinessProbe"] == executed(["leader-ready", *HEALTH], 5, 2)
    by_name = replace(WORKERS_FIRST, rendezvous_port=None)
    assert readiness.leader_command(by_name, ["mpirun"], 2, LIMITS) == (
        *WAIT,
        *("workers", "--budget", "3600", "--", "mpirun"),
    )


def test_a_leader_that_starts_first_runs_its_command_as_it_is() -> None:
    assert readiness.leader_command(SERVES_ALONE, ["vllm", "serve"], 2, LIMITS) == ("vllm", "serve")


def test_a_worker_waits_for_its_leader_as_long_as_the_start_may_take() -> None:
    assert readiness.wait_for_leader_command(LIMITS) == [*WAIT, "leader", "--budget", "3600"]


def test_an_image_without_python_is_refused_for_groups_with_workers() -> None:
    assert readiness.problems(SERVES_ALONE, 2) == []
    assert readiness.problems(replace(SERVES_ALONE, runs_probe=False), 2) == [
        Problem(
            "engine.hasPython",
            "false, for groups of 2 pods",
            "true for groups of 2 pods or more, false for a group of 1",
            "Take an image with python3 (3.9 or newer) and set hasPython to true, or choose a parallelism that fits"
            " one pod: no probe of a port tells a leader that gathers its workers from one that still loads.",
        )
    ]


def test_the_config_map_is_named_by_what_the_programs_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "programs", lambda: {"a.py": "pass\n"})
    assert readiness.config_map("glm-5", "models") == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "glm-5-probe-9f56e761", "namespace": "models"},
        "data": {"a.py": "pass\n"},
    }
    before = readiness.config_map_name("glm-5")
    monkeypatch.setattr(readiness, "programs", lambda: {"a.py": "pass\n", "b.py": "pass\n"})
    assert readiness.config_map_name("glm-5") != before


def test_the_config_map_holds_every_program_that_a_container_runs() -> None:
    run = [PROBE[2], WAIT[2]]
    assert [f"{readiness.FOLDER}/{name}" for name in readiness.config_map("glm-5", "models")["data"]] == run
