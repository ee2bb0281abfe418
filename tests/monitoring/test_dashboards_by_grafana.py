"""The types that Grafana publishes for its dashboards know every field of ours, and keep its value."""

import importlib
import json
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.monitoring.test_dashboards import WRITTEN

plugins = importlib.import_module("grafana_foundation_sdk.cog.plugins")
with warnings.catch_warnings():
    # They prefer the second form of dashboards, which files that a sidecar finds cannot have.
    warnings.simplefilter("ignore", DeprecationWarning)
    dashboard = importlib.import_module("grafana_foundation_sdk.models.dashboard")
encoder = importlib.import_module("grafana_foundation_sdk.cog.encoder")


def lost(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """Yield where something of ours is missing or other in what came back."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            yield from lost(value, theirs.get(key), f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from lost(*pair, f"{path}[{index}]")
    elif ours != theirs:
        yield f"{path}: {ours!r} came back as {theirs!r}"


@pytest.mark.parametrize("uid", WRITTEN)
def test_nothing_is_lost_on_the_way_through_the_types_of_grafana(uid: str) -> None:
    plugins.register_default_plugins()
    text = encoder.JSONEncoder(sort_keys=True).encode(dashboard.Dashboard.from_json(WRITTEN[uid]))
    assert list(lost(WRITTEN[uid], json.loads(text))) == []
