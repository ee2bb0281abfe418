"""A stage for the probe program: a loopback of its own, a DNS stand-in, and programs that listen.

Runs as a script in new user, mount and network namespaces, since a resolver takes its server from ``/etc/resolv.conf``
and asks it on port 53. Reads its steps from standard input, as JSON, and prints what each ended with.
"""

import fcntl
import json
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

A_RECORD = 1
NAME_ERROR, SERVER_FAILURE = 3, 2


class Zone:
    """Answers questions for names: an address, or one of the words below. Names that it lacks do not exist."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names
        self.server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.server.bind(("127.0.0.1", 53))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            question, client = self.server.recvfrom(512)
            threading.Thread(target=self._answer, args=(question, client), daemon=True).start()

    def _answer(self, question: bytes, client: Any) -> None:
        name, kind = _name_and_kind(question)
        told = self.names.get(name, self.names.get("*" if not name.endswith("cluster.local") else "", "absent"))
        if told == "silent":
            return
        if told == "slow":
            time.sleep(1.5)
        failing = {"absent": NAME_ERROR, "failing": SERVER_FAILURE}.get(told, 0)
        address = b"" if failing or kind != A_RECORD else socket.inet_aton("127.0.0.1" if told == "slow" else told)
        record = b"\xc0\x0c" + struct.pack(">HHIH", A_RECORD, 1, 5, 4) + address if address else b""
        header = question[:2] + struct.pack(">HHHHH", 0x8580 | failing, 1, bool(address), 0, 0)
        self.server.sendto(header + question[12 : _end_of_name(question) + 4] + record, client)


def _end_of_name(question: bytes) -> int:
    at = 12
    while question[at]:
        at += question[at] + 1
    return at + 1


def _name_and_kind(question: bytes) -> tuple[str, int]:
    at, labels = 12, []
    while length := question[at]:
        labels.append(question[at + 1 : at + 1 + length].decode())
        at += length + 1
    return ".".join(labels), int.from_bytes(question[at + 1 : at + 3], "big")


class Healthy(BaseHTTPRequestHandler):
    """Serves."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


def raise_loopback() -> None:
    """Switch the loopback on, which is down in a new network namespace."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14s", b"lo", 0x41, b""))


def play(step: dict[str, Any], zone: Zone, stack: ExitStack) -> dict[str, Any] | None:
    """Play one step: change the names, open a port, serve, or run the program."""
    if "names" in step:
        zone.names = step["names"]
    if "later" in step:
        threading.Timer(step["after"], lambda: zone.names.update(step["later"])).start()
    if "listen" in step:
        listening = stack.enter_context(socket.socket())
        listening.bind((step.get("at", "127.0.0.1"), step["listen"]))
        listening.listen()
    if "serve" in step:
        server = HTTPServer((step.get("at", "127.0.0.1"), step["serve"]), Healthy)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    if "run" not in step:
        return None
    ended = subprocess.run(step["run"], env=step["environment"], check=False, capture_output=True, text=True)
    return {"code": ended.returncode, "out": ended.stdout, "error": ended.stderr}


def main() -> None:
    """Set the stage and play the steps."""
    raise_loopback()
    wanted = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        resolv_conf = Path(folder, "resolv.conf")
        resolv_conf.write_text(wanted["resolv.conf"])
        subprocess.run(["mount", "--bind", str(resolv_conf), "/etc/resolv.conf"], check=True)
        zone = Zone({})
        ended = [play(step, zone, stack) for step in wanted["steps"]]
        subprocess.run(["umount", "/etc/resolv.conf"], check=True)
    json.dump([one for one in ended if one is not None], sys.stdout)


if __name__ == "__main__":
    main()
