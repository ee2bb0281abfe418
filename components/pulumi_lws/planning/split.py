"""Whether one copy of a model can be split as declared, and the smallest split that fits."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pulumi_lws.facts.architecture import ModelArchitecture
from pulumi_lws.facts.instances import InstanceType
from pulumi_lws.planning.divisions import divides, division_problems
from pulumi_lws.planning.memory import GpuMemory, memory_per_gpu
from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.stages import KvCacheType


def split_problems(
    architecture: ModelArchitecture | None,
    parallelism: Parallelism,
    instance: InstanceType,
    *,
    spans_nodes_allowed: bool = True,
) -> list[Problem]:
    """Return why one copy cannot be split as declared; paths start at the role's settings.

    Args:
        architecture: The model; None where nobody said: then only GPUs and nodes are judged.
        parallelism: Split of one copy.
        instance: Type of the nodes.
        spans_nodes_allowed: Whether a copy may take more than one node.
    """
    problems = list(division_problems(architecture, parallelism, instance.gpus, instance.name))
    if not spans_nodes_allowed and parallelism.gpus > instance.gpus:
        found = f"{parallelism}: {parallelism.gpus} GPUs for one copy"
        allowed = f"at most the {instance.gpus} GPUs of one {instance.name}"
        problems.append(Problem("parallelism", found, allowed, "Lower it, or let groups of several nodes serve it."))
    return problems


@dataclass(frozen=True)
class SmallestSplit:
    """The fewest GPUs that a model fits.

    Attributes:
        nodes: Nodes of one copy; 1 also where it needs a part of one only.
        parallelism: Its split.
        memory: How it fills a GPU.
    """

    nodes: int
    parallelism: Parallelism
    memory: GpuMemory


# Many deployments share few models and pools.
@lru_cache(maxsize=256)
def smallest_split(
    architecture: ModelArchitecture,
    instance: InstanceType,
    *,
    utilization: float = 0.9,
    kv_cache_dtype: KvCacheType = "auto",
    max_model_len: int | None = None,
    may_pipeline: bool = True,
    most_nodes: int = 16,
) -> SmallestSplit | None:
    """Return the split over the fewest GPUs that holds the model and one request of the longest context.

    Args:
        architecture: The model.
        instance: Type of the nodes.
        utilization: Share of a GPU's memory that the engine may take.
        kv_cache_dtype: Type of the KV cache.
        max_model_len: Longest context in tokens. Default: the model's own.
        may_pipeline: Whether pipeline stages may span nodes; else only data ranks with experts do.
        most_nodes: Nodes of a copy at most.

    Returns:
        The split; None where even so many nodes do not hold the model.
    """
    for split in _by_size(architecture, instance.gpus, most_nodes, may_pipeline=may_pipeline):
        if not divides(architecture, split, instance.gpus):
            continue
        memory = memory_per_gpu(
            architecture,
            split,
            gpu_memory_mib=instance.gpu_memory_mib,
            utilization=utilization,
            kv_cache_dtype=kv_cache_dtype,
            max_model_len=max_model_len,
        )
        if memory.fits:
            return SmallestSplit(-(-split.gpus // instance.gpus), split, memory)
    return None


def _by_size(
    architecture: ModelArchitecture, per_node: int, most_nodes: int, *, may_pipeline: bool
) -> Iterator[Parallelism]:
    """Return candidates, those of fewer GPUs first; over nodes first stages, which exchange least."""
    tensors = [tensor for tensor in range(1, per_node + 1) if per_node % tensor == 0]
    experts = [False, True] if architecture.is_mixture_of_experts else [False]
    yield from (Parallelism(tensor=tensor, expert=expert) for tensor in tensors for expert in experts)
    for nodes in range(2, most_nodes + 1):
        for tensor in reversed(tensors):
            ranks = nodes * per_node // tensor
            if may_pipeline:
                yield from (Parallelism(tensor=tensor, pipeline=ranks, expert=expert) for expert in experts)
            if architecture.is_mixture_of_experts:
                yield Parallelism(tensor=tensor, data=ranks, expert=True)
