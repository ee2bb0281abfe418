"""The probe program as a container runs it: real processes, real sockets, and a resolver that asks a DNS stand-in."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.serving import two_phase_probe, wait_for_group

PROGRAM = Path(two_phase_probe.__file__)
WAIT = Path(wait_for_group.__file__)
STAGE = Path(__file__).with_name("probe_stage.py")
# What a pod has on EKS: an unqualified name is tried in each domain and then in the world.
POD_RESOLV_CONF = (
    "nameserver 127.0.0.1\nsearch models.svc.cluster.local svc.cluster.local cluster.local eu-west-1.compute.internal\n"
    "options ndots:5\n"
)
LEADER = "glm-5-0.glm-5.models"
WORKER = "glm-5-0-1.glm-5.models.svc.cluster.local"
SECOND_WORKER = "glm-5-0-2.glm-5.models.svc.cluster.local"
LEADER_READY = ("leader-ready", "--health-port", "8000", "--rendezvous-port", "29501")
LISTENS = {"listen": 29501}
NO_WORKER: dict[str, Any] = {"names": {}}


def in_namespaces(*namespaces: str) -> list[str]:
    """The start of a command that runs in new namespaces; skips where the machine forbids them."""
    command = ["unshare", "--user", "--map-root-user", *namespaces]
    if shutil.which("unshare") is None:
        pytest.skip("there is no program unshare, which gives a test a network of its own")
    tried = subprocess.run([*command, "true"], check=False, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"this machine gives a test no namespaces of its own: {tried.stderr.strip()}")
    return command


class Stage:
    """Plays steps with the program; says what each run ended with."""

    def __init__(self, state: Path) -> None:
        self.command = [*in_namespaces("--mount", "--net"), sys.executable, "-I", str(STAGE)]
        self.state = state

    def run(self, *arguments: str) -> dict[str, Any]:
        """The step that runs a probe."""
        command = [sys.executable, "-IS", str(PROGRAM), *arguments, "--state-folder", str(self.state)]
        return {"run": command, "environment": {"LWS_LEADER_ADDRESS": LEADER}}

    def wait(self, *arguments: str, size: int = 2) -> dict[str, Any]:
        """The step that waits for the rest of the group."""
        environment = {"LWS_LEADER_ADDRESS": LEADER, "LWS_GROUP_SIZE": str(size)}
        return {"run": [sys.executable, "-ES", str(WAIT), *arguments], "environment": environment}

    def ready(self) -> dict[str, Any]:
        """The step that asks whether the leader is ready."""
        return self.run(*LEADER_READY)

    def play(self, *steps: dict[str, Any], resolv_conf: str = POD_RESOLV_CONF) -> list[tuple[int, str]]:
        """Exit code and output of each run."""
        wanted = json.dumps({"resolv.conf": resolv_conf, "steps": steps})
        ended = subprocess.run(
            self.command, input=wanted, check=True, stdout=subprocess.PIPE, text=True, timeout=60
        ).stdout
        return [(one["code"], (one["out"] + one["error"]).strip()) for one in json.loads(ended)]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_a_leader_that_does_not_listen_yet_asks_nobody(stage: Stage) -> None:
    assert stage.play(stage.ready()) == [(1, "serves: no, gathers: not yet")]


def test_a_leader_is_ready_while_it_gathers_and_not_once_its_first_worker_has_a_name(stage: Stage) -> None:
    assert stage.play(LISTENS, stage.ready(), {"names": {WORKER: "127.0.0.2"}}, stage.ready()) == [
        (0, "serves: no, gathers: yes, first worker: absent"),
        (1, "serves: no, gathers: yes, first worker: present"),
    ]


def test_a_leader_is_ready_once_it_serves_whatever_the_resolver_says(stage: Stage) -> None:
    names = {"names": {WORKER: "failing"}}
    assert stage.play(LISTENS, names, {"serve": 8000}, stage.ready()) == [(0, "serves: yes, gathers: yes")]


def test_the_name_of_an_old_worker_holds_up_a_new_leader_as_long_as_it_lingers(stage: Stage) -> None:
    lingering = {"names": {WORKER: "127.0.0.2"}}
    assert [code for code, _ in stage.play(LISTENS, lingering, stage.ready(), NO_WORKER, stage.ready())] == [1, 0]


@pytest.mark.parametrize("trouble", ["failing", "silent", "slow"])
def test_a_resolver_in_trouble_keeps_the_last_state(stage: Stage, trouble: str) -> None:
    troubled = {"names": {WORKER: trouble}}
    assert stage.play(LISTENS, troubled, stage.ready(), NO_WORKER, stage.ready(), troubled, stage.ready()) == [
        (1, "serves: no, gathers: yes, first worker: unclear"),
        (0, "serves: no, gathers: yes, first worker: absent"),
        (0, "serves: no, gathers: yes, first worker: unclear"),
    ]


def test_a_cluster_without_the_world_s_resolver_still_knows_that_a_worker_is_absent(stage: Stage) -> None:
    offline = {"names": {"*": "failing"}}
    assert stage.play(LISTENS, offline, stage.ready()) == [(0, "serves: no, gathers: yes, first worker: absent")]


def test_where_the_cluster_s_domain_is_not_known_the_short_name_is_asked(stage: Stage) -> None:
    bare, short = "nameserver 127.0.0.1\n", {"names": {"glm-5-0-1.glm-5.models": "127.0.0.2"}}
    assert stage.play(LISTENS, short, stage.ready(), resolv_conf=bare) == [
        (1, "serves: no, gathers: yes, first worker: present")
    ]


def test_a_worker_is_ready_when_the_leader_that_it_finds_by_name_serves(stage: Stage) -> None:
    ask = stage.run("worker-ready", "--health-port", "8000")
    found = {"names": {f"{LEADER}.svc.cluster.local": "127.0.0.3"}}
    assert stage.play(ask, found, ask, {"serve": 8000, "at": "127.0.0.3"}, ask, {"names": {}}, ask) == [
        (1, "leader: absent, serves: no"),
        (1, "leader: present, serves: no"),
        (0, "leader: present, serves: yes"),
        (0, "leader: absent, serves: no"),
    ]


def test_a_leader_is_alive_by_loopback_and_local_files_alone(stage: Stage) -> None:
    ask = stage.run("leader-alive", "--health-port", "8000", "--budget", "0")
    assert stage.play(ask, {"serve": 8000}, ask) == [(1, "serves: no"), (0, "serves: yes")]


def test_a_worker_waits_for_its_leader_s_name(stage: Stage) -> None:
    later = {"later": {f"{LEADER}.svc.cluster.local": "127.0.0.3"}, "after": 1}
    assert stage.play(later, stage.wait("leader", "--budget", "30")) == [(0, "")]
    assert stage.play(stage.wait("leader", "--budget", "1")) == [
        (1, f"the leader's name {LEADER} did not resolve within 1 s")
    ]


def test_a_leader_waits_for_every_worker_and_its_port_and_then_runs_its_command(stage: Stage) -> None:
    command = ["/bin/sh", "-c", "echo $LWS_GROUP_SIZE $0 $1", "--split", "a b"]
    run = stage.wait("workers", "--budget", "1", "--port", "50052", "--", *command, size=3)
    first, second = "glm-5-0-1.glm-5.models", "glm-5-0-2.glm-5.models"
    both = {"names": {WORKER: "127.0.0.2", SECOND_WORKER: "127.0.0.3"}}
    opens = [{"listen": 50052, "at": "127.0.0.2"}, {"listen": 50052, "at": "127.0.0.3"}]
    assert stage.play(run, {"names": {WORKER: "127.0.0.2"}}, run, opens[0], run, both, run, opens[1], run) == [
        (1, f"the worker's name {first} did not resolve within 1 s"),
        (1, f"the worker {first} did not open port 50052 within 1 s"),
        (1, f"the worker's name {second} did not resolve within 1 s"),
        (1, f"the worker {second} did not open port 50052 within 1 s"),
        (0, "3 --split a b"),
    ]


def test_while_a_leader_waits_for_its_workers_it_gathers(stage: Stage) -> None:
    assert stage.play(stage.run("leader-ready"), {"names": {WORKER: "127.0.0.2"}}, stage.run("leader-ready")) == [
        (0, "serves: no, gathers: yes, first worker: absent"),
        (1, "serves: no, gathers: yes, first worker: present"),
    ]


def test_on_the_network_of_a_node_only_sockets_of_this_container_count() -> None:
    """A process namespace of its own is what a container has on a node's network."""
    inside = [*in_namespaces("--pid", "--fork", "--mount-proc"), sys.executable, "-ISc"]
    look = (
        f"import runpy, socket; port_listens = runpy.run_path({str(PROGRAM)!r})['port_listens'];"
        "mine = socket.create_server(('127.0.0.1', 0)); own = mine.getsockname()[1];"
        "print([port_listens(port, own=only) for port in (%d, own) for only in (False, True)])"
    )
    with socket.create_server(("127.0.0.1", 0)) as neighbour:
        look %= neighbour.getsockname()[1]
        seen = subprocess.run([*inside, look], check=True, capture_output=True, text=True, timeout=30).stdout
    assert json.loads(seen.lower()) == [True, False, True, True]


def test_on_a_read_only_root_the_state_is_kept_in_shared_memory(tmp_path: Path) -> None:
    """As in a container with ``readOnlyRootFilesystem``, whose only place to write is its ``/dev/shm``."""
    # The checkout may lie below /tmp, which is hidden then: the program is opened before, and Python's own is taken.
    interpreter = Path(sys.executable).resolve()
    shown = (
        f"exec 3< {PROGRAM}; mount -t tmpfs none /dev/shm && mount -t tmpfs -o ro none /tmp"
        f" && {interpreter} -IS /dev/fd/3 leader-ready --health-port 1; ls /tmp /dev/shm"
    )
    command = [*in_namespaces("--mount", "--net"), "sh", "-c", shown]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30, cwd=tmp_path)
    said, *files = ended.stdout.splitlines()
    assert said == "serves: no, gathers: yes, first worker: unclear"
    ticks = two_phase_probe.container_start()
    assert files == ["/dev/shm:", f"pulumi-lws-leader-ready-{ticks}.json", "", "/tmp:"]
