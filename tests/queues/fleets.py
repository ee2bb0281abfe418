"""Pools, deployments and queues of tests."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.queues.checks import queue_problems
from pulumi_lws.queues.settings import Queues
from pulumi_lws.serving.checks import check
from pulumi_lws.serving.entries import DeploymentSettings, args_of
from pulumi_lws.serving.settings import DeploymentArgs, pool_use

Raw = dict[str, Any]

POOLS: Mapping[str, Raw] = {
    "p5": {"instanceType": "p5.48xlarge", "islands": 3, "nodesPerIsland": 2},
    "static": {"instanceType": "p5.48xlarge", "islands": 2, "nodesPerIsland": 2, "static": True},
    "plain": {"instanceType": "p5.48xlarge", "nodes": 2, "hugepages": True},
    "small": {"instanceType": "g6e.xlarge", "nodes": 4, "efa": "none"},
}

_MODEL: Raw = {
    "model": "openai/gpt-oss-120b",
    "maxModelLen": 131072,
    "source": {"kind": "node", "path": "/models/gpt-oss"},
}
GROUPS: Raw = {
    **_MODEL,
    "kind": "multi-node-vllm",
    "pool": "p5",
    "parallelism": {"tensor": 8, "pipeline": 2},
    "queue": "search",
}
"""Groups of two whole nodes."""
SINGLE: Raw = {
    **_MODEL,
    "kind": "single-node-vllm",
    "pool": "plain",
    "parallelism": {"tensor": 8},
    "queue": "search",
}
"""Pods of one whole node."""
ROLES: Raw = {
    **_MODEL,
    "kind": "disaggregated-vllm",
    "prefill": {"pool": "plain", "parallelism": {"tensor": 2}, "replicas": 2},
    "decode": {"pool": "plain", "parallelism": {"tensor": 4}},
    "queue": "search",
}
"""Two roles that share nodes."""


def pools(**changes: Raw) -> dict[str, GpuPool]:
    raw = {name: {**POOLS.get(name, {}), **changes.get(name, {})} for name in (*POOLS, *changes)}
    return {name: GpuPool.model_validate(pool) for name, pool in raw.items()}


def queue(*names: str, **changes: Any) -> Raw:
    return {"pools": {name: {} for name in names}, "namespaces": ["models"], **changes}


def queues(cluster_queues: Raw | None = None, **changes: Any) -> Queues:
    return Queues.model_validate({"clusterQueues": cluster_queues or {"search": queue(*POOLS)}, **changes})


def deployments(made: Mapping[str, GpuPool] | None = None, **declared: Raw) -> dict[str, DeploymentArgs]:
    """Return deployments of the namespace ``models`` or another one; each is sound by itself."""
    made = made or pools()
    adapter: TypeAdapter[DeploymentSettings] = TypeAdapter(DeploymentSettings)
    namespaces = {name: raw.get("namespace", "models") for name, raw in declared.items()}
    settings = {
        name: adapter.validate_python({key: value for key, value in raw.items() if key != "namespace"})
        for name, raw in declared.items()
    }
    use = {name: pool_use(one, made) for name, one in settings.items()}
    found = {}
    for name, one in settings.items():
        others = {pool: sum(gpus[pool] for other, gpus in use.items() if other != name) for pool in made}
        found[name] = args_of(name, namespaces[name], one, made, others)
        assert [problem for problem in check(found[name]) if problem.severity == "error"] == []
    return found


def said(
    declared: Queues,
    made: Mapping[str, GpuPool] | None = None,
    joined: Mapping[str, DeploymentArgs] | None = None,
    **options: Any,
) -> list[str]:
    """Return every problem in words, with its severity before it."""
    problems = queue_problems(
        declared, made or pools(), joined or {}, options.pop("namespaces", ("models",)), **options
    )
    return [f"{problem.severity}: {problem}" for problem in problems]
