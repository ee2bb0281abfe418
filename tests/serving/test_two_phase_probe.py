"""The probe program part by part: what it decides, what it sees, and what it remembers."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.serving import readiness
from pulumi_lws.serving import two_phase_probe as probe

PROGRAM = Path(probe.__file__)
HERE = ("127.0.0.1",)


def gathering(state: probe.State, now: float) -> bool:
    return probe.leader_ready(state, now, False, True, lambda: probe.ABSENT)


def never() -> str:
    raise AssertionError("the answer does not depend on the first worker")


def test_a_leader_that_serves_is_ready() -> None:
    assert probe.leader_ready({}, 0, True, False, never)


def test_a_leader_that_does_not_listen_yet_is_not_ready() -> None:
    assert not probe.leader_ready({}, 0, False, False, never)


def test_a_gathering_leader_is_ready_for_four_probes_every_five_minutes() -> None:
    state: probe.State = {}
    ready = [second for second in range(0, 900, 5) if gathering(state, second)]
    assert ready == [0, 5, 10, 15, 300, 305, 310, 315, 600, 605, 610, 615]


def test_a_leader_whose_worker_exists_is_not_ready_until_it_serves() -> None:
    state: probe.State = {}
    assert gathering(state, 0)
    assert not probe.leader_ready(state, 5, False, True, lambda: probe.PRESENT)
    assert probe.leader_ready(state, 10, True, True, never)


def test_a_worker_that_comes_and_goes_opens_no_window_before_its_time() -> None:
    state: probe.State = {}
    probe.leader_ready(state, 0, False, True, lambda: probe.ABSENT)
    probe.leader_ready(state, 20, False, True, lambda: probe.PRESENT)
    assert [second for second in range(25, 400, 5) if gathering(state, second)] == [300, 305, 310, 315]


def unclear(state: probe.State, now: float) -> bool:
    return probe.leader_ready(state, now, False, True, lambda: probe.UNCLEAR)


def test_an_unclear_look_up_keeps_the_last_state() -> None:
    assert not unclear({}, 0)
    state: probe.State = {}
    gathering(state, 0)
    assert unclear(state, 5)
    assert not unclear(state, 20)
    probe.leader_ready(state, 25, False, True, lambda: probe.PRESENT)
    assert not unclear(state, 301)


def test_a_resolver_that_never_answers_holds_up_no_leader_for_ever() -> None:
    state: probe.State = {}
    assert [second for second in range(0, 700, 5) if unclear(state, second)] == [300, 305, 310, 315, 600, 605, 610, 615]


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


@given(st.floats(0, 1e9), st.lists(st.floats(0, 60), max_size=300))
def test_without_memory_a_leader_is_still_ready_in_windows_only(started_at: float, pauses: list[float]) -> None:
    now = started_at
    for pause in pauses:
        now += pause
        ready = gathering(probe.state_without_memory(started_at, now), now)
        assert ready == ((now - started_at) % probe.WINDOW_PERIOD_SECONDS < probe.WINDOW_SECONDS)


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
    assert probe.answers_200(HERE, health(status), "/health") is serves


def test_the_path_that_tells_is_the_engine_s_own(health: Callable[[int], int]) -> None:
    assert not probe.answers_200(HERE, health(200), "/v1/models")


def test_a_refused_connection_means_not_serving() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert not probe.answers_200(probe.LOOPBACK, bound.getsockname()[1], "/health")


def test_an_engine_on_either_loopback_address_serves(health: Callable[[int], int]) -> None:
    assert probe.answers_200(["::1", "127.0.0.1"], health(200), "/health")


def test_an_engine_that_accepts_and_says_nothing_does_not_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "HEALTH_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert not probe.answers_200(HERE, silent.getsockname()[1], "/health")


@pytest.mark.parametrize(("address", "path"), [("", "/health"), ("127.0.0.1", "/a b")])
def test_what_cannot_be_asked_does_not_serve(address: str, path: str) -> None:
    assert not probe.answers_200([address], 1, path)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_listening_port_is_seen_without_connecting(family: socket.AddressFamily) -> None:
    with socket.socket(family) as listening:
        listening.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        port = listening.getsockname()[1]
        assert not probe.port_listens(port)
        listening.listen()
        assert probe.port_listens(port)
        assert probe.port_listens(port, own=True)
        listening.settimeout(0)
        with pytest.raises(BlockingIOError):
            listening.accept()


def test_a_socket_that_no_process_of_the_container_holds_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text("0: 0100007F:733D 00000000:0000 0A 0:0 00:0 0 0 0 4711 1\n")
    open_files = tmp_path / "1" / "fd"
    open_files.mkdir(parents=True)
    (open_files / "0").write_text("not a link")
    (open_files / "3").symlink_to("socket:[4712]")
    (tmp_path / "2").mkdir()
    assert probe.port_listens(29501, proc=str(tmp_path))
    assert not probe.port_listens(29501, own=True, proc=str(tmp_path))
    (open_files / "4").symlink_to("socket:[4711]")
    assert probe.port_listens(29501, own=True, proc=str(tmp_path))


def test_tables_that_cannot_be_read_show_no_port(tmp_path: Path) -> None:
    assert not probe.port_listens(1, proc=str(tmp_path))


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (socket.gaierror(socket.EAI_NONAME, "no name"), probe.Found(probe.ABSENT)),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), probe.Found(probe.UNCLEAR)),
        (OSError("broken"), probe.Found(probe.UNCLEAR)),
        (UnicodeError("label empty or too long"), probe.Found(probe.UNCLEAR)),
        (None, probe.Found(probe.PRESENT, "fd00::1")),
    ],
)
def test_only_a_name_that_does_not_exist_is_absent(
    monkeypatch: pytest.MonkeyPatch, error: Exception | None, found: probe.Found
) -> None:
    def resolve(_name: str, _port: None, type: int) -> list[object]:  # noqa: A002 - as socket has it
        if error:
            raise error
        return [(socket.AF_INET6, type, 6, "", ("fd00::1", 0, 0, 0))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert probe.look_up("any") == found


def test_a_look_up_that_hangs_is_unclear(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(probe, "LOOKUP_SECONDS", 0.05)

    def hang(_name: str, _port: None, type: int) -> list[object]:  # noqa: A002, ARG001 - as socket has it
        release.wait(10)
        raise OSError("too late")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    try:
        assert probe.look_up("any") == probe.Found(probe.UNCLEAR)
    finally:
        release.set()


def test_workers_stand_beside_their_leader() -> None:
    assert probe.worker_name("glm-5-3.glm-5.models", 1) == "glm-5-3-1.glm-5.models"


@pytest.mark.parametrize(
    ("resolv_conf", "name"),
    [
        ("nameserver 10.0.0.10\nsearch a.svc.corp.example svc.corp.example corp.example\n", "x.y.z.svc.corp.example."),
        ("search svc.cluster.local.\n", "x.y.z.svc.cluster.local."),
        ("search example.com\n\n", "x.y.z"),
        ("\xff", "x.y.z"),
    ],
)
def test_names_are_asked_for_with_the_domain_of_the_cluster(tmp_path: Path, resolv_conf: str, name: str) -> None:
    path = tmp_path / "resolv.conf"
    path.write_bytes(resolv_conf.encode("latin-1"))
    assert probe.absolute_name("x.y.z", str(path)) == name
    assert probe.absolute_name("x.y.z", str(tmp_path / "missing")) == "x.y.z"


NAME = "probe.json"


def kept(folder: Path, text: str, now: float = 1_000) -> probe.State:
    (folder / NAME).write_text(text)
    return probe.load_state([str(folder)], NAME, now)


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "9" * 5000, "[" * 900, '{"a": 1}' + " " * 2000 + "x"])
def test_state_that_cannot_be_read_counts_as_none(tmp_path: Path, text: str) -> None:
    assert kept(tmp_path, text) in ({}, {"a": 1})


def test_state_that_cannot_be_true_counts_as_none(tmp_path: Path) -> None:
    text = '{"a": 999, "b": 1001, "c": -1, "d": NaN, "e": Infinity, "f": "1", "g": null, "h": [1], "i": true}'
    assert kept(tmp_path, text) == {"a": 999, "i": 1}


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_state_file_breaks_a_decision(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("state")
    (folder / NAME).write_bytes(content)
    state = probe.load_state([str(folder)], NAME, 1_000)
    gathering(state, 1_000)
    probe.leader_alive(state, 1_000, False, 0, 10)
    probe.worker_ready(state, 1_000, False)
    assert all(0 <= value <= 1_000 for value in state.values())


def test_state_is_kept_whole(tmp_path: Path) -> None:
    assert probe.save_state([str(tmp_path)], NAME, {"served_at": 1.5})
    assert probe.load_state([str(tmp_path)], NAME, 2) == {"served_at": 1.5}
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_where_the_first_folder_takes_no_files_the_next_one_does(tmp_path: Path) -> None:
    blocked, good = tmp_path / "blocked", tmp_path / "good"
    blocked.write_text("a file is no folder")
    good.mkdir()
    folders = [str(blocked), str(good)]
    assert probe.save_state(folders, NAME, {"served_at": 1})
    assert probe.load_state(folders, NAME, 2) == {"served_at": 1}


def test_a_folder_that_takes_no_more_files_hides_nothing(tmp_path: Path) -> None:
    full, good = tmp_path / "full", tmp_path / "good"
    full.mkdir()
    good.mkdir()
    probe.save_state([str(full)], NAME, {"served_at": 1})
    # Stands where the next file would be written first.
    for path in full.iterdir():
        path.with_suffix(f".{os.getpid()}").mkdir()
    assert probe.save_state([str(full), str(good)], NAME, {"served_at": 2})
    assert probe.load_state([str(full), str(good)], NAME, 3) == {"served_at": 2}


def test_where_no_folder_takes_files_nothing_is_kept_and_nothing_breaks(tmp_path: Path) -> None:
    assert not probe.save_state([str(tmp_path / "no" / "such" / "folder")], NAME, {"served_at": 1})


def run(*arguments: str, state: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    folder = ["--state-folder", str(state)] if state else []
    command = [sys.executable, "-IS", str(PROGRAM), arguments[0], *folder, *arguments[1:]]
    return subprocess.run(command, env=environment, check=False, timeout=30, capture_output=True, text=True)


@pytest.mark.parametrize(("age", "code"), [(5, 0), (100, 1), (305, 0)])
def test_a_leader_without_a_place_for_state_is_ready_in_windows_since_its_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, age: int, code: int
) -> None:
    started = int((time.clock_gettime(time.CLOCK_BOOTTIME) - age) * os.sysconf("SC_CLK_TCK"))
    monkeypatch.setattr(probe, "container_start", lambda: started)
    monkeypatch.setattr(probe, "look_up", lambda _: probe.Found(probe.ABSENT))
    arguments = ["leader-ready", "--health-port", "1", "--state-folder", str(tmp_path / "missing")]
    assert probe.main(arguments, {"LWS_LEADER_ADDRESS": "a-0.a.b"}) == code


@pytest.mark.parametrize("mode", probe.PROBES)
def test_no_probe_asks_the_clock_on_the_wall(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: str) -> None:
    def jumped() -> float:
        raise AssertionError("this clock may jump")

    monkeypatch.setattr(time, "time", jumped)
    assert probe.main([mode, "--health-port", "1", "--state-folder", str(tmp_path)], {}) in {0, 1}


def test_probes_of_one_container_share_what_they_saw(health: Callable[[int], int], tmp_path: Path) -> None:
    serving, failing = str(health(200)), str(health(503))
    codes = [
        run("leader-alive", "--health-port", port, "--budget", "0", state=tmp_path).returncode
        for port in (failing, serving, failing)
    ]
    assert codes == [1, 0, 0]


@pytest.mark.parametrize("program", readiness.programs())
def test_a_program_is_kept_to_python_3_9(program: str) -> None:
    checked = subprocess.run(
        [str(Path(sys.executable).with_name("vermin")), "-t=3.9-", "--no-tips", "--violations", program],
        check=False,
        capture_output=True,
        text=True,
        cwd=PROGRAM.parent,
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("program", readiness.programs())
def test_a_program_needs_the_standard_library_and_its_neighbour_only(program: str) -> None:
    imported = {
        line.split()[1].partition(".")[0]
        for line in readiness.programs()[program].splitlines()
        if line.startswith(("import ", "from "))
    }
    assert imported <= sys.stdlib_module_names
