"""A plan for programs. Its form is part of the interface of ``lws plan``: keys are only ever added."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_lws.planning.memory import GpuMemory
from pulumi_lws.planning.plan import Group, Headroom, Plan, Pool, RolePlan
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.times import StartTimes, Step, minutes


def render(plan: Plan) -> str:
    """Write the plan as one JSON object."""
    return json.dumps(value_of(plan), indent=2) + "\n"


def value_of(plan: Plan) -> dict[str, Any]:
    """Return the plan as JSON has it."""
    pools = {pool.name: pool for pool in plan.pools}
    return {
        "stack": plan.stack,
        "applicable": plan.is_applicable,
        "pools": [_pool(plan, pool) for pool in plan.pools],
        "deployments": [_role(role, pools) for role in plan.roles],
        "headroom": _headroom(plan.headroom),
        "quota": [
            {
                "family": quota.family,
                "name": quota.name,
                "code": quota.code,
                "used_vcpus": quota.used_vcpus,
                "most_vcpus": quota.most_vcpus,
                "limit_vcpus": quota.limit_vcpus,
            }
            for quota in plan.quotas
        ],
        "risks": [{"subject": risk.subject, "what": risk.what, "remedy": risk.remedy} for risk in plan.risks],
        "problems": [_problem(problem) for problem in plan.problems],
    }


def _pool(plan: Plan, pool: Pool) -> dict[str, Any]:
    return {
        "name": pool.name,
        "instance_type": pool.instance_type,
        "islands": pool.islands,
        "nodes": pool.nodes,
        "gpus": pool.gpus,
        "efa": pool.nodes * pool.efa_per_node,
        "nodes_per_island": pool.nodes_per_island if pool.islands else None,
        "gpus_per_node": pool.gpus_per_node,
        "efa_per_node": pool.efa_per_node,
        "used_gpus": plan.used_gpus(pool.name),
    }


def _role(role: RolePlan, pools: Mapping[str, Pool]) -> dict[str, Any]:
    pool = pools[role.pool]
    return {
        "name": role.name,
        "role": role.role,
        "pool": role.pool,
        "replicas": role.replicas,
        "max_replicas": role.max_replicas,
        "nodes_per_group": role.shape.size,
        "gpus": role.replicas * role.gpus_per_group,
        "gpus_per_group": role.gpus_per_group,
        "gpus_per_pod": role.shape.gpus_per_pod,
        "efa_per_pod": pool.efa(role.shape.gpus_per_pod),
        "parallelism": role.parallelism.model_dump() if role.parallelism else None,
        "memory_per_gpu_gib": _memory(role.memory),
        "kv_tokens": role.memory.kv_tokens if role.memory else None,
        "context": role.memory.context if role.memory else None,
        "max_concurrency": _rounded(role.memory.max_concurrency) if role.memory else None,
        "groups": [_group(group, pool) for group in role.groups],
        "start": _times(role.times),
    }


def _memory(memory: GpuMemory | None) -> dict[str, float] | None:
    if memory is None:
        return None
    return {
        "weights": _rounded(memory.weights),
        "kv": _rounded(memory.kv),
        "reserve": _rounded(memory.reserve),
        "total": _rounded(memory.total),
        "limit": _rounded(memory.limit),
        "gpu": _rounded(memory.gpu),
    }


def _group(group: Group, pool: Pool) -> dict[str, Any]:
    return {
        "index": group.index,
        "island": pool.island_of(group.pods[0].node),
        "nodes": [pool.node_name(pod.node) for pod in group.pods],
        "pods": [
            {"node": pool.node_name(pod.node), "gpus": list(pod.gpu_numbers), "efa": pod.efa} for pod in group.pods
        ],
    }


def _times(times: StartTimes | None) -> dict[str, Any] | None:
    if times is None:
        return None
    return {
        "weights_gb": _rounded(times.weights_gb),
        "budget_minutes": times.budget_minutes,
        "first_minutes": minutes(times.first),
        "next_minutes": minutes(times.next),
        "first": _steps(times.first),
        "next": _steps(times.next),
        "ways": [
            {
                "way": each.way,
                "in_use": each.in_use,
                "load_minutes": each.load,
                "first_minutes": each.first,
                "next_minutes": each.next,
            }
            for each in times.ways
        ],
    }


def _steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    return [{"name": step.name, "minutes": _rounded(step.minutes), "assumption": step.assumption} for step in steps]


def _headroom(rooms: Sequence[Headroom]) -> dict[str, Any]:
    return {
        "needed_gpus": sum(room.needed_gpus for room in rooms),
        "available_gpus": sum(room.available_gpus for room in rooms),
        "pools": [
            {"name": room.pool, "needed_gpus": room.needed_gpus, "available_gpus": room.available_gpus}
            for room in rooms
        ],
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "rule": problem.rule,
        "severity": problem.severity,
        "refused": problem.refused,
        "path": problem.path,
        "found": problem.found,
        "allowed": problem.allowed,
        "fix": problem.fix,
    }


def _rounded(value: float) -> float:
    return round(value, 2)
