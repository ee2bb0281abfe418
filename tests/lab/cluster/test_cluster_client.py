"""The client of the lab's API server, against a server that is not ready at once."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from lab.cluster.client import PatientTransport


class _SettingUp(BaseHTTPRequestHandler):
    """Says at each path twice that it is still setting things up."""

    asked: list[str] = []  # noqa: RUF012 - a handler is made for each request; what they share is of the class

    def do_GET(self) -> None:
        self.asked.append(f"GET {self.path}")
        self.send_response(429 if self.asked.count(f"GET {self.path}") <= 2 else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        self.asked.append(f"POST {self.path}")
        self.send_response(429)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def api() -> Iterator[httpx.Client]:
    _SettingUp.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _SettingUp)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    with httpx.Client(base_url=address, transport=PatientTransport(trust_env=False), trust_env=False) as client:
        yield client
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_is_still_being_set_up_is_read_again(api: httpx.Client) -> None:
    assert api.get("/kinds").status_code == 200
    assert _SettingUp.asked == ["GET /kinds"] * 3


def test_what_was_refused_to_be_done_is_not_asked_again(api: httpx.Client) -> None:
    assert api.post("/evictions").status_code == 429
    assert _SettingUp.asked == ["POST /evictions"]
