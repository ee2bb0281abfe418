"""Disaggregated deployments for tests."""

from typing import Any

from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import DisaggregatedVllmArgs

POOLS: dict[str, Any] = {
    "p5": {"instanceType": "p5.48xlarge", "nodes": 3},
    "islands": {"instanceType": "p5.48xlarge", "islands": 2, "nodesPerIsland": 2},
    "g6e": {"instanceType": "g6e.12xlarge", "nodes": 4},
    "without": {"instanceType": "g6e.xlarge", "nodes": 4},
}


def role(pool: str = "p5", replicas: int = 2, **split: Any) -> dict[str, Any]:
    return {"pool": pool, "parallelism": split or {"tensor": 2}, "replicas": replicas}


def declaration(**changes: Any) -> dict[str, Any]:
    return {
        "name": "gpt-oss",
        "namespace": "models",
        "model": "openai/gpt-oss-120b",
        "maxModelLen": 131072,
        "source": {"kind": "node", "path": "/models/gpt-oss"},
        "prefill": role(replicas=4, tensor=2),
        "decode": role(tensor=4),
        "pools": POOLS,
        **changes,
    }


def args(**changes: Any) -> DisaggregatedVllmArgs:
    return DisaggregatedVllmArgs.model_validate(declaration(**changes))


def roles(**changes: Any) -> tuple[Role, Role]:
    found, problems = roles_of(args(**changes))
    assert problems == []
    prefill, decode = found
    return prefill, decode


GLM_5: dict[str, Any] = {
    "name": "glm-5",
    "model": "zai-org/GLM-5-FP8",
    "maxModelLen": 65536,
    "prefill": role("islands", 1, tensor=8, data=2, expert=True),
    "decode": role("islands", 1, tensor=8, data=2, expert=True),
}
"""A deployment whose roles span two nodes each."""
