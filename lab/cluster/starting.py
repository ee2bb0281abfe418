"""Starts parts of a lab and waits until they work."""

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from lab.cluster import client, processes
from lab.cluster.layout import Layout
from lab.cluster.parts import Part
from lab.errors import LabError

Launched = tuple[Part, psutil.Process]

_READY_SECONDS = 90
_POLL_SECONDS = 0.05
_LOG_LINES = 15
_LOG_BYTES = 8_000


class PartFailedError(LabError):
    """A part ended, or did not become ready, while it was started.

    Attributes:
        lost_its_port: Whether it ended because another program had taken its port.
    """

    def __init__(self, part: str, happened: str, log: Path) -> None:
        end = end_of(log)
        super().__init__(f"{part} {happened}.", f"Its log ends as below; all of it is in {log}.", end)
        self.lost_its_port = "address already in use" in end


def launch(layout: Layout, chosen: Iterable[Part]) -> list[Launched]:
    """Start parts without waiting for them."""
    return [(part, processes.start(layout, part)) for part in chosen]


def wait_until_ready(layout: Layout, launched: Iterable[Launched]) -> None:
    """Wait until each part says that it works.

    Raises:
        PartFailedError: One ended, or takes longer than any machine should need.
    """
    end = time.monotonic() + _READY_SECONDS
    waiting = list(launched)
    with httpx.Client(verify=client.trust(layout), trust_env=False, timeout=5) as server:
        while waiting:
            for part, process in tuple(waiting):
                if (status := _exit_status(process)) is not None:
                    raise PartFailedError(part.name, f"ended with status {status}", layout.log(part.name))
                if time.monotonic() > end:
                    happened = f"was not ready within {_READY_SECONDS} seconds"
                    raise PartFailedError(part.name, happened, layout.log(part.name))
                if _is_ready(server, part):
                    waiting.remove((part, process))
            if waiting:
                time.sleep(_POLL_SECONDS)


def end_of(log: Path) -> str:
    """The last lines of a log; empty where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _LOG_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return ""
    return "\n".join(lines[-_LOG_LINES:])


def _exit_status(process: psutil.Process) -> int | None:
    with suppress(psutil.TimeoutExpired):
        return process.wait(0) or 0
    return None


def _is_ready(server: httpx.Client, part: Part) -> bool:
    if not part.health:
        return True
    with suppress(httpx.HTTPError):
        return server.get(part.health_url).is_success
    return False
