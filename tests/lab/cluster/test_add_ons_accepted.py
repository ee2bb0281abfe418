"""The API server takes what add-ons make beside their charts."""

from collections.abc import Callable
from typing import Any

import pytest

from pulumi_lws.addons.catalogue import ADD_ONS

pytestmark = pytest.mark.lab


def test_it_takes_what_stands_for_hooks(taken: Callable[[list[dict[str, Any]]], list[str]]) -> None:
    images = {"global": {"imageRegistry": "mine.example", "imagePullSecrets": [{"name": "pull"}]}}
    made = [
        manifest
        for facts in ADD_ONS.values()
        for values in ({}, images)
        for manifest in facts.before("v1.2.3-rc.1", "default", values)
    ]
    assert made
    assert taken(made) == []
