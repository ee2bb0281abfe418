"""Probe of a group: runs inside the engine's container, as ``python3 two_phase_probe.py leader-ready`` and so on.

Standard library of Python 3.9 only, since the image decides what there is. Exit 0 means yes, 1 means no.

LWS with ``LeaderReady`` makes the workers once the leader is Ready, but a leader can only load its share of the model
together with its workers. So readiness has two phases: while the leader *gathers* (its rendezvous port listens, no
worker exists) it is Ready for a short window, which is all that LWS needs; from then on it is Ready when it serves.
"""

import argparse
import http.client
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

State = dict[str, Any]

WINDOW_SECONDS = 20.0
WINDOW_PERIOD_SECONDS = 300.0
PATIENCE_SECONDS = 180.0
LOOKUP_SECONDS = 1.0
HEALTH_SECONDS = 3.0
LISTEN = "0A"

ABSENT, PRESENT, UNCLEAR = "absent", "present", "unclear"


def leader_ready(state: State, now: float, serves: bool, listens: bool, first_worker: Callable[[], str]) -> bool:
    """Decide whether the leader is Ready. ``first_worker`` is asked only when the answer depends on it."""
    if serves:
        state["served"] = True
        return True
    if "served" in state or not listens:
        return False
    worker = first_worker()
    if worker == UNCLEAR:
        return bool(state.get("gathering")) and _window_open(state, now)
    state["gathering"] = worker == ABSENT
    return worker == ABSENT and _window_open(state, now)


def _window_open(state: State, now: float) -> bool:
    """Open for 20 s from the first look, and again every 5 min: the controller may have been down."""
    if now - state.setdefault("window_at", now) >= WINDOW_PERIOD_SECONDS:
        state["window_at"] = now
    return bool(now - state["window_at"] < WINDOW_SECONDS)


def leader_alive(state: State, now: float, serves: bool, started_at: float, start_budget: float) -> bool:
    """Decide whether the leader lives: it may be silent for 3 min once it has served, for the budget before."""
    if serves:
        state["served_at"] = now
        return True
    if "served_at" in state:
        return bool(now - state["served_at"] < PATIENCE_SECONDS)
    return now - started_at < start_budget


def worker_ready(state: State, now: float, leader_serves: bool) -> bool:
    """Decide whether a worker is Ready: while its leader serves, and through 3 min of misses afterwards."""
    if leader_serves:
        state["served_at"] = now
        return True
    return "served_at" in state and now - state["served_at"] < PATIENCE_SECONDS


def answers_200(host: str, port: int) -> bool:
    """Tell whether ``/health`` answers 200."""
    connection = http.client.HTTPConnection(host, port, timeout=HEALTH_SECONDS)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def port_listens(port: int, tables: Sequence[str] = ("/proc/net/tcp", "/proc/net/tcp6")) -> bool:
    """Tell whether a socket of this pod listens on ``port``, without connecting: stray connections break engines."""
    wanted = f":{port:04X}"
    for table in tables:
        try:
            with Path(table).open(encoding="ascii") as lines:
                if any(f[1].endswith(wanted) and f[3] == LISTEN for f in map(str.split, lines) if len(f) > 3):
                    return True
        except OSError:
            continue
    return False


def look_up(name: str) -> str:
    """Tell whether ``name`` resolves: absent only when the resolver says that it does not exist."""
    answer = [UNCLEAR]

    def resolve() -> None:
        try:
            socket.getaddrinfo(name, None)
            answer[0] = PRESENT
        except socket.gaierror as error:
            if error.errno == socket.EAI_NONAME:
                answer[0] = ABSENT
        except (OSError, UnicodeError):
            pass

    # getaddrinfo knows no time-out; the thread is left behind when the process exits.
    thread = threading.Thread(target=resolve, daemon=True)
    thread.start()
    thread.join(LOOKUP_SECONDS)
    return answer[0]


def first_worker_name(leader_address: str) -> str:
    """Return the name of worker 1: ``lws-0.lws.ns`` is led by, ``lws-0-1.lws.ns`` works for."""
    leader, _, domain = leader_address.partition(".")
    return f"{leader}-1.{domain}"


def container_start() -> float:
    """Return the start of PID 1 in seconds since boot; it changes with every container restart."""
    stat = Path("/proc/1/stat").read_text(encoding="ascii", errors="replace")
    # The name of the program, in brackets, may hold blanks; field 22 is the 20th behind it.
    ticks = int(stat.rpartition(")")[2].split()[19])
    return ticks / os.sysconf("SC_CLK_TCK")


def load_state(path: Path) -> State:
    """Return the state that earlier probes of this container kept; unreadable state counts as none."""
    try:
        state = json.loads(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def save_state(path: Path, state: State) -> None:
    """Keep the state, whole or not at all. A full disk must not fail a probe."""
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        temporary.write_text(json.dumps(state), encoding="ascii")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)


def wait_for_leader(
    address: str,
    budget: float,
    resolve: Callable[[str], str] = look_up,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Wait until the leader's name resolves, within the budget of seconds."""
    end = clock() + budget
    while resolve(address) != PRESENT:
        if clock() >= end:
            sys.stderr.write(f"the leader's name {address} did not resolve within {budget:.0f} s\n")
            return False
        sleep(1)
    return True


def main(arguments: Sequence[str]) -> int:
    """Run one probe and return its exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("probe", choices=["leader-ready", "leader-alive", "worker-ready", "wait-for-leader"])
    parser.add_argument("--api-port", type=int, default=8000)
    parser.add_argument("--rendezvous-port", type=int, default=29501)
    parser.add_argument("--start-budget", type=float, default=3600.0)
    parser.add_argument("--state-folder", default="/tmp")  # noqa: S108 - cleared by a restart
    options = parser.parse_args(arguments)
    leader = os.environ.get("LWS_LEADER_ADDRESS", "")
    if options.probe == "wait-for-leader":
        return 0 if wait_for_leader(leader, options.start_budget) else 1
    # The clock that /proc counts in; the wall clock may jump.
    started_at, now = container_start(), time.clock_gettime(time.CLOCK_BOOTTIME)
    path = Path(options.state_folder) / f"pulumi-lws-{options.probe}-{started_at:.0f}.json"
    before = load_state(path)
    state = dict(before)
    if options.probe == "worker-ready":
        yes = worker_ready(state, now, answers_200(leader, options.api_port))
    elif options.probe == "leader-alive":
        serves = answers_200("127.0.0.1", options.api_port)
        yes = leader_alive(state, now, serves, started_at, options.start_budget)
    else:
        serves = answers_200("127.0.0.1", options.api_port)
        listens = port_listens(options.rendezvous_port)
        yes = leader_ready(state, now, serves, listens, lambda: look_up(first_worker_name(leader)))
    if state != before:
        save_state(path, state)
    return 0 if yes else 1


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # A look-up that still hangs in its thread must not hold up the exit.
    os._exit(code)
