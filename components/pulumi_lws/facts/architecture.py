"""What of a model its sizes follow from."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from pulumi_lws.declarations import Count, Declaration, LargeCount, PositiveCount
from pulumi_lws.planning.problems import invalid

WeightType = Literal["float32", "bfloat16", "float16", "float8", "int8", "nvfp4", "int4", "mxfp4"]
"""Number type of stored weights."""

BYTES_OF: Mapping[WeightType, float] = {
    "float32": 4,
    "bfloat16": 2,
    "float16": 2,
    "float8": 1,
    "int8": 1,
    "nvfp4": 4.5 / 8,
    "int4": 4.5 / 8,
    "mxfp4": 4.25 / 8,
}
"""Bytes of one weight. The four-bit types share a scale between 16 (nvfp4) or 32 (int4, mxfp4) weights."""


class ModelArchitecture(Declaration):
    """A model's shapes and sizes: what its memory on a GPU and the possible splits follow from."""

    parameters: Annotated[LargeCount, Field(ge=1)]
    """Parameters."""
    active_parameters: LargeCount | None = None
    """Parameters that one token passes. Default: all."""
    weight_bytes: Annotated[LargeCount, Field(ge=1)]
    """Size of the checkpoint in bytes. Layers that predict further tokens (MTP) count, though engines load them for
    speculative decoding only: sizes err to the safe side."""
    native_dtype: WeightType = "bfloat16"
    """Type in which most weights are stored: of a mixture of experts, its experts. Default bfloat16."""
    quantization_block: Count = 0
    """Edge of the square block of weights that shares a scale, such as 128; each GPU's slice must be a multiple of it.
    Default 0: no blocks."""
    layers: PositiveCount
    """Transformer layers, without those that predict further tokens."""
    hidden_size: PositiveCount
    """Width of the residual stream."""
    vocabulary_size: Count = 0
    """Rows of the embedding, which weighs on the first and the last pipeline stage. Default 0: it is not told apart."""
    max_positions: PositiveCount
    """Longest context in tokens."""
    attention_heads: PositiveCount
    """Query heads."""
    kv_heads: PositiveCount
    """Key and value heads. Of no effect with a latent."""
    head_size: PositiveCount
    """Width of one head. Of no effect with a latent."""
    latent_size: Count = 0
    """Width of the latent that is cached instead of keys and values (MLA, ``kv_lora_rank``). Default 0: none."""
    rope_size: Count = 0
    """Width of the rotary part cached beside the latent (``qk_rope_head_dim``). Default 0."""
    indexer_bytes: Count = 0
    """Bytes per token and layer that a sparse-attention indexer caches (DSA): 128 in FP8 and a scale of 4. Default 0:
    no indexer."""
    sliding_window_layers: Count = 0
    """Layers that attend to a window only, and cache no more. Default 0."""
    sliding_window: Count = 0
    """Tokens of that window. Default 0."""
    recurrent_layers: Count = 0
    """Layers that keep a state of fixed size instead of a cache (Mamba, linear attention). Default 0."""
    dense_layers: Count = 0
    """Layers of a mixture of experts that have none; they come first. Default 0."""
    dense_intermediate_size: Count = 0
    """Inner width of the feed-forward network of layers without experts. Default 0: not known."""
    experts: Count = 0
    """Routed experts of a layer. Default 0: a dense model."""
    experts_per_token: Count = 0
    """Routed experts that one token passes. Default 0."""
    shared_experts: Count = 0
    """Experts of a layer that every token passes. Default 0."""
    expert_intermediate_size: Count = 0
    """Inner width of one expert. Default 0."""
    prediction_layers: Count = 0
    """Layers of the checkpoint that predict further tokens (MTP). Default 0."""
    source: str = ""
    """Where the numbers come from. Default empty."""

    @model_validator(mode="after")
    def _is_possible(self) -> "ModelArchitecture":
        """Refuse parts that are more than their whole: sizes below zero would follow from them."""
        wholes = {
            "activeParameters": (self.active_parameters or 0, self.parameters, "parameters"),
            "denseLayers": (self.dense_layers, self.layers, "layers"),
            "recurrentLayers": (self.recurrent_layers, self.layers, "layers"),
            "slidingWindowLayers": (self.sliding_window_layers, self.layers - self.recurrent_layers, "other layers"),
            "expertsPerToken": (self.experts_per_token, self.experts, "experts"),
            "kvHeads": (0 if self.has_latent_attention else self.kv_heads, self.attention_heads, "attentionHeads"),
        }
        for field, (part, whole, name) in wholes.items():
            if part > whole:
                allowed = f"at most {max(whole, 0)}, the number of {name}"
                raise invalid(allowed, "Copy it from the model's config.json.", field=field, found=str(part))
        return self

    @property
    def is_mixture_of_experts(self) -> bool:
        """Whether layers have experts."""
        return self.experts > 0

    @property
    def has_latent_attention(self) -> bool:
        """Whether a latent is cached instead of keys and values (MLA); every tensor rank then holds all of it."""
        return self.latent_size > 0

    @property
    def is_hybrid(self) -> bool:
        """Whether some layers keep a state instead of a cache."""
        return self.recurrent_layers > 0

    @property
    def expert_layers(self) -> int:
        """Layers that have experts."""
        return max(self.layers - self.dense_layers, 0) if self.is_mixture_of_experts else 0

    @property
    def expert_bytes(self) -> int:
        """Bytes of all routed experts: three matrices each. What remains of the checkpoint is ``other_bytes``."""
        if not self.expert_layers:
            return 0
        each = 3 * self.hidden_size * self.expert_intermediate_size * BYTES_OF[self.native_dtype]
        return min(int((self.expert_layers + self.prediction_layers) * self.experts * each), self.weight_bytes)

    @property
    def other_bytes(self) -> int:
        """Bytes of everything but the routed experts: attention, dense layers, shared experts, embeddings."""
        return self.weight_bytes - self.expert_bytes
