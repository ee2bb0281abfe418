"""Plays the controllers of add-ons as far as finalizers go: what they hold back goes only while they are there."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from lab.cluster.kinds import KINDS, Kind
from pulumi_lws.addons.addon import AddOnFacts
from pulumi_lws.addons.catalogue import ADD_ONS

FINALIZER = "example.com/played"
DEPLOYMENTS = "/apis/apps/v1/namespaces"

_MERGE = {"Content-Type": "application/merge-patch+json"}
_PAUSE_SECONDS = 0.2

CONTROLLED: list[tuple[Kind, AddOnFacts]] = [
    (kind, facts) for facts in ADD_ONS.values() if facts.controllers for kind in KINDS if kind.name in facts.crds
]
"""Kinds that a controller looks after, each with the add-on that installs it."""


@contextmanager
def playing(lab: Any) -> Iterator[set[str]]:
    """Play the controllers meanwhile; gives the objects that they have held back, as ``kind/name``."""
    held: set[str] = set()
    failures: list[BaseException] = []
    stop = threading.Event()

    def play() -> None:
        try:
            with lab.api() as api:
                while not stop.wait(_PAUSE_SECONDS):
                    for kind, facts in CONTROLLED:
                        held.update(one_round(api, kind, facts))
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread of the test
            failures.append(error)

    thread = threading.Thread(target=play)
    thread.start()
    try:
        yield held
    finally:
        stop.set()
        thread.join()
    if failures:
        raise failures[0]


def one_round(api: httpx.Client, kind: Kind, facts: AddOnFacts) -> set[str]:
    """Hold back the objects of a kind, and let go of those that are deleted, if their controller runs."""
    root = f"/apis/{kind.group}/{kind.version}"
    answer = api.get(f"{root}/{kind.plural}")
    items = answer.json()["items"] if answer.is_success else []
    if not items or not _runs(api, facts):
        return set()
    held = set()
    for metadata in (item["metadata"] for item in items):
        inside = f"/namespaces/{metadata['namespace']}" if kind.namespaced else ""
        others = [one for one in metadata.get("finalizers", []) if one != FINALIZER]
        wanted = others if "deletionTimestamp" in metadata else [*others, FINALIZER]
        if wanted != metadata.get("finalizers", []):
            # What has gone in the meantime needs nothing.
            api.patch(
                f"{root}{inside}/{kind.plural}/{metadata['name']}",
                json={"metadata": {"finalizers": wanted or None}},
                headers=_MERGE,
            )
        held.add(f"{kind.kind}/{metadata['name']}")
    return held


def _runs(api: httpx.Client, facts: AddOnFacts) -> bool:
    names = [controller.partition("/")[2] for controller in facts.controllers if controller.startswith("Deployment/")]
    found = [api.get(f"{DEPLOYMENTS}/{facts.namespace}/deployments/{name}") for name in names]
    return all(one.is_success and one.json()["status"].get("availableReplicas") for one in found)
