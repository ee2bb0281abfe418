import hashlib
import io
import json
import platform
import socket
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lab.tools import download as downloads
from lab.tools.download import Bounds, NotDownloadedError, download, remember_refusal, remembered_refusal, site
from lab.tools.obtain import Obtained, obtain_tools
from lab.tools.table import LANGUAGE_HOST, TOOLS, Release, Tool

ARCHIVE = "/releases/sdk/greeter-v1.2.3-linux-x64.tar.gz"
SUMS = "/releases/sdk/greeter-1.2.3-checksums.txt"
BOUNDS = Bounds(connect=1, stall=0.3, total=5)


@dataclass
class Answer:
    """What the server says to a request, and how it misbehaves."""

    body: bytes = b""
    status: int = 200
    announced: int | None = None
    then_waits: bool = False
    drips: bool = False


@dataclass
class Site:
    """A download site on loopback."""

    address: str
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def publish(self, archive: bytes, sums: str | None = None) -> None:
        digest = hashlib.sha256(archive).hexdigest()
        self.answers[ARCHIVE] = Answer(archive)
        listed = f"{'0' * 64}  other.tar.gz\n{digest}  {Path(ARCHIVE).name}\n" if sums is None else sums
        self.answers[SUMS] = Answer(listed.encode())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            published.asked.append(self.path)
            answer = published.answers.get(self.path, Answer(status=404))
            self.send_response(answer.status)
            self.send_header("Content-Length", str(answer.announced or len(answer.body)))
            self.end_headers()
            try:
                for start in range(0, len(answer.body), 1 if answer.drips else 1 << 20):
                    self.wfile.write(answer.body[start : start + (1 if answer.drips else 1 << 20)])
                    if answer.drips and published.closing.wait(0.05):
                        return
            except OSError:  # the client has had enough
                return
            if answer.then_waits:
                published.closing.wait(30)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in http.server
            """Keeps the test's output clean."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    published = Site(f"http://127.0.0.1:{listener.server_port}")
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    monkeypatch.setenv("LWS_LAB_DOWNLOADS", published.address)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    yield published
    published.closing.set()
    listener.shutdown()
    listener.server_close()
    thread.join()


@pytest.fixture
def tool(a_greeter: Callable[..., Tool]) -> Tool:
    release = Release(
        archive="releases/sdk/greeter-v{version}-{system}-{cpu}.tar.gz",
        cpus={"x86_64": "x64"},
        checksums="releases/sdk/greeter-{version}-checksums.txt",
        inside="greeter",
    )
    return replace(a_greeter(), release=release, companions=(LANGUAGE_HOST,))


def packed(*names: str, mode: int = 0o755) -> bytes:
    """A tar.gz with a small script under each name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in names:
            script = b"#!/bin/sh\necho official >&2\n"
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(script), mode
            archive.addfile(member, io.BytesIO(script))
    return buffer.getvalue()


GOOD = packed("greeter/greeter", f"greeter/{LANGUAGE_HOST}")


def failure(tool: Tool, base: str, partial: Path, bounds: Bounds = BOUNDS) -> tuple[str, bool]:
    """Why a download came to nothing, and whether the site is to blame."""
    (partial / "result").mkdir(parents=True)
    assert tool.release is not None
    with pytest.raises(NotDownloadedError) as caught:
        download(tool, tool.release, base, partial, lambda _detail: None, bounds=bounds)
    return str(caught.value), caught.value.site_failed


def test_an_official_archive_is_preferred_to_a_build(server: Site, tool: Tool, report: Any, own_folders: Path) -> None:
    server.publish(GOOD)
    folder = own_folders / "greeter" / "1.2.3-official"
    found = obtain_tools([tool], report)["greeter"]
    assert found == Obtained(folder, {name: folder / name for name in ("greeter", LANGUAGE_HOST)}, "1.2.3", "download")
    assert found.has_language_host
    assert sorted(path.name for path in folder.parent.iterdir()) == ["1.2.3-official", "lock"]
    assert obtain_tools([tool], report) == {"greeter": found}
    assert server.asked == [SUMS, ARCHIVE]


@pytest.mark.parametrize("status", [403, 407, 451, 500, 503])
def test_a_site_that_refuses_is_left_alone(server: Site, tool: Tool, tmp_path: Path, status: int) -> None:
    server.answers[SUMS] = Answer(status=status)
    assert failure(tool, server.address, tmp_path / "work") == (f"the site answered {status}", True)


def test_a_file_that_is_not_there_does_not_condemn_the_site(server: Site, tool: Tool, tmp_path: Path) -> None:
    assert failure(tool, server.address, tmp_path / "work") == ("the site answered 404", False)


def test_a_site_that_is_not_there_is_given_up(tool: Tool, tmp_path: Path, server: Site) -> None:
    del server  # only for the machine that it pretends to be
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert failure(tool, address, tmp_path / "work") == ("the site could not be reached", True)


def test_a_stalling_site_is_given_up(server: Site, tool: Tool, tmp_path: Path) -> None:
    server.publish(GOOD)
    server.answers[ARCHIVE] = Answer(GOOD[:100], announced=len(GOOD), then_waits=True)
    assert failure(tool, server.address, tmp_path / "work") == ("the site stopped sending", True)


def test_a_site_that_only_drips_is_given_up(server: Site, tool: Tool, tmp_path: Path) -> None:
    server.publish(GOOD)
    server.answers[ARCHIVE] = Answer(GOOD, drips=True)
    bounds = replace(BOUNDS, total=0.3)
    assert failure(tool, server.address, tmp_path / "work", bounds) == ("the site stopped sending", True)


def test_a_truncated_archive_is_not_taken(server: Site, tool: Tool, tmp_path: Path) -> None:
    server.publish(GOOD)
    server.answers[ARCHIVE] = Answer(GOOD[:-10], announced=len(GOOD))
    assert failure(tool, server.address, tmp_path / "work") == (
        "the connection ended before the whole archive was there",
        True,
    )


def test_an_archive_with_another_checksum_is_not_taken(server: Site, tool: Tool, tmp_path: Path) -> None:
    server.publish(GOOD, sums=f"{'0' * 64}  {Path(ARCHIVE).name}\n")
    assert failure(tool, server.address, tmp_path / "work") == (
        "the archive does not have the published checksum",
        False,
    )


def test_an_archive_that_the_checksums_do_not_list_is_not_taken(server: Site, tool: Tool, tmp_path: Path) -> None:
    server.publish(GOOD, sums="a page of the proxy, not a list\n")
    assert failure(tool, server.address, tmp_path / "work") == (
        f"the published checksums do not list {Path(ARCHIVE).name}",
        False,
    )


BAD_ARCHIVES = {
    "no archive": (b"<html>sign in</html>", "the archive is damaged"),
    "cut and published so": (GOOD[:-40], "the archive is damaged"),
    "escapes its folder": (packed("greeter/greeter", "../../escaped"), "the archive is damaged"),
    "other programs": (packed("greeter/other"), "the archive holds something else"),
    "other folder": (packed("bin/greeter"), "the archive holds something else"),
}


@pytest.mark.parametrize(("archive", "want"), BAD_ARCHIVES.values(), ids=BAD_ARCHIVES)
def test_an_archive_that_is_not_as_expected_is_not_taken(
    server: Site, tool: Tool, tmp_path: Path, archive: bytes, want: str
) -> None:
    server.publish(archive)
    assert failure(tool, server.address, tmp_path / "deep" / "work") == (want, False)
    assert not (tmp_path / "escaped").exists()


def test_a_plugin_without_published_checksums_is_taken_as_the_engine_takes_it(
    server: Site, tool: Tool, tmp_path: Path
) -> None:
    assert tool.release is not None
    release = replace(tool.release, checksums="", inside="")
    server.answers[ARCHIVE] = Answer(packed("greeter", "README.md"))
    (tmp_path / "work" / "result").mkdir(parents=True)
    told: list[str] = []
    download(tool, release, server.address, tmp_path / "work", told.append, bounds=BOUNDS)
    assert sorted(path.name for path in (tmp_path / "work" / "result").iterdir()) == ["README.md", "greeter"]
    assert told == ["0 of 0 MB"]
    assert server.asked == [ARCHIVE]


def test_a_machine_that_nothing_is_published_for_asks_nobody(
    server: Site, tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert failure(tool, server.address, tmp_path / "work") == ("nothing is published for this kind of machine", False)
    assert server.asked == []


def test_a_refusal_ends_in_a_build_and_is_remembered(server: Site, tool: Tool, report: Any, own_folders: Path) -> None:
    server.answers[SUMS] = Answer(status=403)
    other = replace(tool, name="other")
    found = obtain_tools([tool, other], report)
    assert [(name, one.origin) for name, one in found.items()] == [("greeter", "build"), ("other", "build")]
    assert server.asked == [SUMS]
    assert [line for line in report.lines if line.startswith("no download")] == [
        "no download of greeter: the site answered 403",
        "no download of other: lately the site answered 403",
    ]
    assert sorted(path.name for path in own_folders.iterdir()) == ["greeter", "other", "refused-downloads.json"]


def test_a_wrong_checksum_is_said_and_ends_in_a_build(server: Site, tool: Tool, report: Any) -> None:
    server.publish(GOOD, sums=f"{'0' * 64}  {Path(ARCHIVE).name}\n")
    assert obtain_tools([tool], report)["greeter"].origin == "build"
    assert "no download of greeter: the archive does not have the published checksum" in report.lines
    assert remembered_refusal(server.address) is None


def test_a_refusal_is_forgotten_after_some_hours_and_concerns_one_site() -> None:
    remember_refusal("https://one", "the site answered 403")
    assert [remembered_refusal("https://one"), remembered_refusal("https://two")] == ["the site answered 403", None]
    kept = json.loads(downloads.refusals_file().read_text())
    downloads.refusals_file().write_text(json.dumps(kept | {"at": time.time() - downloads.REMEMBERED_SECONDS}))
    assert remembered_refusal("https://one") is None


@pytest.mark.parametrize("content", ["", "[]", '{"site": "https://one"}', '{"site": 1, "reason": 2, "at": "x"}'])
def test_a_damaged_memory_of_refusals_counts_as_none(own_folders: Path, content: str) -> None:
    own_folders.mkdir(parents=True)
    downloads.refusals_file().write_text(content)
    assert remembered_refusal("https://one") is None


@pytest.mark.parametrize(
    ("setting", "want"),
    [("off", None), ("", "https://get.pulumi.com"), ("https://mirror.example/p/", "https://mirror.example/p")],
)
def test_downloads_can_be_redirected_and_switched_off(
    monkeypatch: pytest.MonkeyPatch, setting: str, want: str | None
) -> None:
    monkeypatch.setenv("LWS_LAB_DOWNLOADS", setting)
    assert site() == want


PUBLISHED = {
    ("pulumi", "Linux", "x86_64"): "releases/sdk/pulumi-v9.9.9-linux-x64.tar.gz",
    ("pulumi", "Darwin", "arm64"): "releases/sdk/pulumi-v9.9.9-darwin-arm64.tar.gz",
    ("kubernetes-provider", "Linux", "aarch64"): (
        "releases/plugins/pulumi-resource-kubernetes-v9.9.9-linux-arm64.tar.gz"
    ),
    ("kubernetes-provider", "Darwin", "x86_64"): (
        "releases/plugins/pulumi-resource-kubernetes-v9.9.9-darwin-amd64.tar.gz"
    ),
    ("pulumi", "Windows", "x86_64"): None,
}


@pytest.mark.parametrize(("machine", "want"), PUBLISHED.items(), ids=map(str, PUBLISHED))
def test_archives_are_asked_for_by_the_names_that_pulumi_publishes(
    monkeypatch: pytest.MonkeyPatch, machine: tuple[str, str, str], want: str | None
) -> None:
    name, system, cpu = machine
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: cpu)
    tool = replace(TOOLS[name], version="9.9.9")
    assert tool.release is not None
    assert downloads.archive_path(tool, tool.release) == want
