"""The API server takes load tests as they are rendered."""

from collections.abc import Callable
from typing import Any

import pytest

from pulumi_lws.load_tests.manifests import load_test_objects
from tests.load_tests.tested import glm, gpt_oss, load_test

pytestmark = pytest.mark.lab


def test_the_api_server_takes_load_tests(taken: Callable[[list[dict[str, Any]]], list[str]]) -> None:
    objects = [
        *load_test_objects("chat", load_test(results="load-tests", imagePullSecret="registry"), glm()).values(),
        *load_test_objects("made", load_test(results={"sizeGib": 10, "storageClass": "gp3"}), glm()).values(),
        *load_test_objects("x" * 63, load_test(tokenizerClaim="tokenizer"), gpt_oss()).values(),
    ]
    assert taken(objects) == []
