"""How the memory of a GPU is used by one copy of a model, and what does not fit.

Sizes follow from shapes, not from measurements; what engines take beside weights and cache is an estimate.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pulumi_lws.facts.architecture import ModelArchitecture
from pulumi_lws.planning.divisions import divides
from pulumi_lws.planning.parallelism import Parallelism, group_shape
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.stages import BATCHED_TOKENS, PLAIN_BYTES, KvCacheType, Stage, stages

GIB = 1 << 30

RESERVE_GIB = 4
"""What every GPU needs beside weights, activations and cache: CUDA graphs, buffers of NCCL, the sampler. Together with
activations, public reports lie between 4 and 8 GiB."""

ACTIVATION_WIDTHS = 8
"""Activations of a batch, in rows of the residual stream per token."""

GATHERED_WIDTHS = 2
"""What data ranks that share experts gather and return: so many rows for each token of *all* ranks."""

EXPERT_KERNELS_HEAP_GIB = 16
"""What NVSHMEM's symmetric heap takes on top for DeepEP kernels over nodes (``NVSHMEM_SYMMETRIC_SIZE``)."""

_ROUND = 1024
"""Contexts are proposed in multiples of this."""

_MOST_RANKS = 64
"""Ranks of a kind that are tried at most."""


@dataclass(frozen=True)
class GpuMemory:
    """How the memory of the fullest GPU is used, and what its KV cache holds.

    Attributes:
        weights: Weights, in GiB.
        kv: KV cache, in GiB; 0 where the weights leave nothing.
        kv_needed: KV cache of one request of ``context`` tokens, in GiB.
        reserve: Activations, CUDA graphs and communication buffers, in GiB.
        limit: What the engine may take, in GiB.
        gpu: What the GPU has, in GiB.
        bytes_per_token: Bytes of KV cache that one more token takes on this GPU.
        kv_tokens_per_rank: Tokens of one request that the KV cache of a data rank holds.
        kv_tokens: The same of all data ranks of a copy.
        context: Longest context that was asked for, in tokens; the model's own where none was.
        largest_context: Longest context that would work, in tokens.
        max_concurrency: Requests of ``context`` tokens that a copy holds at once.
    """

    weights: float
    kv: float
    kv_needed: float
    reserve: float
    limit: float
    gpu: float
    bytes_per_token: int
    kv_tokens_per_rank: int
    kv_tokens: int
    context: int
    largest_context: int
    max_concurrency: float

    @property
    def total(self) -> float:
        """What the engine takes, in GiB: all that it may where the model fits, more where it does not."""
        return self.weights + self.kv + self.reserve

    @property
    def fits(self) -> bool:
        """Whether a request of the longest context has room, without which vLLM refuses to start."""
        return self.kv_tokens_per_rank >= self.context


def memory_per_gpu(
    architecture: ModelArchitecture,
    parallelism: Parallelism,
    *,
    gpu_memory_mib: int,
    utilization: float,
    kv_cache_dtype: KvCacheType = "auto",
    max_model_len: int | None = None,
    expert_kernels_heap: bool = False,
) -> GpuMemory:
    """Return how the memory of a GPU is used, on the pipeline stage that has the least room for tokens.

    Args:
        architecture: The model.
        parallelism: Split of one copy.
        gpu_memory_mib: Memory of one GPU that programs can have, in MiB.
        utilization: Share of it that the engine may take.
        kv_cache_dtype: Type of the KV cache.
        max_model_len: Longest context in tokens. Default: the model's own.
        expert_kernels_heap: Whether DeepEP kernels reserve a heap for experts on other nodes.
    """
    limit = gpu_memory_mib * utilization / 1024
    reserve = _reserve(architecture, parallelism) + (EXPERT_KERNELS_HEAP_GIB if expert_kernels_heap else 0)
    context = max_model_len or architecture.max_positions

    def pool(stage: Stage) -> float:
        return (limit - reserve) * GIB - stage.weight_bytes

    # Where no stage has room for a token, the one with most weights is the one to tell of.
    fullest = min(
        stages(architecture, parallelism, kv_cache_dtype), key=lambda stage: (stage.tokens(pool(stage)), pool(stage))
    )
    kv = max(pool(fullest), 0)
    tokens = fullest.tokens(kv)
    return GpuMemory(
        weights=fullest.weight_bytes / GIB,
        kv=kv / GIB,
        kv_needed=fullest.request_bytes(context) / GIB,
        reserve=reserve,
        limit=limit,
        gpu=gpu_memory_mib / 1024,
        bytes_per_token=fullest.token_bytes,
        kv_tokens_per_rank=tokens,
        kv_tokens=tokens * parallelism.data,
        context=context,
        largest_context=min(tokens, max(context, architecture.max_positions)),
        max_concurrency=parallelism.data * kv / max(fullest.request_bytes(context), 1),
    )


def _reserve(architecture: ModelArchitecture, parallelism: Parallelism) -> float:
    """Return what a GPU needs beside weights and cache, in GiB."""
    gathers = architecture.is_mixture_of_experts and parallelism.data > 1
    widths = ACTIVATION_WIDTHS + (GATHERED_WIDTHS * parallelism.data if gathers else 0)
    return RESERVE_GIB + widths * BATCHED_TOKENS * architecture.hidden_size * PLAIN_BYTES / GIB


def context_problems(architecture: ModelArchitecture, max_model_len: int | None, extension: str) -> list[Problem]:
    """Return why the model has no such context. The path starts at the deployment.

    Args:
        architecture: The model.
        max_model_len: Longest context in tokens. Default: the model's own.
        extension: What would extend the model's own, as an imperative.
    """
    most = architecture.max_positions
    if max_model_len is None or max_model_len <= most:
        return []
    allowed = f"at most {most}, the longest context of the model by its config.json"
    return [Problem("maxModelLen", str(max_model_len), allowed, f"Set it to {most} or less, or {extension}.")]


def memory_problems(
    architecture: ModelArchitecture,
    parallelism: Parallelism,
    *,
    gpu_memory_mib: int,
    utilization: float,
    kv_cache_dtype: KvCacheType = "auto",
    max_model_len: int | None = None,
    expert_kernels_heap: bool = False,
    gpus_per_node: int = 8,
    may_pipeline: bool = True,
    may_span_nodes: bool = True,
) -> list[Problem]:
    """Return why a copy does not fit its GPUs, with what would. The path starts at the role's settings.

    Args:
        architecture: The model.
        parallelism: Split of one copy.
        gpu_memory_mib: Memory of one GPU that programs can have, in MiB.
        utilization: Share of it that the engine may take.
        kv_cache_dtype: Type of the KV cache.
        max_model_len: Longest context in tokens. Default: the model's own.
        expert_kernels_heap: Whether DeepEP kernels reserve a heap for experts on other nodes.
        gpus_per_node: GPUs of a node, for splits that would fit.
        may_pipeline: Whether the role may have pipeline stages; roles that hand KV caches over may not.
        may_span_nodes: Whether a copy may take more than one node.
    """
    most_gpus = _MOST_RANKS * gpus_per_node if may_span_nodes else gpus_per_node

    def memory(split: Parallelism, cache: KvCacheType = kv_cache_dtype) -> GpuMemory:
        return memory_per_gpu(
            architecture,
            split,
            gpu_memory_mib=gpu_memory_mib,
            utilization=utilization,
            kv_cache_dtype=cache,
            max_model_len=max_model_len,
            expert_kernels_heap=expert_kernels_heap,
        )

    now = memory(parallelism)
    if now.fits:
        return []
    ways: list[str] = []
    if shorter := now.largest_context // _ROUND * _ROUND:
        ways.append(f"maxModelLen to {shorter}")
    if kv_cache_dtype == "auto" and memory(parallelism, "fp8").fits:
        ways.append("kvCacheDtype to fp8")
    for series in _other_splits(architecture, parallelism, may_pipeline=may_pipeline):
        fitting = (
            way + _over(split, parallelism, gpus_per_node)
            for split, way in series
            if split.gpus <= most_gpus and divides(architecture, split, gpus_per_node) and memory(split).fits
        )
        ways += islice(fitting, 1)
    wanted = f"{now.weights:.1f} GiB of weights, {now.reserve:.1f} of reserve and {now.kv_needed:.1f} of KV cache"
    return [
        Problem(
            "parallelism",
            f"{parallelism}: {wanted} for {now.context} tokens on a GPU",
            f"at most {now.limit:.1f} GiB, which is {utilization:.0%} of the GPU's {now.gpu:.1f}:"
            f" room for {now.largest_context} tokens",
            f"Set {', or '.join(ways)}." if ways else "Choose a pool of GPUs with more memory, or a smaller model.",
        )
    ]


def _over(split: Parallelism, now: Parallelism, gpus_per_node: int) -> str:
    """Say how many nodes another split takes, where they are not those of now."""
    nodes, nodes_now = (group_shape(each, gpus_per_node).size for each in (split, now))
    return "" if nodes == nodes_now else f" (islands of {nodes} nodes)" if nodes > 1 else " (1 node)"


def _other_splits(
    architecture: ModelArchitecture, now: Parallelism, *, may_pipeline: bool
) -> Iterator[Iterator[tuple[Parallelism, str]]]:
    """Return other splits, each with its words, one series for each way to split."""
    more = range(2, _MOST_RANKS + 1)
    if architecture.is_mixture_of_experts:
        # The same GPUs: what is not experts is then split too, instead of copied to every data rank.
        ranks = now.tensor * now.data
        yield (
            (
                now.model_copy(update={"tensor": tensor, "data": ranks // tensor}),
                f"parallelism.tensor to {tensor} and data to {ranks // tensor}",
            )
            for tensor in more
            if tensor > now.tensor and tensor < ranks and ranks % tensor == 0
        )
    yield (
        (now.model_copy(update={"tensor": tensor}), f"parallelism.tensor to {tensor}")
        for tensor in more
        if tensor > now.tensor
    )
    if may_pipeline:
        yield (
            (now.model_copy(update={"pipeline": pipeline}), f"parallelism.pipeline to {pipeline}")
            for pipeline in more
            if pipeline > now.pipeline
        )
    if architecture.is_mixture_of_experts:
        with_experts = "" if now.expert else " with parallelism.expert"
        yield (
            (now.model_copy(update={"data": data, "expert": True}), f"parallelism.data to {data}{with_experts}")
            for data in more
            if data > now.data
        )
