"""What runs on Ray, beside deployments, as a plan counts and draws it."""

from datetime import date
from typing import Any

import pytest

from pulumi_lws.planning.parallelism import GroupShape, Parallelism
from pulumi_lws.planning.plan import RAY, Headroom, Plan, Risk
from pulumi_lws.platform.checks import deployments_of, read, roles_by_path
from pulumi_lws.platform.plan import plan_of
from pulumi_lws.platform.settings import PlatformArgs
from tests.conftest import platform_of

Raw = dict[str, Any]

LLAMA = {
    "kind": "ray-service-vllm",
    "model": "meta-llama/Llama-3.1-405B-Instruct",
    "pool": "p5",
    "parallelism": {"tensor": 8, "pipeline": 2},
    "maxCopies": 2,
    "maxModelLen": 16384,
    "source": {"kind": "node", "path": "/models/llama"},
}
JOBS = {"kind": "ray-cluster-pool", "pool": "p5", "maxWorkers": 2}


def platform(*, nodes: int, ray: Raw, deployments: Raw | None = None) -> Raw:
    return {
        "cluster": {"kind": "existing", "name": "prod", "context": "prod"},
        "pools": {"p5": {"instanceType": "p5.48xlarge", "nodes": nodes, "zone": "us-east-2a"}},
        "ray": ray,
        "deployments": deployments or {},
    }


def six_gpus(**changes: Any) -> Raw:
    """A deployment whose copies leave two GPUs of their node over."""
    split = {"tensor": 2, "pipeline": 3}
    source = {"kind": "node", "path": "/models/gpt-oss"}
    model = {"kind": "single-node-vllm", "model": "openai/gpt-oss-120b", "parallelism": split, "source": source}
    return model | {"pool": "p5", "maxModelLen": 8192, **changes}


def planned(raw: Raw) -> Plan:
    declared, problems = read(raw)
    return plan_of(declared, problems, "prod", date(2026, 12, 1))


def errors(raw: Raw) -> list[str]:
    return [str(problem) for problem in read(raw)[1] if problem.severity == "error"]


def test_workers_take_whole_nodes_and_heads_none() -> None:
    plan = planned(platform(nodes=8, ray={"llama": LLAMA, "jobs": JOBS | {"minWorkers": 1}}))
    assert plan.problems == ()
    whole_node = GroupShape(1, 8, 8)
    assert [
        (role.name, role.role, role.replicas, role.max_replicas, role.parallelism, role.shape) for role in plan.roles
    ] == [
        ("llama", RAY, 2, 4, Parallelism(tensor=8, pipeline=2), whole_node),
        ("jobs", RAY, 1, 2, None, whole_node),
    ]
    assert [(role.name, pod.node, pod.gpus, pod.efa) for role, _, pod in plan.pods()] == [
        ("llama", 0, 8, 32),
        ("llama", 1, 8, 32),
        ("jobs", 2, 8, 32),
    ]


def test_a_pool_for_programs_may_be_empty_and_a_copy_smaller_than_a_node_takes_it_all() -> None:
    small = LLAMA | {"model": "meta-llama/Llama-3.3-70B-Instruct", "parallelism": {"tensor": 4}, "maxCopies": 3}
    plan = planned(platform(nodes=8, ray={"llama": small, "jobs": JOBS}))
    assert [(role.replicas, role.max_replicas, len(role.groups)) for role in plan.roles] == [(1, 2, 1), (0, 2, 0)]
    assert plan.used_gpus() == 8


def test_room_for_a_second_cluster_and_quota_are_counted_as_those_of_deployments() -> None:
    plan = planned(platform(nodes=8, ray={"llama": LLAMA, "jobs": JOBS}))
    assert plan.headroom == (Headroom("p5", needed_gpus=16, available_gpus=48),)
    # Four workers and two at most, of 192 vCPUs each.
    assert [(quota.used_vcpus, quota.most_vcpus) for quota in plan.quotas] == [(6 * 192, 8 * 192)]


def test_what_ray_takes_is_counted_once() -> None:
    """The pool is full to the last GPU: four workers of one, two of the other, and two copies on a node."""
    half = six_gpus(parallelism={"tensor": 4}, replicas=2, surge=0)
    ray = {"llama": LLAMA | {"upgrade": {"kind": "none"}}, "jobs": JOBS}
    assert errors(platform(nodes=7, ray=ray, deployments={"gpt-oss": half})) == []
    assert [message.partition(":")[0] for message in errors(platform(nodes=6, ray=ray, deployments={"a": half}))] == [
        "ray.llama.maxCopies",
        "ray.jobs.maxWorkers",
    ]


def test_a_rollout_of_something_on_ray_is_no_rollout_of_the_deployment_of_that_name() -> None:
    half = six_gpus(parallelism={"tensor": 4}, surge=1)
    plan = planned(platform(nodes=8, ray={"llama": LLAMA}, deployments={"llama": half}))
    assert [room.needed_gpus for room in plan.headroom] == [16]


@pytest.mark.parametrize(
    ("least", "when"), [(2, ""), (0, " when the autoscalers are at their most")], ids=["at once", "later"]
)
def test_workers_keep_their_nodes_from_copies_that_the_gpus_would_hold(least: int, when: str) -> None:
    """Four copies of six GPUs and two workers: as many GPUs as five nodes have, on six nodes."""
    ray = {"jobs": JOBS | {"minWorkers": least}}
    assert errors(platform(nodes=5, ray=ray, deployments={"gpt-oss": six_gpus(replicas=4, surge=0)})) == [
        (
            "deployments.gpt-oss.replicas: found 4; allowed: at most 3: pool p5 has no further node with 6 free"
            f" GPUs{when}. Raise pools.p5.nodes to 6, or lower replicas."
        )
    ]


def test_a_second_cluster_needs_whole_nodes() -> None:
    small = {"model": "meta-llama/Llama-3.3-70B-Instruct", "parallelism": {"tensor": 8}, "maxCopies": 1}
    deployments = {"gpt-oss": six_gpus(replicas=4, surge=0)}
    assert errors(platform(nodes=5, ray={"llama": LLAMA | small}, deployments=deployments)) == [
        (
            "ray.llama.upgrade.kind: found 1; allowed: 0: a rollout of llama adds copies before it takes old ones away,"
            " and pool p5 has 8 GPUs left: too few to hold them all; this role needs one node with 8 free GPUs more."
            " Add 1 to pools.p5.nodes, or set upgrade.kind to none: then a change stops copies."
        )
    ]


def test_a_deployment_that_leaves_its_surge_open_has_none_where_workers_keep_the_nodes() -> None:
    """Three copies of six GPUs and a worker: eight GPUs are free, but no node has six."""

    def surge(nodes: int) -> int:
        ray = {"jobs": JOBS | {"minWorkers": 1, "maxWorkers": 1}}
        raw = platform(nodes=nodes, ray=ray, deployments={"gpt-oss": six_gpus(replicas=3)})
        (role,) = roles_by_path(PlatformArgs.model_validate(raw)).values()
        return role.surge

    assert (surge(4), surge(5)) == (0, 1)


def test_what_may_happen_to_ray_is_said() -> None:
    head = "all workers start over with its head: what runs ends, and is back a whole start later."
    redis = "Set faultTolerance, with a Redis that outlives a node."
    drain = "a drain of one of its nodes is an outage as long as a start"
    one = LLAMA | {"maxCopies": 1, "upgrade": {"kind": "none"}}
    fault_tolerant = {"redisAddress": "redis:6379", "password": {"secret": "redis", "key": "password"}}
    safe = LLAMA | {"minCopies": 2, "faultTolerance": fault_tolerant}
    plan = planned(platform(nodes=16, ray={"one": one, "few": LLAMA, "safe": safe, "jobs": JOBS | {"minWorkers": 1}}))
    assert plan.risks == (
        Risk("ray.one", head, redis),
        Risk("ray.one", f"one copy: {drain}, and so is each update.", "Set minCopies to 2."),
        Risk("ray.few", head, redis),
        Risk("ray.few", f"one copy while the load is low: {drain}.", "Set minCopies to 2."),
        Risk("ray.jobs", head, redis),
    )


def test_static_nodes_for_ray_are_not_idle() -> None:
    raw = platform_of("prod")
    del raw["deployments"]["glm-5"]
    static = {"instanceType": "p5.48xlarge", "zone": "us-east-2b", "nodes": 2, "static": True}
    raw["pools"]["disaggregated"] = static
    raw["addOns"]["kuberay"] = {}

    def idle() -> list[str]:
        return [problem.path for problem in read(raw)[1] if "no deployment on them" in problem.found]

    assert idle() == ["pools.disaggregated"]
    raw["ray"] = {"jobs": JOBS | {"pool": "disaggregated"}}
    assert idle() == []


def test_workers_take_the_efa_of_nodes_that_are_made_with_and_without() -> None:
    raw = platform_of("dev")
    raw["addOns"]["kuberay"] = {}
    raw["ray"] = {"jobs": JOBS | {"pool": "small", "maxWorkers": 1}}
    raw["deployments"] = {"qwen": six_gpus(pool="small", model="Qwen/Qwen3-8B", parallelism={"tensor": 1})}
    (message,) = [str(problem) for problem in read(raw)[1] if problem.path == "pools.small.efa"]
    assert "with pods of ray.jobs that take EFA and pods of qwen that do not" in message


def test_ray_on_a_pool_that_is_not_there_leaves_the_rest_of_the_plan() -> None:
    raw = platform(nodes=6, ray={"llama": LLAMA, "lost": JOBS | {"pool": "p4"}})
    plan = planned(raw)
    assert [role.name for role in plan.roles] == ["llama"]
    assert [problem.path for problem in plan.problems] == ["ray.lost.pool"]
    assert deployments_of(PlatformArgs.model_validate(raw)) == {}
