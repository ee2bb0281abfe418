"""A stand-in for GitHub's API: comments and issues of one repository, with failures on demand."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

BOT = "github-actions[bot]"
TOKEN = "ghs_" + "t" * 36


@dataclass
class Forge:
    """What the stand-in holds.

    Attributes:
        comments: Comments of pull request 7.
        issues: Issues and pull requests.
        failures: Status and headers of the next answers, before anything is done; 0 cuts the connection.
        lose: How many answers get lost after what they are about was done.
        items: What lists hold instead, if it lies.
        asked: Method and path of each request.
        address: Where the API is.
    """

    comments: list[dict[str, Any]] = field(default_factory=list)
    issues: list[dict[str, Any]] = field(default_factory=list)
    failures: list[tuple[int, Mapping[str, str]]] = field(default_factory=list)
    lose: int = 0
    items: list[Any] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    address: str = ""

    def comment(self, body: str, author: str = BOT) -> None:
        self.comments.append({"id": 100 + len(self.comments), "user": {"login": author}, "body": body})

    def issue(self, body: str, author: str = BOT, **more: Any) -> None:
        number = 1 + len(self.issues)
        self.issues.append(
            {"id": -1, "number": number, "user": {"login": author}, "body": body, "state": "open", **more}
        )

    def texts(self) -> list[str]:
        return [comment["body"] for comment in self.comments]

    def environment(self) -> dict[str, str]:
        """The variables of a job on it."""
        return {
            "GITHUB_API_URL": self.address,
            "GITHUB_REPOSITORY": "team/serving",
            "GITHUB_RUN_ID": "42",
            "GITHUB_SERVER_URL": "https://github.example.com",
            "GITHUB_TOKEN": TOKEN,
        }


class _Handler(BaseHTTPRequestHandler):
    forge: ClassVar[Forge]

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        address, forge = urlsplit(self.path), self.forge
        forge.asked.append((self.command, self.path.removeprefix("/repos/team/serving/")))
        content = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        assert self.headers["Authorization"] == f"Bearer {TOKEN}"
        if forge.failures:
            status, headers = forge.failures.pop(0)
            return self._answer(status, {"message": f"no, {TOKEN}"}, headers) if status else self._cut()
        status, answer = self._do(address.path, parse_qs(address.query), content)
        if self.command != "GET" and forge.lose:
            forge.lose -= 1
            return self._cut()
        return self._answer(status, answer, {})

    do_GET = do_POST = do_PATCH = _serve  # noqa: N815 - the base class names them

    def _do(self, path: str, query: Mapping[str, list[str]], content: dict[str, Any]) -> tuple[int, Any]:
        forge = self.forge
        kinds = {"issues/7/comments": (forge.comments, forge.comment), "issues": (forge.issues, forge.issue)}
        place = path.removeprefix("/repos/team/serving/")
        if place in kinds:
            items, add = kinds[place]
            if self.command == "POST":
                add(**content)
                return 201, items[-1]
            if forge.items:
                return 200, forge.items
            page, size = int(query["page"][0]), int(query["per_page"][0])
            there = [item for item in items if item.get("state", "open") == "open"]
            return 200, there[(page - 1) * size : page * size]
        for pattern, items, key in (
            ("issues/comments/(\\d+)", forge.comments, "id"),
            ("issues/(\\d+)", forge.issues, "number"),
        ):
            if found := re.fullmatch(pattern, place):
                item = next(item for item in items if item[key] == int(found[1]))
                item |= content
                return 200, item
        return 404, {"message": "Not Found"}

    def _answer(self, status: int, content: Any, headers: Mapping[str, str]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _cut(self) -> None:
        self.close_connection = True


@contextmanager
def standing() -> Iterator[Forge]:
    """Run a stand-in."""
    forge = Forge()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"forge": forge}))
    forge.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
