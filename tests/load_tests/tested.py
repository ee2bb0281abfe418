"""Deployments that load tests are of, and load tests of them."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.load_tests.settings import LoadTestSettings
from pulumi_lws.serving.settings import DisaggregatedVllmArgs, MultiNodeVllmArgs

Raw = Mapping[str, Any]

POOLS: Raw = {
    "p5": {"instanceType": "p5.48xlarge", "islands": 2, "nodesPerIsland": 2},
    "small": {"instanceType": "p5.48xlarge", "nodes": 2},
}

_GLM: Raw = {
    "name": "glm-5",
    "namespace": "models",
    "pools": POOLS,
    "model": "zai-org/GLM-5-FP8",
    "pool": "p5",
    "parallelism": {"tensor": 8, "pipeline": 2},
    "maxModelLen": 131072,
}
_GPT_OSS: Raw = {
    "name": "gpt-oss",
    "namespace": "models",
    "pools": POOLS,
    "model": "openai/gpt-oss-120b",
    "prefill": {"pool": "small", "parallelism": {"tensor": 2}, "replicas": 2},
    "decode": {"pool": "small", "parallelism": {"tensor": 4}},
}
_TEST: Raw = {
    "deployment": "glm-5",
    "load": {"kind": "concurrent", "requests": [1, 8, 32]},
    "inputTokens": 8000,
    "outputTokens": 1000,
}


def glm(**changes: Any) -> MultiNodeVllmArgs:
    return MultiNodeVllmArgs.model_validate({**_GLM, **changes})


def gpt_oss(**changes: Any) -> DisaggregatedVllmArgs:
    return DisaggregatedVllmArgs.model_validate({**_GPT_OSS, **changes})


def load_test(**changes: Any) -> LoadTestSettings:
    return LoadTestSettings.model_validate({**_TEST, **changes})
