"""The component registers what was rendered, the Job last."""

from collections.abc import Callable

import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.load_tests.component import LoadTest, LoadTestArgs
from pulumi_lws.load_tests.manifests import load_test_objects
from pulumi_lws.load_tests.settings import LoadTestSettings
from pulumi_lws.testing.monitor import record
from tests.load_tests.tested import glm, load_test


def program(test: LoadTestSettings) -> Callable[[], None]:
    def run() -> None:
        LoadTest("chat", LoadTestArgs("chat", test.model_dump(by_alias=True), glm()))

    return run


@pytest.mark.parametrize("preview", [False, True])
def test_the_component_registers_what_was_rendered(preview: bool) -> None:
    own, *children = record(program(load_test()), preview=preview)
    assert own.type == "lws:index:LoadTest"
    rendered = load_test_objects("chat", load_test(), glm())
    assert {child.name: child.inputs for child in children} == {
        f"chat-{key}": manifest for key, manifest in rendered.items()
    }
    assert children[-1].type == "kubernetes:batch/v1:Job"


def test_the_component_refuses_what_would_measure_nothing() -> None:
    with pytest.raises(DeclarationError) as caught:
        record(program(load_test(inputTokens=200_000)))
    assert [problem.path for problem in caught.value.problems] == ["inputTokens"]
