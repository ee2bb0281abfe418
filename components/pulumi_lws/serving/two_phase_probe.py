"""Probe of a group: runs inside the engine's container, as ``python3 two_phase_probe.py leader-ready`` and so on.

Standard library of Python 3.9 only, since the image decides what there is. Exit 0 means yes, 1 means no; what was seen
goes to standard output, which Kubernetes shows in the event of a failed probe.

LWS with ``LeaderReady`` makes the workers once the leader is Ready, but a leader can only load its share of the model
together with its workers. So readiness has two phases: while the leader *gathers* (its rendezvous port listens, no
worker exists) it is Ready for a short window, which is all that LWS needs; from then on it is Ready when it serves.
"""

import argparse
import contextlib
import http.client
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

State = dict[str, float]
"""What probes of one container remember: times in seconds since boot, and flags as 0 or 1."""

WINDOW_SECONDS = 17.0
"""How long a gathering leader says yes. Two probes that say no, 5 s apart, and 3 s of waiting for an answer later it is
no longer Ready: 30 s at most."""
WINDOW_PERIOD_SECONDS = 300.0
PATIENCE_SECONDS = 180.0
LOOKUP_SECONDS = 1.0
HEALTH_SECONDS = 3.0
LOOPBACK = ("127.0.0.1", "::1")
STATE_FOLDERS = ("/tmp", "/dev/shm")  # noqa: S108 - the names of the files change with every restart of the container
STATE_BYTES = 1000
LISTEN = "0A"

PROBES = ("leader-ready", "leader-alive", "worker-ready")
ABSENT, PRESENT, UNCLEAR = "absent", "present", "unclear"


class Found(NamedTuple):
    """What a resolver said of a name: absent, present or unclear, and an address if present."""

    answer: str
    address: str = ""


def leader_ready(state: State, now: float, serves: bool, listens: bool, first_worker: Callable[[], str]) -> bool:
    """Decide whether the leader is Ready. ``first_worker`` is asked only when the answer depends on it."""
    if serves:
        state["served_at"] = now
        return True
    if "served_at" in state or not listens:
        return False
    worker = first_worker()
    if worker == UNCLEAR:
        # A resolver that never gave an answer must not hold up the group for ever either.
        gathers = state.get("gathers", now - state.setdefault("unclear_at", now) >= WINDOW_PERIOD_SECONDS)
    else:
        gathers = state["gathers"] = float(worker == ABSENT)
    return bool(gathers) and _window_open(state, now)


def _window_open(state: State, now: float) -> bool:
    """Open a window at the first look, and again every 5 min: the controller may have been down."""
    if now - state.setdefault("window_at", now) >= WINDOW_PERIOD_SECONDS:
        state["window_at"] = now
    return now - state["window_at"] < WINDOW_SECONDS


def leader_alive(state: State, now: float, serves: bool, started_at: float, start_budget: float) -> bool:
    """Decide whether the leader lives: it may be silent for 3 min once it has served, for the budget before."""
    if serves:
        state["served_at"] = now
        return True
    if "served_at" in state:
        return now - state["served_at"] < PATIENCE_SECONDS
    return now - started_at < start_budget


def worker_ready(state: State, now: float, leader_serves: bool) -> bool:
    """Decide whether a worker is Ready: while its leader serves, and through 3 min of misses afterwards."""
    if leader_serves:
        state["served_at"] = now
        return True
    return "served_at" in state and now - state["served_at"] < PATIENCE_SECONDS


def state_without_memory(started_at: float, now: float) -> State:
    """Return the state to decide from where no file can be kept: windows are counted from the container's start."""
    periods = (now - started_at) // WINDOW_PERIOD_SECONDS
    return {"unclear_at": started_at, "window_at": started_at + periods * WINDOW_PERIOD_SECONDS}


def answers_200(hosts: Sequence[str], port: int, path: str) -> bool:
    """Tell whether one of the hosts answers ``path`` with 200, within 3 s for all."""
    end = time.monotonic() + HEALTH_SECONDS
    return any(_answers_200(host, port, path, end) for host in hosts)


def _answers_200(host: str, port: int, path: str, end: float) -> bool:
    def left() -> float:
        return max(end - time.monotonic(), 0.01)

    connection = http.client.HTTPConnection(host, port, timeout=left())
    try:
        connection.connect()
        connection.sock.settimeout(left())
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def port_listens(port: int, own: bool = False, proc: str = "/proc") -> bool:
    """Tell whether a socket listens on ``port``, without connecting: stray connections break some engines.

    Args:
        port: The port.
        own: Whether a process of this container must hold it. On the network of a node, the table shows all its pods.
        proc: Where the kernel tells.
    """
    wanted = f":{port:04X}"
    links = {f"socket:[{line[9]}]" for line in _sockets(proc) if line[1].endswith(wanted) and line[3] == LISTEN}
    return bool(links) and (not own or any(link in links for link in _open(proc)))


def _sockets(proc: str) -> Iterator[list[str]]:
    for table in ("net/tcp", "net/tcp6"):
        with contextlib.suppress(OSError), Path(proc, table).open(encoding="ascii") as lines:
            yield from (fields for fields in map(str.split, lines) if len(fields) > 9)


def _open(proc: str) -> Iterator[str]:
    """Yield what the processes that this one may look into have open."""
    for folder in Path(proc).glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            yield from map(_target, list(folder.iterdir()))


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def look_up(name: str) -> Found:
    """Ask the resolver for ``name``, for 1 s: it is absent only when the resolver says that it does not exist."""
    found = [Found(UNCLEAR)]

    def resolve() -> None:
        try:
            addresses = socket.getaddrinfo(absolute_name(name), None, type=socket.SOCK_STREAM)
            found[0] = Found(PRESENT, str(addresses[0][4][0]))
        except socket.gaierror as error:
            if error.errno == socket.EAI_NONAME:
                found[0] = Found(ABSENT)
        except (OSError, UnicodeError):
            pass

    # getaddrinfo knows no time-out; the thread is left behind when the process exits.
    thread = threading.Thread(target=resolve, daemon=True)
    thread.start()
    thread.join(LOOKUP_SECONDS)
    return found[0]


def absolute_name(name: str, resolv_conf: str = "/etc/resolv.conf") -> str:
    """Return ``pod.service.namespace`` with the cluster's domain, or as it is where that is not known.

    The short name would be tried in every search domain and at last in the world's: five questions instead of one,
    and where the world's resolver is out of reach no answer at all for a worker that does not exist.
    """
    try:
        with Path(resolv_conf).open(encoding="utf-8", errors="replace") as lines:
            words = [line.split() for line in lines]
    except OSError:
        return name
    domains = [domain for line in words if line and line[0] == "search" for domain in line[1:]]
    return next((f"{name}.{domain.rstrip('.')}." for domain in domains if domain.startswith("svc.")), name)


def worker_name(leader_address: str, index: int) -> str:
    """Return the name of a worker: ``lws-0.lws.ns`` is led by, ``lws-0-1.lws.ns`` works for."""
    leader, _, domain = leader_address.partition(".")
    return f"{leader}-{index}.{domain}"


def container_start() -> int:
    """Return the start of PID 1 in clock ticks since boot; it changes with every restart of the container."""
    stat = Path("/proc/1/stat").read_text(encoding="ascii", errors="replace")
    # The name of the program, in brackets, may hold blanks; field 22 is the 20th behind it.
    return int(stat.rpartition(")")[2].split()[19])


def load_state(folders: Sequence[str], name: str, now: float) -> State:
    """Return the state that earlier probes of this container kept; what cannot be read or be true counts as none."""
    for folder in folders:
        try:
            with Path(folder, name).open("rb") as file:
                kept = json.loads(file.read(STATE_BYTES))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(kept, dict):
            times = {key: value for key, value in kept.items() if isinstance(value, (int, float))}
            return {key: float(value) for key, value in times.items() if 0 <= value <= now}
    return {}


def save_state(folders: Sequence[str], name: str, state: State) -> bool:
    """Keep the state in the first folder that takes it, whole or not at all; tell whether one did."""
    for folder in folders:
        path = Path(folder, name)
        temporary = path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            temporary.write_text(json.dumps(state), encoding="ascii")
            temporary.replace(path)
            return True
        # What was kept here before would hide what the next folder keeps.
        for useless in (temporary, path):
            with contextlib.suppress(OSError):
                useless.unlink()
    return False


def probe(options: argparse.Namespace, leader: str) -> bool:
    """Run one probe with what those before it kept, and say what it saw."""
    ticks, now = container_start(), time.clock_gettime(time.CLOCK_BOOTTIME)
    started_at = ticks / os.sysconf("SC_CLK_TCK")
    folders, name = options.state_folder or STATE_FOLDERS, f"pulumi-lws-{options.mode}-{ticks}.json"
    before = load_state(folders, name, now)
    if not before and not save_state(folders, name, {"first_at": now}):
        before = state_without_memory(started_at, now)
    state = dict(before)
    seen = {}

    def first_worker() -> str:
        seen["first worker"] = look_up(worker_name(leader, 1)).answer if leader else UNCLEAR
        return seen["first worker"]

    hosts: Sequence[str] = LOOPBACK
    if options.mode == "worker-ready":
        found = look_up(leader)
        seen["leader"], hosts = found.answer, [found.address] if found.address else []
    serves = answers_200(hosts, options.health_port, options.health_path)
    seen["serves"] = "yes" if serves else "no"
    if options.mode == "worker-ready":
        yes = worker_ready(state, now, serves)
    elif options.mode == "leader-alive":
        yes = leader_alive(state, now, serves, started_at, options.budget)
    else:
        listens = not options.rendezvous_port or port_listens(options.rendezvous_port, options.own_sockets)
        seen["gathers"] = "yes" if listens else "not yet"
        yes = leader_ready(state, now, serves, listens, first_worker)
    if state != before:
        save_state(folders, name, state)
    sys.stdout.write(", ".join(f"{what}: {answer}" for what, answer in seen.items()) + "\n")
    return yes


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the probe that the arguments name and return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=PROBES)
    parser.add_argument("--health-port", type=int, default=8000)
    parser.add_argument("--health-path", default="/health")
    parser.add_argument("--rendezvous-port", type=int, default=0, help="default: it gathers from its start")
    parser.add_argument("--own-sockets", action="store_true", help="on the network of a node: look at own sockets only")
    parser.add_argument("--budget", type=float, default=3600.0, help="seconds in which it must serve")
    parser.add_argument("--state-folder", action="append")
    return 0 if probe(parser.parse_args(arguments), environment.get("LWS_LEADER_ADDRESS", "")) else 1


if __name__ == "__main__":
    code = main(sys.argv[1:], os.environ)
    sys.stdout.flush()
    # A look-up that still hangs in its thread must not hold up the exit.
    os._exit(code)
