"""Comparing what updates end in."""

from typing import Any

import pytest

from lab.end_states import differences

FIRST: dict[str, Any] = {"ConfigMap a/b": {"data": {"x": "1", "y": "2"}}, "Secret c": {"data": ["k"]}, "pending": []}


@pytest.mark.parametrize(
    ("second", "found"),
    [
        (FIRST, []),
        (FIRST | {"Secret d": {}}, ["Secret d: more"]),
        ({"Secret c": {"data": ["k"]}, "pending": []}, ["ConfigMap a/b: missing"]),
        (FIRST | {"pending": ["creating"]}, ["pending: [] became ['creating']"]),
        (
            FIRST | {"ConfigMap a/b": {"data": {"x": "3"}}},
            ["ConfigMap a/b data x: 1 became 3", "ConfigMap a/b data y: missing"],
        ),
    ],
    ids=["the same", "more", "less", "another list", "another value"],
)
def test_every_difference_is_one_line(second: dict[str, Any], found: list[str]) -> None:
    assert differences(FIRST, second) == found
