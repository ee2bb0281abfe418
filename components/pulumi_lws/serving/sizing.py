"""How the memory of a role's GPUs is used, and what follows from it."""

from typing import Any

from pulumi_lws.planning.memory import GpuMemory, memory_per_gpu, memory_problems
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.split import smallest_split
from pulumi_lws.serving.engines.settings import VllmEngine
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import ModelSettings


def memory_of(role: Role) -> GpuMemory | None:
    """Return how one GPU is used; None where the model's sizes are not known."""
    if role.architecture is None:
        return None
    return memory_per_gpu(role.architecture, role.settings.parallelism, **_conditions(role))


def size_problems(role: Role) -> list[Problem]:
    """Return why the GPUs of a role do not hold the model; paths start at the role's settings."""
    if role.architecture is None:
        return []
    return [
        *memory_problems(
            role.architecture,
            role.settings.parallelism,
            **_conditions(role),
            gpus_per_node=role.pool.instance.gpus,
            # NIXL transfers nothing between pipelines.
            may_pipeline=role.name == "serve",
        ),
        *_fits_one_node(role),
    ]


def unknown_sizes(model: ModelSettings) -> Problem:
    """Return what to do about a model that nobody said the sizes of."""
    return Problem(
        "model",
        model.model,
        "a model of the catalogue, for its sizes to be checked",
        "Set architecture to the path of its config.json, to a name of the catalogue, or to its fields.",
        Severity.WARNING,
    )


def _fits_one_node(role: Role) -> list[Problem]:
    """Say where a group over several nodes serves a model that one node holds."""
    if role.architecture is None or role.shape.size == 1 or role.name != "serve":
        return []
    smallest = smallest_split(
        role.architecture,
        role.pool.instance,
        utilization=role.settings.gpu_memory_utilization,
        kv_cache_dtype=role.deployment.kv_cache_dtype,
        max_model_len=role.deployment.max_model_len,
    )
    if smallest is None or smallest.nodes > 1:
        return []
    return [
        Problem(
            "parallelism",
            f"{role.settings.parallelism}, over {role.shape.size} nodes",
            f"{smallest.parallelism}: one {role.pool.instance_type} holds the model, with a KV cache of"
            f" {smallest.memory.kv_tokens:,} tokens",
            "Declare kind single-node-vllm on a plain pool, and replicas where one copy is not enough: groups over"
            " nodes pay for a network between their GPUs.",
            Severity.WARNING,
        )
    ]


def _conditions(role: Role) -> dict[str, Any]:
    return {
        "gpu_memory_mib": role.pool.instance.gpu_memory_mib,
        "utilization": role.settings.gpu_memory_utilization,
        "kv_cache_dtype": role.deployment.kv_cache_dtype,
        "max_model_len": role.deployment.max_model_len,
        "expert_kernels_heap": _has_expert_kernels_heap(role),
    }


def _has_expert_kernels_heap(role: Role) -> bool:
    """Tell whether DeepEP keeps a heap on each GPU for the experts of other nodes."""
    engine = role.deployment.engine
    deep_ep = isinstance(engine, VllmEngine) and (engine.all_to_all or "").startswith("deepep")
    return deep_ep and role.shape.size > 1
