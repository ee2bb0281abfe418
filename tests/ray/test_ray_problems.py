"""What cannot run on Ray: each mistake has its one problem, and at the bound there is none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from pulumi_lws.planning.validation import problems_of
from pulumi_lws.ray.settings import RayArgs, RayClusterPoolArgs, RayServiceVllmArgs
from tests.ray.ray_declarations import Raw, pool, pool_args, pools, said, service, service_args, small, small_args

WRONG: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "wrong.yaml").read_text(encoding="utf-8"))
SOUND: dict[str, tuple[type[RayArgs], Callable[..., Raw]]] = {
    "service": (RayServiceVllmArgs, service),
    "small": (RayServiceVllmArgs, small),
    "pool": (RayClusterPoolArgs, pool),
}

OWN_IMAGE = {"image": "registry.example.com/ray:1", "rayVersion": "2.60.0", "vllmVersion": "0.29"}
ISLANDS = {"instanceType": "p5.48xlarge", "nodesPerIsland": 2, "zone": "us-east-2a"}
INCREMENTAL = {"kind": "incremental", "gatewayClass": "envoy"}
GATEWAY = {"deployment": "edge", "namespace": "gateways", "maxReplicas": 4}
HUB = {"kind": "hugging-face"}
BUCKET = {"kind": "s3", "uri": "s3://bucket/llama"}


@pytest.mark.parametrize(
    "args",
    [
        service_args(),
        pool_args(),
        small_args(),
        pool_args(maxWorkers=6),
        service_args(pools={"p5": {**ISLANDS, "islands": 1, "nodesPerIsland": 6}}),
        service_args(takenGpus={"p5": 0}),
        service_args(upgrade={"kind": "none"}, maxCopies=3),
        service_args(upgrade=INCREMENTAL | {"surgePercent": 50}),
        service_args(idleTimeoutSeconds=3600),
        service_args(name="a" * 47),
        pool_args(name="a" * 53),
        service_args(queue="ml", maxCopies=1),
        pool_args(queue="ml", minWorkers=4),
        service_args(**OWN_IMAGE),
        service_args(**OWN_IMAGE | {"rayVersion": "2.53"}),
        service_args(rayVersion="2.58"),
        service_args(**OWN_IMAGE, source=BUCKET),
        small_args(pools=pools(zone=None)),
        pool_args(pools=pools(zone=None)),
        service_args(pools=pools(zone=None, efa="none")),
        small_args(image="rayproject/ray-llm:2.58.0-py312-cu130", rayVersion="2.58", vllmVersion="0.26"),
        service_args(engineArguments={"enable_prefix_caching": False, "max_num_seqs": 64}),
        service_args(gateway=GATEWAY),
        service_args(environment={"NCCL_DEBUG": "INFO", "MAX_TOKEN": "1"}),
    ],
    ids=str,
)
def test_what_can_run_has_no_problem(args: RayArgs) -> None:
    assert said(args) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_has_its_one_problem(name: str) -> None:
    wrong = WRONG[name]
    model, sound = SOUND[wrong["of"]]
    try:
        found = said(model.model_validate(sound(**wrong["wrong"])))
    except ValidationError as error:
        found = [f"error: {problem}" for problem in problems_of(error, model)]
    assert found == [wrong["said"]]


def test_each_node_of_a_service_that_downloads_is_a_reader_of_the_hub() -> None:
    (problem,) = said(service_args(source=HUB))
    assert problem.startswith("warning: source: found a download of 812 GB, 14 min at 1 GB/s, by each of 4 nodes;")


def test_an_architecture_that_cannot_be_read_is_the_only_problem() -> None:
    (problem,) = said(service_args(architecture="llama-9"))
    assert problem.startswith("error: architecture: found llama-9, ")
