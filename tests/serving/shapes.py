"""One model under one name, deployed in every way that there is: what a deployment may be changed from and to."""

from collections.abc import Mapping
from typing import Any

NAME = "gpt-oss"

POOLS: Mapping[str, Any] = {
    "p5": {"instanceType": "p5.48xlarge", "nodes": 2},
    "islands": {"instanceType": "p5.48xlarge", "islands": 1, "nodesPerIsland": 2},
}

_MODEL: Mapping[str, Any] = {
    "model": "openai/gpt-oss-120b",
    "maxModelLen": 131072,
    "source": {"kind": "node", "path": "/models/gpt-oss"},
}
_SINGLE: Mapping[str, Any] = {"kind": "single-node-vllm", "pool": "p5", "parallelism": {"tensor": 8}}
_MULTI: Mapping[str, Any] = {"kind": "multi-node-vllm", "pool": "islands", "parallelism": {"tensor": 8, "pipeline": 2}}
_APART: Mapping[str, Any] = {
    "kind": "disaggregated-vllm",
    "prefill": {"pool": "p5", "parallelism": {"tensor": 2}, "replicas": 2},
    "decode": {"pool": "p5", "parallelism": {"tensor": 4}},
}
_AS_SET = {"backend": "disaggregated-set"}
_GATEWAY = {"router": {"kind": "gateway", "gateway": "inference", "hostnames": ["llm.example.com"]}}
_NO_ROUTER = {"router": None}

SHAPES: Mapping[str, Mapping[str, Any]] = {
    name: {**_MODEL, **shape}
    for name, shape in {
        "single": _SINGLE,
        "groups": _MULTI,
        "roles": _APART,
        "roles as a set": {**_APART, **_AS_SET},
        "roles behind a gateway": {**_APART, **_GATEWAY},
        "roles as a set behind a gateway": {**_APART, **_AS_SET, **_GATEWAY},
        "roles without a router": {**_APART, **_NO_ROUTER},
        "roles as a set without a router": {**_APART, **_AS_SET, **_NO_ROUTER},
    }.items()
}
"""The deployment by what it is."""


def platform(shape: str) -> dict[str, Any]:
    """Return the platform of a stack file with the deployment in one shape, without its cluster."""
    return {"namespace": "models", "pools": dict(POOLS), "deployments": {NAME: dict(SHAPES[shape])}}
