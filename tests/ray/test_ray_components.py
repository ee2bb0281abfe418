"""The components register what was rendered, and the examples of them run."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.ray.component import RayClusterPool, RayServiceVllm
from pulumi_lws.testing.monitor import Registration, record
from tests.ray.ray_declarations import objects, pool, pool_args, service, service_args

EXAMPLES = sorted((Path(__file__).parent.parent.parent / "examples" / "ray").glob("*.py"))


def make_service() -> None:
    RayServiceVllm("env-llama", service())


def make_pool() -> None:
    RayClusterPool("env-batch", pool_args())


def registered(program: Callable[[], None], *, preview: bool) -> dict[str, Any]:
    found = record(program, preview=preview)
    return {one.name: dict(one.inputs) for one in found if one.type.startswith("kubernetes:")}


@pytest.mark.parametrize("preview", [True, False])
def test_a_service_registers_what_was_rendered(preview: bool) -> None:
    manifests = objects(service_args()).manifests
    assert registered(make_service, preview=preview) == {f"env-llama-{key}": each for key, each in manifests.items()}


@pytest.mark.parametrize("preview", [True, False])
def test_a_pool_registers_what_was_rendered(preview: bool) -> None:
    manifests = objects(pool_args()).manifests
    assert registered(make_pool, preview=preview) == {f"env-batch-{key}": each for key, each in manifests.items()}


def test_the_component_itself_carries_what_was_declared() -> None:
    (component,) = [one for one in record(make_service) if one.type == "lws:index:RayServiceVllm"]
    assert component.inputs["upgrade"] == {"kind": "new-cluster"}
    assert component.inputs["maxCopies"] == 2


def test_the_address_is_an_output() -> None:
    found: list[str | None] = []

    def program() -> None:
        RayServiceVllm("llama", service()).url.apply(found.append)

    record(program)
    assert found == ["http://llama-serve-svc.models.svc:8000/v1"]


@pytest.mark.parametrize(
    ("program", "headline"),
    [
        (lambda: RayServiceVllm("llama", service(maxCopies=4)), "RayServiceVllm llama has 1 problem:"),
        (lambda: RayClusterPool("batch", pool(workers=4)), "RayClusterPool batch has 1 problem:"),
    ],
)
def test_a_wrong_one_stops_the_program_before_it_registers_anything(program: Callable[[], None], headline: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        record(program)
    assert str(caught.value).splitlines()[0] == headline


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: Path) -> None:
    def program() -> None:
        runpy.run_path(str(example))

    found: list[Registration] = record(program)
    assert [one.type.rpartition(":")[2] for one in found if one.type.startswith("kubernetes:ray.io")] in (
        ["RayService"],
        ["RayCluster"],
    )


def test_there_are_examples() -> None:
    assert [example.stem for example in EXAMPLES] == ["cluster_pool", "llama_405b"]
