"""Plans of every kind, made by hand."""

import pytest

from pulumi_lws.planning.memory import GpuMemory
from pulumi_lws.planning.packing import Demand, place
from pulumi_lws.planning.parallelism import Parallelism, group_shape
from pulumi_lws.planning.plan import Headroom, Plan, Pool, QuotaUse, Risk, RolePlan
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.times import Start, start_times

ISLANDS = Pool("p5", "p5.48xlarge", "H100", 8, 32, 192, 6, 3, 2)
PACKED = Pool("packed", "p5.48xlarge", "H100", 8, 32, 192, 2)
MEMORY = GpuMemory(
    weights=44.0,
    kv=21.0,
    kv_needed=3.0,
    reserve=6.0,
    limit=71.0,
    gpu=79.0,
    bytes_per_token=25_000,
    kv_tokens_per_rank=900_000,
    kv_tokens=900_000,
    context=131_072,
    largest_context=131_072,
    max_concurrency=6.9,
)


def role(name: str, role: str, pool: Pool, parallelism: Parallelism, replicas: int) -> RolePlan:
    shape = group_shape(parallelism, pool.gpus_per_node)
    demand = Demand(name, role, "", pool.name, replicas, replicas, shape)
    times = start_times(Start(weights_gb=756, way="s3-stream"))
    groups = place([pool], [demand]).groups[""]
    return RolePlan(name, role, pool.name, replicas, replicas, parallelism, shape, groups, MEMORY, times)


@pytest.fixture
def plan() -> Plan:
    """Two groups on islands and two pods that share a node, with one of everything that can be said."""
    return Plan(
        "prod",
        (ISLANDS, PACKED),
        (
            role("glm-5", "serve", ISLANDS, Parallelism(tensor=8, pipeline=2), 2),
            role("gpt-oss", "prefill", PACKED, Parallelism(tensor=4), 2),
        ),
        (Headroom("p5", 16, 16), Headroom("packed", 0, 8)),
        (QuotaUse("p", "Running On-Demand P instances", "L-417A185B", 960, 1536, 1152),),
        (Risk("pools.p5", "half an island.", "Cordon it."),),
        (Problem("quotas.p", "1152", "1536", "Raise it.", severity=Severity.WARNING),),
    )
