"""The model catalogue: the shapes and bytes that memory, splits and load times follow from.

Shapes are those of each model's ``config.json`` on the Hugging Face hub. ``weight_bytes`` is the size of the checkpoint
there; where it could not be looked up it is counted from the shapes, and the entry says so.
"""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts import model_shapes as shapes
from pulumi_lws.facts.architecture import ModelArchitecture
from pulumi_lws.facts.model_shapes import HUB, B

__all__ = ["MODELS", "ModelArchitecture"]


def _variant(base: Mapping[str, Any], **changes: Any) -> ModelArchitecture:
    return ModelArchitecture(**{**base, **changes})


_LLAMA_405B_BF16 = _variant(shapes.LLAMA_405B, weight_bytes=812 * B)
# Meta's own FP8 keeps attention and the outermost layers in bfloat16; counted from the shapes.
_LLAMA_405B_FP8 = _variant(shapes.LLAMA_405B, native_dtype="float8", weight_bytes=487 * B)
_LLAMA_405B_FP8_DYNAMIC = _variant(shapes.LLAMA_405B, native_dtype="float8", weight_bytes=410 * B)
_LLAMA_70B_BF16 = _variant(shapes.LLAMA_70B)
# Bytes from here to GLM-4.5-Air are counted from the shapes; FP8 leaves the embeddings as they are.
_LLAMA_8B_BF16 = _variant(shapes.LLAMA_8B)
_QWEN25_72B_BF16 = _variant(shapes.QWEN25_72B)
_QWEN3_8B_BF16 = _variant(shapes.QWEN3_8B)
_QWEN3_32B_BF16 = _variant(shapes.QWEN3_32B, weight_bytes=65_500_000_000)
_QWEN3_32B_FP8 = _variant(shapes.QWEN3_32B, native_dtype="float8", weight_bytes=34_300_000_000, quantization_block=128)
_QWEN3_30B_BF16 = _variant(shapes.QWEN3_30B, weight_bytes=61_100_000_000)
_QWEN3_30B_FP8 = _variant(shapes.QWEN3_30B, native_dtype="float8", weight_bytes=31_200_000_000, quantization_block=128)
_QWEN3_CODER_480B_BF16 = _variant(shapes.QWEN3_CODER_480B, weight_bytes=960 * B)
_QWEN3_CODER_480B_FP8 = _variant(
    shapes.QWEN3_CODER_480B, native_dtype="float8", weight_bytes=482 * B, quantization_block=128
)
_QWEN3_235B_BF16 = _variant(shapes.QWEN3_235B, weight_bytes=470 * B)
_QWEN3_235B_2507_BF16 = _variant(shapes.QWEN3_235B, weight_bytes=470 * B, max_positions=262_144)
_QWEN3_235B_FP8 = _variant(shapes.QWEN3_235B, native_dtype="float8", weight_bytes=237 * B, quantization_block=128)
_QWEN3_235B_2507_FP8 = _variant(
    shapes.QWEN3_235B, native_dtype="float8", weight_bytes=237 * B, quantization_block=128, max_positions=262_144
)
_GLM_45_AIR_BF16 = _variant(shapes.GLM_45_AIR, weight_bytes=218_500_000_000)
_GLM_45_AIR_FP8 = _variant(shapes.GLM_45_AIR, native_dtype="float8", weight_bytes=110_500_000_000)
_GLM_45_BF16 = _variant(shapes.GLM_4, weight_bytes=717 * B, max_positions=131_072)
_GLM_46_BF16 = _variant(shapes.GLM_4, weight_bytes=717 * B)
# One scale per channel, so no blocks.
_GLM_45_FP8 = _variant(shapes.GLM_4, native_dtype="float8", weight_bytes=362 * B, max_positions=131_072)
_GLM_46_FP8 = _variant(shapes.GLM_4, native_dtype="float8", weight_bytes=362 * B)
_GLM_5_FP8 = _variant(shapes.GLM_5, native_dtype="float8", weight_bytes=756 * B, quantization_block=128)
_GLM_5_BF16 = _variant(shapes.GLM_5, weight_bytes=1_508 * B)
_GLM_52_FP8 = _variant(
    shapes.GLM_5, native_dtype="float8", weight_bytes=756 * B, quantization_block=128, max_positions=1_048_576
)
_GLM_52_BF16 = _variant(shapes.GLM_5, weight_bytes=1_508 * B, max_positions=1_048_576)
_DEEPSEEK_V3_FP8 = _variant(shapes.DEEPSEEK_V3)
_DEEPSEEK_V32_FP8 = _variant(shapes.DEEPSEEK_V3, indexer_bytes=132, source=HUB.format("deepseek-ai/DeepSeek-V3.2"))
_KIMI_K2_FP8 = _variant(
    shapes.KIMI_K2, native_dtype="float8", weight_bytes=1_030 * B, quantization_block=128, max_positions=131_072
)
_KIMI_K2_0905_FP8 = _variant(
    shapes.KIMI_K2,
    native_dtype="float8",
    weight_bytes=1_030 * B,
    quantization_block=128,
    max_positions=262_144,
    source=HUB.format("moonshotai/Kimi-K2-Instruct-0905"),
)
_KIMI_K25_INT4 = _variant(
    shapes.KIMI_K2,
    native_dtype="int4",
    weight_bytes=595 * B,
    max_positions=262_144,
    source=HUB.format("moonshotai/Kimi-K2.5"),
)
_MIXTRAL_8X22B_BF16 = _variant(shapes.MIXTRAL_8X22B)
_MIXTRAL_8X7B_BF16 = _variant(shapes.MIXTRAL_8X7B)
_MINIMAX_M25_FP8 = _variant(shapes.MINIMAX_M2)
_MINIMAX_M27_FP8 = _variant(shapes.MINIMAX_M2, max_positions=204_800, source=HUB.format("MiniMaxAI/MiniMax-M2.7"))
_GPT_OSS_20B_MXFP4 = _variant(shapes.GPT_OSS_20B)
_GPT_OSS_120B_MXFP4 = _variant(shapes.GPT_OSS_120B)

MODELS: dict[str, ModelArchitecture] = {
    "meta-llama/Llama-3.1-405B": _LLAMA_405B_BF16,
    "meta-llama/Llama-3.1-405B-Instruct": _LLAMA_405B_BF16,
    "meta-llama/Llama-3.1-405B-FP8": _LLAMA_405B_FP8,
    "meta-llama/Llama-3.1-405B-Instruct-FP8": _LLAMA_405B_FP8,
    "RedHatAI/Meta-Llama-3.1-405B-Instruct-FP8-dynamic": _LLAMA_405B_FP8_DYNAMIC,
    "meta-llama/Llama-3.1-70B": _LLAMA_70B_BF16,
    "meta-llama/Llama-3.1-70B-Instruct": _LLAMA_70B_BF16,
    "meta-llama/Llama-3.1-8B": _LLAMA_8B_BF16,
    "meta-llama/Llama-3.1-8B-Instruct": _LLAMA_8B_BF16,
    "meta-llama/Llama-3.3-70B-Instruct": _LLAMA_70B_BF16,
    "Qwen/Qwen2.5-72B-Instruct": _QWEN25_72B_BF16,
    "Qwen/Qwen3-8B": _QWEN3_8B_BF16,
    "Qwen/Qwen3-32B": _QWEN3_32B_BF16,
    "Qwen/Qwen3-32B-FP8": _QWEN3_32B_FP8,
    "Qwen/Qwen3-30B-A3B": _QWEN3_30B_BF16,
    "Qwen/Qwen3-30B-A3B-FP8": _QWEN3_30B_FP8,
    "Qwen/Qwen3-Coder-480B-A35B-Instruct": _QWEN3_CODER_480B_BF16,
    "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8": _QWEN3_CODER_480B_FP8,
    "Qwen/Qwen3-235B-A22B": _QWEN3_235B_BF16,
    "Qwen/Qwen3-235B-A22B-FP8": _QWEN3_235B_FP8,
    "Qwen/Qwen3-235B-A22B-Instruct-2507": _QWEN3_235B_2507_BF16,
    "Qwen/Qwen3-235B-A22B-Thinking-2507": _QWEN3_235B_2507_BF16,
    "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8": _QWEN3_235B_2507_FP8,
    "Qwen/Qwen3-235B-A22B-Thinking-2507-FP8": _QWEN3_235B_2507_FP8,
    "zai-org/GLM-4.5": _GLM_45_BF16,
    "zai-org/GLM-4.5-FP8": _GLM_45_FP8,
    "zai-org/GLM-4.5-Air": _GLM_45_AIR_BF16,
    "zai-org/GLM-4.5-Air-FP8": _GLM_45_AIR_FP8,
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
    "moonshotai/Kimi-K2-Instruct-0905": _KIMI_K2_0905_FP8,
    "moonshotai/Kimi-K2.5": _KIMI_K25_INT4,
    "MiniMaxAI/MiniMax-M2.5": _MINIMAX_M25_FP8,
    "MiniMaxAI/MiniMax-M2.7": _MINIMAX_M27_FP8,
    "mistralai/Mixtral-8x7B-v0.1": _MIXTRAL_8X7B_BF16,
    "mistralai/Mixtral-8x7B-Instruct-v0.1": _MIXTRAL_8X7B_BF16,
    "mistralai/Mixtral-8x22B-v0.1": _MIXTRAL_8X22B_BF16,
    "mistralai/Mixtral-8x22B-Instruct-v0.1": _MIXTRAL_8X22B_BF16,
    "openai/gpt-oss-20b": _GPT_OSS_20B_MXFP4,
    "openai/gpt-oss-120b": _GPT_OSS_120B_MXFP4,
}
"""Every model that we know, by its Hugging Face id."""
