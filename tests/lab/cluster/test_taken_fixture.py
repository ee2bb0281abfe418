"""The question to the upstream schemas tells what is wrong."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.lab


def test_an_object_with_a_field_that_upstream_does_not_know_is_not_taken(
    taken: Callable[[list[dict[str, Any]]], list[str]],
) -> None:
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "p5"}, "spec": {}}
    (said,) = taken([flavor, {**flavor, "spec": {"nodeLabel": {}}}])
    assert said.startswith("ResourceFlavor p5: ")
    assert 'unknown field "spec.nodeLabel"' in said
