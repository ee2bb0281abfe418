"""Downloads official archives, with every wait bounded and nothing taken over that is not whole and verified.

The addresses are those of Pulumi's own release files and of its engine's plugin download. This was tested against a
local server that serves, stalls, refuses, truncates and lies; it was never run against the real site. The CLI is
checked against the published SHA-256 sums. The site has no sums for plugins, so the provider rests on TLS alone, as it
does when the engine itself downloads it.
"""

import gzip
import hashlib
import json
import os
import platform
import tarfile
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from lab.folders import cache_folder
from lab.tools.table import Release, Tool

SITE = "https://get.pulumi.com"
"""Where Pulumi publishes; LWS_LAB_DOWNLOADS names a mirror with the same paths, or ``off``."""

REMEMBERED_SECONDS = 6 * 3600
"""How long a site that refused is left alone."""


class NotDownloadedError(Exception):
    """A download that came to nothing, so that something else has to be tried; the text is the reason.

    Attributes:
        site_failed: Whether the site as a whole is at fault, so that it is not worth asking for anything else.
    """

    def __init__(self, reason: str, *, site_failed: bool) -> None:
        super().__init__(reason)
        self.site_failed = site_failed


@dataclass(frozen=True)
class Bounds:
    """How long to wait, in seconds. Looking up the site's name comes on top, bounded by the system's resolver.

    Attributes:
        connect: For the connection.
        stall: For the next bytes.
        total: For a whole file.
    """

    connect: float = 3.0
    stall: float = 15.0
    total: float = 900.0


def site() -> str | None:
    """Address that downloads come from; None if they are switched off."""
    chosen = os.environ.get("LWS_LAB_DOWNLOADS") or SITE
    return None if chosen == "off" else chosen.rstrip("/")


def archive_path(tool: Tool, release: Release) -> str | None:
    """Path of the archive for this machine; None if none is published for it."""
    cpu, system = release.cpus.get(platform.machine()), platform.system().lower()
    if cpu is None or system not in {"linux", "darwin"}:
        return None
    return release.archive.format(version=tool.version, system=system, cpu=cpu)


def download(
    tool: Tool, release: Release, base: str, partial: Path, tick: Callable[[str], None], *, bounds: Bounds | None = None
) -> None:
    """Downloads a tool into ``result`` in a work folder.

    Args:
        tool: What to download.
        release: Where it is published.
        base: Address of the site.
        partial: The work folder, from ``lab.tools.cache.filling``.
        tick: Called as bytes arrive, with how many of how many.
        bounds: How long to wait.

    Raises:
        NotDownloadedError: If the site does not answer in time or refuses, or what it serves is not as published.
    """
    path = archive_path(tool, release)
    if path is None:
        raise NotDownloadedError("nothing is published for this kind of machine", site_failed=False)
    bounds = bounds or Bounds()
    archive = partial / "archive.tar.gz"
    expected: str | None = None
    timeout = httpx.Timeout(bounds.stall, connect=bounds.connect)
    try:
        with httpx.Client(base_url=base, timeout=timeout, follow_redirects=True) as client:
            if release.checksums:
                sums = partial / "checksums.txt"
                fetch(client, release.checksums.format(version=tool.version), sums, tick, bounds)
                expected = published_sum(sums.read_text(errors="replace"), Path(path).name)
            found = fetch(client, path, archive, tick, bounds)
    except httpx.HTTPStatusError as refusal:
        status = refusal.response.status_code
        raise NotDownloadedError(f"the site answered {status}", site_failed=status != httpx.codes.NOT_FOUND) from None
    except (httpx.HTTPError, httpx.InvalidURL) as failure:
        raise NotDownloadedError(reason(failure), site_failed=True) from None
    if expected not in {None, found}:
        raise NotDownloadedError("the archive does not have the published checksum", site_failed=False)
    unpack(archive, release, partial / "result", tool)


def fetch(client: httpx.Client, path: str, target: Path, tick: Callable[[str], None], bounds: Bounds) -> str:
    """Downloads one file and gives its SHA-256; a file shorter than announced is an error of the protocol."""
    until = time.monotonic() + bounds.total
    digest, received = hashlib.sha256(), 0
    with client.stream("GET", path, headers={"Accept-Encoding": "identity"}) as answer, target.open("wb") as file:
        answer.raise_for_status()
        size = int(answer.headers.get("Content-Length", 0))
        for chunk in answer.iter_raw():
            file.write(chunk)
            digest.update(chunk)
            received += len(chunk)
            tick(f"{received // 1_000_000} of {size // 1_000_000} MB")
            if time.monotonic() > until:
                raise httpx.ReadTimeout("too slow")
    if size and received != size:
        raise httpx.RemoteProtocolError("shorter than announced")
    return digest.hexdigest()


def published_sum(sums: str, name: str) -> str:
    """The sum of one file in a list as ``sha256sum`` writes it."""
    for line in sums.splitlines():
        match line.split():
            case [digest, file] if file.lstrip("*") == name:
                return digest.lower()
    raise NotDownloadedError(f"the published checksums do not list {name}", site_failed=False)


def reason(failure: Exception) -> str:
    """Why a site could not be used, in words and without addresses."""
    words = {
        httpx.ConnectTimeout: "the site could not be reached in time",
        httpx.ConnectError: "the site could not be reached",
        httpx.TimeoutException: "the site stopped sending",
        httpx.RemoteProtocolError: "the connection ended before the whole archive was there",
        httpx.InvalidURL: "the address of the site is not valid",
    }
    return next((text for kind, text in words.items() if isinstance(failure, kind)), "the connection failed")


def unpack(archive: Path, release: Release, result: Path, tool: Tool) -> None:
    """Unpacks the programs of an archive; names that would leave the folder and special files are refused."""
    opened = archive.parent / "opened"
    try:
        with tarfile.open(archive, "r:gz") as file:
            file.extractall(opened, filter="data")
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as damage:
        raise NotDownloadedError("the archive is damaged", site_failed=False) from damage
    result.rmdir()
    try:
        (opened / release.inside).rename(result)
    except FileNotFoundError:
        raise NotDownloadedError("the archive holds something else", site_failed=False) from None
    if not all((result / name).is_file() for name in tool.binaries):
        raise NotDownloadedError("the archive holds something else", site_failed=False)


def refusals_file() -> Path:
    """File that remembers sites which could not be used."""
    return cache_folder() / "refused-downloads.json"


def remember_refusal(base: str, why: str) -> None:
    """Remembers that a site could not be used, so that the next command does not wait for it again."""
    refusals_file().parent.mkdir(parents=True, exist_ok=True)
    refusals_file().write_text(json.dumps({"site": base, "reason": why, "at": time.time()}))


def remembered_refusal(base: str) -> str | None:
    """Why a site could not be used a short time ago; None if it may be asked."""
    try:
        refusal = json.loads(refusals_file().read_text())
        recent = 0 <= time.time() - refusal["at"] < REMEMBERED_SECONDS
        return str(refusal["reason"]) if recent and refusal["site"] == base else None
    except (OSError, ValueError, TypeError, KeyError):  # not there, or not written by us
        return None
