"""The real API server with LWS's real webhooks judges generated objects as we do. Needs ``LWS_LAB_CONTROLLER``.

With ``REWRITE_GOLDEN=1`` the server's verdicts are recorded for ``tests/checking/test_recorded_verdicts.py``.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from lab import verdicts
from lab.cluster import record
from lab.tools.given import LWS_CONTROLLER
from lab.verdicts import POPULATIONS, Population

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def judging_lab(another_lab: Callable[..., AbstractContextManager[Any]]) -> Iterator[Any]:
    """A lab with the controller."""
    if not os.environ.get("LWS_LAB_CONTROLLER"):
        pytest.skip("LWS_LAB_CONTROLLER names no controller of LeaderWorkerSet, which no registry serves")
    with another_lab() as lab:
        yield lab


@pytest.mark.parametrize("population", POPULATIONS, ids=lambda population: population.name)
def test_the_server_refuses_what_we_refuse_and_nothing_else(judging_lab: Any, population: Population) -> None:
    known = record.load(judging_lab.layout)
    assert known
    version = ".".join(known.tools[LWS_CONTROLLER].version.split(".")[:2])
    objects = population.objects()
    with judging_lab.api() as api:
        theirs = verdicts.servers(api, population, objects)
    if os.environ.get("REWRITE_GOLDEN") == "1":
        verdicts.write(population.record(version), verdicts.as_record(objects, theirs))
    ours = verdicts.ours(objects, version)
    different = [
        ("we refuse" if we else "the server refuses", json.dumps(one))
        for one, we, they in zip(objects, ours, theirs, strict=True)
        if we != they
    ]
    assert different == []
