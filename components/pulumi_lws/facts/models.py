"""The model catalogue: the shapes and bytes that memory, splits and load times follow from.

Shapes are those of each model's ``config.json`` on the Hugging Face hub. ``weight_bytes`` is the size of the checkpoint
there; where it could not be looked up it is counted from the shapes, and the entry says so.
"""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts.architecture import ModelArchitecture

__all__ = ["MODELS", "ModelArchitecture"]

_B = 1_000_000_000
_HUB = "https://huggingface.co/{}/blob/main/config.json"


def _variant(base: Mapping[str, Any], **changes: Any) -> ModelArchitecture:
    return ModelArchitecture(**{**base, **changes})


_LLAMA_405B: Mapping[str, Any] = {
    "parameters": 405 * _B,
    "layers": 126,
    "hidden_size": 16_384,
    "vocabulary_size": 128_256,
    "max_positions": 131_072,
    "attention_heads": 128,
    "kv_heads": 8,
    "head_size": 128,
    "dense_intermediate_size": 53_248,
    "source": _HUB.format("meta-llama/Llama-3.1-405B"),
}
_LLAMA_70B: Mapping[str, Any] = {
    "parameters": 70_600_000_000,
    "weight_bytes": 141 * _B,
    "layers": 80,
    "hidden_size": 8_192,
    "vocabulary_size": 128_256,
    "max_positions": 131_072,
    "attention_heads": 64,
    "kv_heads": 8,
    "head_size": 128,
    "dense_intermediate_size": 28_672,
    "source": _HUB.format("meta-llama/Llama-3.3-70B-Instruct"),
}
_QWEN3_235B: Mapping[str, Any] = {
    "parameters": 235 * _B,
    "active_parameters": 22 * _B,
    "layers": 94,
    "hidden_size": 4_096,
    "vocabulary_size": 151_936,
    "max_positions": 40_960,
    "attention_heads": 64,
    "kv_heads": 4,
    "head_size": 128,
    "experts": 128,
    "experts_per_token": 8,
    "expert_intermediate_size": 1_536,
    "source": _HUB.format("Qwen/Qwen3-235B-A22B"),
}
_GLM_4: Mapping[str, Any] = {
    "parameters": 355 * _B,
    "active_parameters": 32 * _B,
    "layers": 92,
    "hidden_size": 5_120,
    "vocabulary_size": 151_552,
    "max_positions": 202_752,
    "attention_heads": 96,
    "kv_heads": 8,
    "head_size": 128,
    "dense_layers": 3,
    "dense_intermediate_size": 12_288,
    "experts": 160,
    "experts_per_token": 8,
    "shared_experts": 1,
    "expert_intermediate_size": 1_536,
    "prediction_layers": 1,
    "source": _HUB.format("zai-org/GLM-4.6"),
}
_GLM_5: Mapping[str, Any] = {
    "parameters": 744 * _B,
    "active_parameters": 40 * _B,
    "layers": 78,
    "hidden_size": 6_144,
    "vocabulary_size": 154_880,
    "max_positions": 202_752,
    "attention_heads": 64,
    "kv_heads": 64,
    "head_size": 256,
    "latent_size": 512,
    "rope_size": 64,
    # GLM-5.2 shares one indexer between up to four layers; engines still may cache each layer's.
    "indexer_bytes": 132,
    "dense_layers": 3,
    "dense_intermediate_size": 12_288,
    "experts": 256,
    "experts_per_token": 8,
    "shared_experts": 1,
    "expert_intermediate_size": 2_048,
    "prediction_layers": 1,
    "source": _HUB.format("zai-org/GLM-5-FP8"),
}
_DEEPSEEK_V3: Mapping[str, Any] = {
    "parameters": 671 * _B,
    "active_parameters": 37 * _B,
    "weight_bytes": 689 * _B,
    "native_dtype": "float8",
    "quantization_block": 128,
    "layers": 61,
    "hidden_size": 7_168,
    "vocabulary_size": 129_280,
    "max_positions": 163_840,
    "attention_heads": 128,
    "kv_heads": 128,
    "head_size": 192,
    "latent_size": 512,
    "rope_size": 64,
    "dense_layers": 3,
    "dense_intermediate_size": 18_432,
    "experts": 256,
    "experts_per_token": 8,
    "shared_experts": 1,
    "expert_intermediate_size": 2_048,
    "prediction_layers": 1,
    "source": _HUB.format("deepseek-ai/DeepSeek-R1"),
}
_KIMI_K2: Mapping[str, Any] = {
    "parameters": 1_026 * _B,
    "active_parameters": 32 * _B,
    "layers": 61,
    "hidden_size": 7_168,
    "vocabulary_size": 163_840,
    "attention_heads": 64,
    "kv_heads": 64,
    "head_size": 192,
    "latent_size": 512,
    "rope_size": 64,
    "dense_layers": 1,
    "dense_intermediate_size": 18_432,
    "experts": 384,
    "experts_per_token": 8,
    "shared_experts": 1,
    "expert_intermediate_size": 2_048,
    "source": _HUB.format("moonshotai/Kimi-K2-Instruct"),
}
_MIXTRAL_8X22B: Mapping[str, Any] = {
    "parameters": 141 * _B,
    "active_parameters": 39 * _B,
    "weight_bytes": 281 * _B,
    "layers": 56,
    "hidden_size": 6_144,
    "vocabulary_size": 32_000,
    "max_positions": 65_536,
    "attention_heads": 48,
    "kv_heads": 8,
    "head_size": 128,
    "experts": 8,
    "experts_per_token": 2,
    "expert_intermediate_size": 16_384,
    "source": _HUB.format("mistralai/Mixtral-8x22B-v0.1"),
}
_GPT_OSS_120B: Mapping[str, Any] = {
    "parameters": 116_800_000_000,
    "active_parameters": 5_100_000_000,
    "weight_bytes": 65_200_000_000,
    "native_dtype": "mxfp4",
    "layers": 36,
    "hidden_size": 2_880,
    "vocabulary_size": 201_088,
    "max_positions": 131_072,
    "attention_heads": 64,
    "kv_heads": 8,
    "head_size": 64,
    "sliding_window_layers": 18,
    "sliding_window": 128,
    "experts": 128,
    "experts_per_token": 4,
    "expert_intermediate_size": 2_880,
    "source": _HUB.format("openai/gpt-oss-120b"),
}

_LLAMA_405B_BF16 = _variant(_LLAMA_405B, weight_bytes=812 * _B)
# Meta's own FP8 keeps attention and the outermost layers in bfloat16; counted from the shapes.
_LLAMA_405B_FP8 = _variant(_LLAMA_405B, native_dtype="float8", weight_bytes=487 * _B)
_LLAMA_405B_FP8_DYNAMIC = _variant(_LLAMA_405B, native_dtype="float8", weight_bytes=410 * _B)
_LLAMA_70B_BF16 = _variant(_LLAMA_70B)
_QWEN3_235B_BF16 = _variant(_QWEN3_235B, weight_bytes=470 * _B)
_QWEN3_235B_2507_BF16 = _variant(_QWEN3_235B, weight_bytes=470 * _B, max_positions=262_144)
# Counted from the shapes: everything but the embeddings in FP8.
_QWEN3_235B_FP8 = _variant(_QWEN3_235B, native_dtype="float8", weight_bytes=237 * _B, quantization_block=128)
_QWEN3_235B_2507_FP8 = _variant(
    _QWEN3_235B, native_dtype="float8", weight_bytes=237 * _B, quantization_block=128, max_positions=262_144
)
_GLM_45_BF16 = _variant(_GLM_4, weight_bytes=717 * _B, max_positions=131_072)
_GLM_46_BF16 = _variant(_GLM_4, weight_bytes=717 * _B)
# One scale per channel, so no blocks.
_GLM_45_FP8 = _variant(_GLM_4, native_dtype="float8", weight_bytes=362 * _B, max_positions=131_072)
_GLM_46_FP8 = _variant(_GLM_4, native_dtype="float8", weight_bytes=362 * _B)
_GLM_5_FP8 = _variant(_GLM_5, native_dtype="float8", weight_bytes=756 * _B, quantization_block=128)
_GLM_5_BF16 = _variant(_GLM_5, weight_bytes=1_508 * _B)
_GLM_52_FP8 = _variant(
    _GLM_5, native_dtype="float8", weight_bytes=756 * _B, quantization_block=128, max_positions=1_048_576
)
_GLM_52_BF16 = _variant(_GLM_5, weight_bytes=1_508 * _B, max_positions=1_048_576)
_DEEPSEEK_V3_FP8 = _variant(_DEEPSEEK_V3)
_DEEPSEEK_V32_FP8 = _variant(_DEEPSEEK_V3, indexer_bytes=132, source=_HUB.format("deepseek-ai/DeepSeek-V3.2"))
_KIMI_K2_FP8 = _variant(
    _KIMI_K2, native_dtype="float8", weight_bytes=1_030 * _B, quantization_block=128, max_positions=131_072
)
_KIMI_K25_INT4 = _variant(
    _KIMI_K2,
    native_dtype="int4",
    weight_bytes=595 * _B,
    max_positions=262_144,
    source=_HUB.format("moonshotai/Kimi-K2.5"),
)
_MIXTRAL_8X22B_BF16 = _variant(_MIXTRAL_8X22B)
_GPT_OSS_120B_MXFP4 = _variant(_GPT_OSS_120B)

MODELS: dict[str, ModelArchitecture] = {
    "meta-llama/Llama-3.1-405B": _LLAMA_405B_BF16,
    "meta-llama/Llama-3.1-405B-Instruct": _LLAMA_405B_BF16,
    "meta-llama/Llama-3.1-405B-FP8": _LLAMA_405B_FP8,
    "meta-llama/Llama-3.1-405B-Instruct-FP8": _LLAMA_405B_FP8,
    "RedHatAI/Meta-Llama-3.1-405B-Instruct-FP8-dynamic": _LLAMA_405B_FP8_DYNAMIC,
    "meta-llama/Llama-3.3-70B-Instruct": _LLAMA_70B_BF16,
    "Qwen/Qwen3-235B-A22B": _QWEN3_235B_BF16,
    "Qwen/Qwen3-235B-A22B-FP8": _QWEN3_235B_FP8,
    "Qwen/Qwen3-235B-A22B-Instruct-2507": _QWEN3_235B_2507_BF16,
    "Qwen/Qwen3-235B-A22B-Thinking-2507": _QWEN3_235B_2507_BF16,
    "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8": _QWEN3_235B_2507_FP8,
    "Qwen/Qwen3-235B-A22B-Thinking-2507-FP8": _QWEN3_235B_2507_FP8,
    "zai-org/GLM-4.5": _GLM_45_BF16,
    "zai-org/GLM-4.5-FP8": _GLM_45_FP8,
    "zai-org/GLM-4.6": _GLM_46_BF16,
    "zai-org/GLM-4.6-FP8": _GLM_46_FP8,
    "zai-org/GLM-4.7": _GLM_46_BF16,
    "zai-org/GLM-4.7-FP8": _GLM_46_FP8,
    "zai-org/GLM-5": _GLM_5_BF16,
    "zai-org/GLM-5-FP8": _GLM_5_FP8,
    "zai-org/GLM-5.1": _GLM_5_BF16,
    "zai-org/GLM-5.1-FP8": _GLM_5_FP8,
    "zai-org/GLM-5.2": _GLM_52_BF16,
    "zai-org/GLM-5.2-FP8": _GLM_52_FP8,
    "deepseek-ai/DeepSeek-V3": _DEEPSEEK_V3_FP8,
    "deepseek-ai/DeepSeek-V3-0324": _DEEPSEEK_V3_FP8,
    "deepseek-ai/DeepSeek-V3.1": _DEEPSEEK_V3_FP8,
    "deepseek-ai/DeepSeek-V3.2": _DEEPSEEK_V32_FP8,
    "deepseek-ai/DeepSeek-R1": _DEEPSEEK_V3_FP8,
    "deepseek-ai/DeepSeek-R1-0528": _DEEPSEEK_V3_FP8,
    "moonshotai/Kimi-K2-Instruct": _KIMI_K2_FP8,
    "moonshotai/Kimi-K2.5": _KIMI_K25_INT4,
    "mistralai/Mixtral-8x22B-v0.1": _MIXTRAL_8X22B_BF16,
    "mistralai/Mixtral-8x22B-Instruct-v0.1": _MIXTRAL_8X22B_BF16,
    "openai/gpt-oss-120b": _GPT_OSS_120B_MXFP4,
}
"""Every model that we know, by its Hugging Face id."""
