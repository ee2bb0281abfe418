"""What one GPU of each pipeline stage holds: weights, and KV cache by token."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pulumi_lws.facts.architecture import ModelArchitecture
from pulumi_lws.planning.parallelism import Parallelism

KvCacheType = Literal["auto", "fp8"]
"""Type of the KV cache: 16 bits, or ``fp8``."""

SPARSE_LATENT_FP8_BYTES = 656
"""Bytes per token and layer of an FP8 latent with a sparse-attention indexer: 512 values, 4 scales of 4 bytes, and the
rotary part in 16 bits (vLLM's layout ``fp8_ds_mla``)."""

BATCHED_TOKENS = 8192
"""Tokens that vLLM computes at a time by default on such GPUs; a windowed layer caches so many more than its window."""

PLAIN_BYTES = 2
"""Bytes of a number in 16 bits: activations, embeddings, and the KV cache unless it is FP8."""


@dataclass(frozen=True)
class Stage:
    """What one GPU of a pipeline stage holds.

    Attributes:
        weight_bytes: Bytes of weights.
        token_bytes: Bytes of KV cache that each token of a request takes.
        window_bytes: Bytes that each token takes on top while it is among the last ``window`` ones.
        window: Tokens that layers with a sliding window cache.
    """

    weight_bytes: float
    token_bytes: int
    window_bytes: int
    window: int

    def request_bytes(self, tokens: int) -> int:
        """Return the KV cache that a request of so many tokens takes."""
        return self.token_bytes * tokens + self.window_bytes * min(tokens, self.window)

    def tokens(self, pool_bytes: float) -> int:
        """Return the tokens of the longest request that a cache of that size holds."""
        if pool_bytes <= 0:
            return 0
        if pool_bytes <= self.request_bytes(self.window):
            return int(pool_bytes // max(self.token_bytes + self.window_bytes, 1))
        return int((pool_bytes - self.window_bytes * self.window) // max(self.token_bytes, 1))


def stages(architecture: ModelArchitecture, parallelism: Parallelism, kv_cache_dtype: KvCacheType) -> Iterator[Stage]:
    """Return what a GPU of each pipeline stage holds.

    Args:
        architecture: The model.
        parallelism: Split of one copy.
        kv_cache_dtype: Type of the KV cache.
    """
    layers, tensor = architecture.layers, parallelism.tensor
    per_layer = kv_bytes_per_layer(architecture, tensor, kv_cache_dtype)
    windowed = architecture.sliding_window_layers
    growing = max(layers - windowed - architecture.recurrent_layers, 0)
    embedding = architecture.vocabulary_size * architecture.hidden_size * PLAIN_BYTES
    # The output head has the embedding's shape.
    end_bytes = min(embedding, architecture.other_bytes / 2)
    inner_bytes = (architecture.other_bytes - 2 * end_bytes) / layers + _absorbed_bytes(architecture)
    expert_bytes = architecture.expert_bytes / max(architecture.expert_layers, 1)
    first = 0
    counts = pipeline_layers(layers, min(parallelism.pipeline, layers))
    for index, count in enumerate(counts):
        sparse = max(first + count - max(first, architecture.dense_layers), 0)
        ends = (index == 0) + (index == len(counts) - 1)
        yield Stage(
            weight_bytes=sparse * expert_bytes * _expert_share(architecture, parallelism)
            + (count * inner_bytes + ends * end_bytes) / tensor,
            token_bytes=-(-growing * count // layers) * per_layer,
            window_bytes=-(-windowed * count // layers) * per_layer,
            window=architecture.sliding_window + BATCHED_TOKENS if windowed else 0,
        )
        first += count


def pipeline_layers(layers: int, pipeline: int) -> tuple[int, ...]:
    """Return the layers of each pipeline stage, as vLLM deals them (``get_pp_indices``).

    What is left over goes to stages from the last but one backwards: the last has the output head.
    """
    each, over = divmod(layers, pipeline)
    return tuple(each + (pipeline - 1 - over <= stage < pipeline - 1) for stage in range(pipeline))


def kv_bytes_per_layer(architecture: ModelArchitecture, tensor: int, kv_cache_dtype: KvCacheType) -> int:
    """Return the bytes of KV cache of one token in one layer on one GPU.

    Keys and values are split over tensor ranks until each has one head; a latent is whole on every rank.
    """
    width = 1 if kv_cache_dtype == "fp8" else PLAIN_BYTES
    if architecture.has_latent_attention:
        latent = (architecture.latent_size + architecture.rope_size) * width
        is_packed = kv_cache_dtype == "fp8" and architecture.indexer_bytes
        return (SPARSE_LATENT_FP8_BYTES if is_packed else latent) + architecture.indexer_bytes
    return 2 * -(-architecture.kv_heads // tensor) * architecture.head_size * width


def _expert_share(architecture: ModelArchitecture, parallelism: Parallelism) -> float:
    """Return the share of a layer's experts on the GPU that has most of them.

    Whole experts are dealt to the tensor ranks of all data ranks, and so are slices of every one (vLLM's
    ``flatten_tp_across_dp``).
    """
    ranks = parallelism.tensor * parallelism.data
    if parallelism.expert and architecture.is_mixture_of_experts:
        return -(-architecture.experts // ranks) / architecture.experts
    return 1 / ranks


def _absorbed_bytes(architecture: ModelArchitecture) -> int:
    """Return the bytes of one layer's up-projections of the latent, kept again in 16 bits to attend in the latent.

    Values are taken to be as wide as the part of keys without rotation; they are, or a third wider (GLM-5).
    """
    if not architecture.has_latent_attention:
        return 0
    width = 2 * max(architecture.head_size - architecture.rope_size, 0)
    return architecture.latent_size * architecture.attention_heads * width * PLAIN_BYTES
