"""The probe program: each phase, against real sockets where it looks at sockets."""

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pulumi_lws.serving import two_phase_probe as probe

PROGRAM = Path(probe.__file__)


def gathering(state: probe.State, now: float) -> bool:
    return probe.leader_ready(state, now, False, True, lambda: probe.ABSENT)


def never() -> str:
    raise AssertionError("the answer does not depend on the first worker")


def test_a_leader_that_serves_is_ready() -> None:
    assert probe.leader_ready({}, 0, True, False, never)


def test_a_leader_that_does_not_listen_yet_is_not_ready() -> None:
    assert not probe.leader_ready({}, 0, False, False, never)


def test_a_gathering_leader_is_ready_for_twenty_seconds_every_five_minutes() -> None:
    state: probe.State = {}
    ready = [second for second in range(0, 900, 5) if gathering(state, second)]
    assert ready == [0, 5, 10, 15, 300, 305, 310, 315, 600, 605, 610, 615]


def test_a_leader_whose_worker_exists_is_not_ready_until_it_serves() -> None:
    state: probe.State = {}
    assert gathering(state, 0)
    assert not probe.leader_ready(state, 5, False, True, lambda: probe.PRESENT)
    assert probe.leader_ready(state, 10, True, True, never)


def test_an_unclear_look_up_keeps_the_last_state() -> None:
    def unclear(state: probe.State, now: float) -> bool:
        return probe.leader_ready(state, now, False, True, lambda: probe.UNCLEAR)

    assert not unclear({}, 0)
    state: probe.State = {}
    gathering(state, 0)
    assert unclear(state, 5)
    assert not unclear(state, 20)
    probe.leader_ready(state, 25, False, True, lambda: probe.PRESENT)
    assert not unclear(state, 301)


def test_a_leader_that_served_and_stopped_gathers_no_more() -> None:
    state: probe.State = {}
    probe.leader_ready(state, 0, True, True, never)
    assert not probe.leader_ready(state, 5, False, True, never)


def test_a_leader_lives_through_its_start_budget_and_no_longer() -> None:
    assert probe.leader_alive({}, 1_099, False, 100, 1_000)
    assert not probe.leader_alive({}, 1_100, False, 100, 1_000)


def test_a_leader_that_served_may_be_silent_for_three_minutes() -> None:
    state: probe.State = {}
    assert probe.leader_alive(state, 5_000, True, 0, 1_000)
    assert probe.leader_alive(state, 5_179, False, 0, 1_000)
    assert not probe.leader_alive(state, 5_180, False, 0, 1_000)


def test_a_worker_is_ready_with_its_leader_and_bears_three_minutes_of_misses() -> None:
    state: probe.State = {}
    assert not probe.worker_ready(state, 0, False)
    assert probe.worker_ready(state, 10, True)
    assert probe.worker_ready(state, 189, False)
    assert not probe.worker_ready(state, 190, False)


@pytest.fixture
def health() -> Iterator[Callable[[int], int]]:
    """Start servers whose ``/health`` answers a status; returns their port."""
    servers: list[HTTPServer] = []

    def start(status: int) -> int:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status if self.path == "/health" else 404)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return server.server_address[1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(("status", "serves"), [(200, True), (503, False), (302, False)])
def test_only_200_means_serving(health: Callable[[int], int], status: int, serves: bool) -> None:
    assert probe.answers_200("127.0.0.1", health(status)) is serves


def test_a_refused_connection_means_not_serving() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert not probe.answers_200("127.0.0.1", bound.getsockname()[1])


def test_an_address_that_does_not_resolve_means_not_serving() -> None:
    assert not probe.answers_200("", 1)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_listening_port_is_seen_without_connecting(family: socket.AddressFamily) -> None:
    with socket.socket(family) as listening:
        listening.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        port = listening.getsockname()[1]
        assert not probe.port_listens(port)
        listening.listen()
        assert probe.port_listens(port)
        listening.settimeout(0)
        with pytest.raises(BlockingIOError):
            listening.accept()


def test_tables_that_cannot_be_read_show_no_port(tmp_path: Path) -> None:
    assert not probe.port_listens(1, [str(tmp_path / "missing")])


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (socket.gaierror(socket.EAI_NONAME, "no name"), probe.ABSENT),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), probe.UNCLEAR),
        (OSError("broken"), probe.UNCLEAR),
        (UnicodeError("label empty or too long"), probe.UNCLEAR),
        (None, probe.PRESENT),
    ],
)
def test_only_a_name_that_does_not_exist_is_absent(
    monkeypatch: pytest.MonkeyPatch, error: Exception | None, answer: str
) -> None:
    def resolve(_name: str, _port: None) -> list[object]:
        if error:
            raise error
        return []

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert probe.look_up("any") == answer


def test_a_look_up_that_hangs_is_unclear(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(probe, "LOOKUP_SECONDS", 0.05)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: release.wait(10))
    try:
        assert probe.look_up("any") == probe.UNCLEAR
    finally:
        release.set()


def test_the_first_worker_stands_beside_its_leader() -> None:
    assert probe.first_worker_name("glm-5-3.glm-5.models") == "glm-5-3-1.glm-5.models"


@pytest.mark.parametrize("text", ["", "{", "[1]", "null"])
def test_state_that_cannot_be_read_counts_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "state"
    path.write_text(text)
    assert probe.load_state(path) == {}


def test_state_is_kept_whole(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    probe.save_state(path, {"served": True})
    assert probe.load_state(path) == {"served": True}
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]


def test_a_full_disk_fails_no_probe(tmp_path: Path) -> None:
    probe.save_state(tmp_path / "no" / "such" / "folder", {"served": True})


def test_waiting_for_the_leader_ends_with_its_name() -> None:
    answers = iter([probe.ABSENT, probe.UNCLEAR, probe.PRESENT])
    assert probe.wait_for_leader("x", 60, lambda _: next(answers), lambda _: None)


def test_waiting_for_the_leader_ends_with_the_budget(capsys: pytest.CaptureFixture[str]) -> None:
    ticks = iter(range(100))
    assert not probe.wait_for_leader("x-0.x.ns", 3, lambda _: probe.ABSENT, lambda _: None, lambda: next(ticks))
    assert capsys.readouterr().err == "the leader's name x-0.x.ns did not resolve within 3 s\n"


def run(*arguments: str, state: Path, leader: str = "") -> int:
    command = [sys.executable, "-I", str(PROGRAM), *arguments, "--state-folder", str(state)]
    return subprocess.run(command, env={"LWS_LEADER_ADDRESS": leader}, check=False, timeout=30).returncode


def test_the_program_runs_each_probe(health: Callable[[int], int], tmp_path: Path) -> None:
    serving, failing = str(health(200)), str(health(503))
    assert run("leader-ready", "--api-port", serving, state=tmp_path) == 0
    assert run("worker-ready", "--api-port", serving, state=tmp_path, leader="127.0.0.1") == 0
    assert run("leader-alive", "--api-port", failing, "--start-budget", "0", state=tmp_path) == 1
    assert run("leader-alive", "--api-port", serving, "--start-budget", "0", state=tmp_path) == 0
    assert run("leader-alive", "--api-port", failing, "--start-budget", "0", state=tmp_path) == 0
    assert run("wait-for-leader", state=tmp_path, leader="localhost") == 0


def test_the_whole_probe_of_a_gathering_leader_asks_for_its_first_worker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def look_up(name: str) -> str:
        asked.append(name)
        return probe.ABSENT

    monkeypatch.setattr(probe, "look_up", look_up)
    monkeypatch.setenv("LWS_LEADER_ADDRESS", "glm-5-0.glm-5.models")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = str(listening.getsockname()[1])
        arguments = ["leader-ready", "--api-port", "1", "--rendezvous-port", port, "--state-folder", str(tmp_path)]
        assert probe.main(arguments) == 0
    assert asked == ["glm-5-0-1.glm-5.models"]


def test_the_program_is_kept_to_python_3_9() -> None:
    checked = subprocess.run(
        [str(Path(sys.executable).with_name("vermin")), "-t=3.9-", "--no-tips", "--violations", str(PROGRAM)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout


def test_the_program_needs_the_standard_library_only() -> None:
    imported = {
        line.split()[1].partition(".")[0]
        for line in PROGRAM.read_text(encoding="utf-8").splitlines()
        if line.startswith(("import ", "from "))
    }
    assert imported <= sys.stdlib_module_names
