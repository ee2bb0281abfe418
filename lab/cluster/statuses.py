"""Writes the status that missing controllers would write, for as long as the lab runs.

Run as ``python -m lab.cluster.statuses``. What is written comes from the table of kinds; this module watches the
objects and decides when a status lacks.
"""

import argparse
import json
import logging
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from lab.cluster import certificates, client
from lab.cluster.kinds import KINDS, TIME, Kind, Object, Status
from lab.cluster.layout import Layout

_RETRY_SECONDS = 1
_WATCH_SECONDS = 300
"""Each watch begins with all objects, so a write that failed is tried again at the latest after this time."""

_log = logging.getLogger("statuses")


def wanted_status(kind: Kind, subject: Object, now: str) -> Status | None:
    """The status to write on an object; None where it has it already or is being deleted.

    A condition keeps its time as long as it keeps its value, as the API conventions ask for. So writing the same status
    twice changes nothing, and the watch does not see its own writes for ever.
    """
    if kind.status is None or "deletionTimestamp" in subject["metadata"]:
        return None
    current = subject.get("status", {})
    wanted: Status = _with_times(kind.status(subject), current, now)
    return None if all(current.get(name) == value for name, value in wanted.items()) else wanted


def _with_times(wanted: Any, current: Any, now: str) -> Any:
    if isinstance(wanted, list):
        items = current if isinstance(current, list) else []
        return [
            _with_times(item, items[index] if index < len(items) else None, now) for index, item in enumerate(wanted)
        ]
    if not isinstance(wanted, dict):
        return wanted
    known = current if isinstance(current, Mapping) else {}
    filled = {name: _with_times(value, known.get(name), now) for name, value in wanted.items()}
    if TIME in wanted:
        unchanged = (known.get("type"), known.get("status")) == (wanted["type"], wanted["status"])
        filled[TIME] = known.get(TIME, now) if unchanged else now
    return filled


def _keep_written(api: httpx.Client, kind: Kind) -> None:
    """Watch one kind for ever; no answer of the API server ends it."""
    path = f"/apis/{kind.group}/{kind.version}/{kind.plural}"
    query: dict[str, str | int] = {"watch": "true", "timeoutSeconds": _WATCH_SECONDS}
    while True:
        try:
            with api.stream("GET", path, params=query, timeout=_WATCH_SECONDS * 2) as events:
                events.raise_for_status()
                for event in map(json.loads, events.iter_lines()):
                    if event["type"] in ("ADDED", "MODIFIED"):
                        _write(api, kind, event["object"])
        except httpx.HTTPError as error:
            # The kind is not installed, or the API server starts or restarts.
            _log.info("%s: %s; trying again", kind.name, str(error).partition("\n")[0])
            time.sleep(_RETRY_SECONDS)


def _write(api: httpx.Client, kind: Kind, subject: Object) -> None:
    status = wanted_status(kind, subject, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    if status is None:
        return
    metadata = subject["metadata"]
    namespace = f"/namespaces/{metadata['namespace']}" if kind.namespaced else ""
    answer = api.patch(
        f"/apis/{kind.group}/{kind.version}{namespace}/{kind.plural}/{metadata['name']}/status",
        json={"status": status},
        headers={"Content-Type": "application/merge-patch+json"},
    )
    if answer.is_error:
        # One object that cannot have its status must not keep the others from theirs.
        _log.warning("%s %s: %s", kind.kind, metadata["name"], answer.text)


def main() -> None:
    """Watch all kinds that are not left to their own controllers."""
    parser = argparse.ArgumentParser(description="Writes the status that missing controllers would write.")
    parser.add_argument("--folder", type=Path, required=True, help="state folder of the lab")
    parser.add_argument("--port", type=int, required=True, help="port of its API server")
    parser.add_argument("--leave", action="append", default=[], help="name of a CRD that has its own controller")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    covered = [kind for kind in KINDS if kind.status and kind.name not in arguments.leave]

    api = client.connect(Layout(arguments.folder), arguments.port, certificates.STATUSES)
    threads = [threading.Thread(target=_keep_written, args=(api, kind), daemon=True) for kind in covered]
    for thread in threads:
        thread.start()
    _log.info("writing statuses of %s", ", ".join(kind.name for kind in covered))
    # A thread that ends met an error of ours: end with it, so that `status` shows the part as dead.
    while all(thread.is_alive() for thread in threads):
        time.sleep(1)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
