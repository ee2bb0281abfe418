"""Each case was compared with sigs.k8s.io/yaml 1.6, which the Kubernetes tools read YAML with."""

from typing import Any

import pytest

from pulumi_lws.checking.documents import BrokenDocument, Document, documents_of

MEANINGS: dict[str, Any] = {
    "yes": True,
    "on": True,
    "y": True,
    "No": False,
    "OFF": False,
    "n": False,
    "oN": "oN",
    "~": None,
    "Null": None,
    "0777": 511,
    "0o17": 15,
    "08": 8,
    "0x1F": 31,
    "0b11": 3,
    "+12": 12,
    "1_000": 1000,
    "1e3": 1000,
    "3.0": 3,
    "1.": 1,
    ".5": 0.5,
    "1e21": 1e21,
    "1e400": "1e400",
    "18446744073709551615": 18446744073709551615,
    "99999999999999999999": 100000000000000000000,
    "1:30": "1:30",
    "2001-01-01": "2001-01-01",
    "2001-01-01T00:00:00Z": "2001-01-01T00:00:00Z",
    "'yes'": "yes",
    '"0777"': "0777",
    "!!str 5": "5",
    "!!int '7'": 7,
    "!!float 3": 3,
    "!!binary aGk=": "hi",
    "!custom 7": "7",
    "=": "=",
}


@pytest.mark.parametrize("written", MEANINGS)
def test_a_scalar_means_what_the_kubernetes_tools_read(written: str) -> None:
    [document] = documents_of(f"a: {written}")
    assert isinstance(document, Document)
    value = document.value["a"]
    assert (value, type(value)) == (MEANINGS[written], type(MEANINGS[written]))


@pytest.mark.parametrize("written", [".nan", "-.inf", "!!int foo", "!!bool 1", "!!int yes", "!!binary '!'"])
def test_what_the_kubernetes_tools_cannot_read_is_unreadable(written: str) -> None:
    assert [type(document) for document in documents_of(f"a: {written}")] == [BrokenDocument]


@pytest.mark.parametrize(("written", "key"), {"on": "true", "n": "false", "1": "1", "010": "8", "1.5": "1.5"}.items())
def test_a_key_is_the_text_of_what_it_means(written: str, key: str) -> None:
    [document] = documents_of(f"{written}: x")
    assert isinstance(document, Document)
    assert document.value == {key: "x"}
