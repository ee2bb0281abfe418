"""Our verdicts on generated objects, and those of the real API server with LWS's webhooks, as they were recorded.

The record lets every machine compare; only a lab with a controller can write it anew.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from lab import specs
from lab.folders import PROJECT
from pulumi_lws.checking.judging import check
from pulumi_lws.rules.rule import Target

SEED = 20261129
RECORDS = PROJECT / "tests" / "golden" / "verdicts"
_THREADS = 4

Manifest = Mapping[str, Any]


@dataclass(frozen=True)
class Population:
    """Generated objects of one kind.

    Attributes:
        name: Name of the record.
        collection: Where the API server takes them.
        generate: Makes them from a seed and a count.
        count: How many are compared.
    """

    name: str
    collection: str
    generate: Callable[[int, int], Sequence[Manifest]]
    count: int

    def objects(self) -> Sequence[Manifest]:
        """Return the objects, the same each time."""
        return self.generate(SEED, self.count)

    def record(self, version: str) -> Path:
        """Return the file of the verdicts of that version of LWS."""
        return RECORDS / f"{self.name}-{version}.json"


POPULATIONS = (
    Population(
        "leaderworkersets",
        "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets",
        specs.leader_worker_sets,
        2_500,
    ),
    Population(
        "disaggregatedsets",
        "/apis/disaggregatedset.x-k8s.io/v1/namespaces/default/disaggregatedsets",
        specs.disaggregated_sets,
        1_000,
    ),
)
"""What is compared."""

VERSIONS = ("0.9", "0.10")
"""Versions of LWS whose verdicts are recorded."""


def ours(objects: Sequence[Manifest], version: str) -> list[bool]:
    """Return whether we say of each object that a server with that version of LWS refuses it."""
    major, minor = version.split(".")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "objects.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}), encoding="utf-8")
        report = check([str(file)], Target(lws=(int(major), int(minor))))
    if report.errors:
        raise ValueError(f"what was generated cannot be read: {report.errors}")
    return [any(problem.refused for problem in one.problems) for one in report.objects]


def servers(api: httpx.Client, population: Population, objects: Sequence[Manifest]) -> list[bool]:
    """Return whether the API server refuses each object, without keeping any. A webhook that crashes refuses."""

    def refuses(manifest: Manifest) -> bool:
        answer = api.post(
            population.collection, params={"dryRun": "All", "fieldValidation": "Strict"}, json=dict(manifest)
        )
        # A webhook that denies answers 403 as well.
        if answer.status_code in (401, 404, 429) or (answer.status_code == 403 and "webhook" not in answer.text):
            raise ValueError(f"the server judges nothing: {answer.text}")
        return not answer.is_success

    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(refuses, objects))


def digest(objects: Sequence[Manifest]) -> str:
    """Return what tells whether the same objects were judged."""
    return hashlib.sha256(json.dumps(objects, sort_keys=True).encode()).hexdigest()


def as_record(objects: Sequence[Manifest], refused: Sequence[bool]) -> dict[str, Any]:
    """Return verdicts as they are kept: one letter for each object, in rows of a hundred."""
    letters = "".join("r" if one else "a" for one in refused)
    rows = [letters[start : start + 100] for start in range(0, len(letters), 100)]
    return {"seed": SEED, "objects": digest(objects), "refused or accepted": rows}


def recorded(path: Path) -> dict[str, Any]:
    """Read a record."""
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def write(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
