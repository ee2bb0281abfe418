"""The scripts run here as they would in a container, with a stand-in for Ray."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pulumi_lws.serving.engines.ray import RENDEZVOUS_PORT
from pulumi_lws.serving.engines.settings import VllmEngine
from pulumi_lws.serving.engines.vllm import Vllm
from pulumi_lws.serving.timeouts import derive
from tests.serving.engines.launches import filled, launch

HEAD = "127.0.0.29"
"""An address of this machine where nobody else listens on Ray's port."""

ENGINE = Vllm(VllmEngine(backend="ray"))


class Container:
    """A folder that stands for a container: its programs write down how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "ray.py").write_text(
            "from pathlib import Path\n"
            "def init(**_): pass\n"
            f"def nodes(): return [{{'Alive': word == 'alive'}} for word in Path({str(folder / 'nodes')!r})"
            ".read_text().split()]\n",
            encoding="utf-8",
        )
        self.program("ray")
        self.program("vllm")
        (folder / "python3").symlink_to(sys.executable)

    def program(self, name: str, exit_code: int = 0) -> None:
        """Put a program into the container."""
        path = self.folder / name
        path.write_text(f'#!/bin/sh\necho {name} "$@" >> "{self.folder}/calls"\nexit {exit_code}\n', encoding="utf-8")
        path.chmod(0o755)

    def nodes(self, *states: str) -> None:
        """Say which nodes Ray knows."""
        (self.folder / "nodes").write_text(" ".join(states), encoding="utf-8")

    @property
    def calls(self) -> list[str]:
        """How programs were called, in order."""
        path = self.folder / "calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment of the container."""
        return {
            "PATH": f"{self.folder}:/usr/bin:/bin",
            "PYTHONPATH": str(self.folder),
            "VLLM_HOST_IP": "10.0.0.1",
            "LWS_LEADER_ADDRESS": HEAD,
        }

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60, check=False, cwd=self.folder
        )


@pytest.fixture
def container(tmp_path: Path) -> Container:
    return Container(tmp_path)


def leader(budget_seconds: int = 60) -> list[str]:
    timeouts = replace(derive(60), distributed=budget_seconds)
    return filled(ENGINE.leader(launch(timeouts=timeouts)).command, index=0, size=2)


def worker(budget_seconds: int = 60) -> list[str]:
    timeouts = replace(derive(60), distributed=budget_seconds)
    return filled(ENGINE.worker(launch(timeouts=timeouts)).command, index=1, size=2)


STARTED = "ray start --head --port=6379 --node-ip-address=10.0.0.1 --include-dashboard=false --disable-usage-stats"


def test_a_leader_serves_once_every_node_has_joined(container: Container) -> None:
    container.nodes("alive", "dead", "alive")
    assert container.run(leader()).returncode == 0
    serve = leader()[leader().index("vllm") :]
    assert container.calls == [STARTED, " ".join(serve)]
    assert serve[:3] == ["vllm", "serve", "zai-org/GLM-5-FP8"]
    assert serve[serve.index("--distributed-executor-backend") + 1] == "ray"


def test_a_leader_whose_nodes_stay_away_fails_and_says_so(container: Container) -> None:
    container.nodes("alive", "dead")
    ended = container.run(leader(budget_seconds=0))
    assert (ended.returncode, ended.stderr) == (1, "1 of 2 nodes joined Ray within 0 s\n")
    assert container.calls == [STARTED]


def test_a_head_that_does_not_start_is_not_waited_for(container: Container) -> None:
    container.program("ray", exit_code=3)
    assert container.run(leader()).returncode == 3
    assert container.calls == [STARTED]


def test_a_worker_joins_a_head_that_listens(container: Container) -> None:
    with socket.create_server((HEAD, RENDEZVOUS_PORT)):
        assert container.run(worker()).returncode == 0
    assert container.calls == [
        f"ray start --block --address={HEAD}:6379 --node-ip-address=10.0.0.1 --disable-usage-stats"
    ]


def test_a_worker_whose_head_stays_away_fails_and_says_so(container: Container) -> None:
    ended = container.run(worker(budget_seconds=0))
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Ray's head at {HEAD}:6379 did not answer within 0 s: ")
    assert container.calls == []


@pytest.mark.parametrize("command", [leader(), worker()], ids=["leader", "worker"])
def test_a_pod_that_waits_ends_when_it_is_told_to(container: Container, command: list[str]) -> None:
    container.nodes("alive")
    read, write = os.pipe()
    # What waits in the background writes into the pipe first, so that the signal comes while it waits.
    program = "import os, time; os.write(int(os.environ['WAITING']), b'.'); time.sleep(60)"
    place = command.index("ray-leader" if "ray-leader" in command else "ray-worker") + 1
    waiting = [*command[:place], program, *command[place + 1 :]]
    environment = {**container.environment, "WAITING": str(write)}
    with subprocess.Popen(waiting, env=environment, pass_fds=(write,), start_new_session=True) as process:
        os.close(write)
        try:
            assert os.read(read, 1) == b"."
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=30) == 143
        finally:
            # In a container everything ends with PID 1.
            os.killpg(process.pid, signal.SIGKILL)
            os.close(read)
    assert not any(call.startswith("vllm") for call in container.calls)
