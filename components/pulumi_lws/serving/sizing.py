"""How the memory of a role's GPUs is used, and what follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pulumi_lws.planning.architectures import close_names
from pulumi_lws.planning.memory import GpuMemory, context_problems, memory_per_gpu, memory_problems
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.split import SmallestSplit, smallest_split
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
    problems = memory_problems(
        role.architecture,
        role.settings.parallelism,
        **_conditions(role),
        gpus_per_node=role.pool.instance.gpus,
        # NIXL transfers nothing between pipelines.
        may_pipeline=role.name == "serve",
        may_span_nodes=not role.is_deployment,
    )
    if role.is_deployment and (smallest := _smallest(role)) and smallest.nodes > 1:
        groups = (
            f"declare kind multi-node-vllm with parallelism {smallest.parallelism}, on a pool with islands of"
            f" {smallest.nodes} nodes, or choose larger nodes."
        )
        problems = [replace(problem, fix=_or(problem.fix, groups)) for problem in problems]
    return [*problems, *_fits_one_node(role)]


_EXTENSIONS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "vllm": (("--hf-overrides", "--rope-scaling"), "VLLM_ALLOW_LONG_MAX_MODEL_LEN"),
    "sglang": (("--json-model-override-args",), "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"),
}
"""Flags that may stretch a model's context, and the variable that lets it be exceeded, by kind of engine. What commands
of an engine of one's own do nobody knows."""


def model_problems(model: ModelSettings, roles: Sequence[Role]) -> list[Problem]:
    """Return what is wrong with the model itself, whichever role serves it; paths start at the deployment."""
    architecture = roles[0].architecture if roles else None
    if roles and architecture is None and model.architecture is None:
        return [_unknown_sizes(model.model)]
    if architecture is None or all(_extends_context(role) for role in roles):
        return []
    (flag, *_), variable = _EXTENSIONS[model.engine.kind]
    extension = f"extend it with {flag} in extraArguments, as the model's page says, or with environment.{variable}"
    return context_problems(architecture, model.max_model_len, extension)


def _extends_context(role: Role) -> bool:
    if role.engine_kind not in _EXTENSIONS:
        return True
    flags, variable = _EXTENSIONS[role.engine_kind]
    words = [word.replace("_", "-") for word in role.settings.extra_arguments]
    text = " ".join(words)
    is_stretched = any(word.startswith(flags) for word in words) and ("rope" in text or "position" in text)
    return is_stretched or role.settings.environment.get(variable, "").strip().lower() in {"1", "true"}


def _unknown_sizes(name: str) -> Problem:
    """Return what to do about a model that nobody said the sizes of."""
    close = close_names(name)
    meant = f"Write {' or '.join(close)} if you mean that; else set" if close else "Set"
    return Problem(
        "model",
        name,
        "a model of the catalogue (docs/models.md): of any other neither memory nor start times are checked",
        f"{meant} architecture to the path of the model's config.json, to the name of a model of the same shape, or to"
        " the fields.",
        Severity.WARNING,
    )


def _fits_one_node(role: Role) -> list[Problem]:
    """Say where a group over several nodes serves a model that one node holds."""
    smallest = _smallest(role) if role.shape.size > 1 and role.name == "serve" else None
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


def _smallest(role: Role) -> SmallestSplit | None:
    """Return the split over the fewest GPUs of the role's pool that holds the model."""
    if role.architecture is None:
        return None
    return smallest_split(
        role.architecture,
        role.pool.instance,
        utilization=role.settings.gpu_memory_utilization,
        kv_cache_dtype=role.deployment.kv_cache_dtype,
        max_model_len=role.deployment.max_model_len,
    )


def _or(fix: str, other: str) -> str:
    """Offer another way; it stands alone where nothing that the role itself could do would help."""
    return f"{fix} Or {other}" if fix.startswith("Set ") else f"{other[0].upper()}{other[1:]}"


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
