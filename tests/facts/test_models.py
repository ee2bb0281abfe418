"""The model catalogue, against the published numbers."""

import pytest
from pydantic import ValidationError

from pulumi_lws.facts.models import MODELS, ModelArchitecture

# Billions of parameters and of bytes, and KV bytes of a token over all layers in 16 bits, as published or derived.
PUBLISHED = {
    "meta-llama/Llama-3.1-405B": (405, 810, 516_096),
    "RedHatAI/Meta-Llama-3.1-405B-Instruct-FP8-dynamic": (405, 410, 516_096),
    "meta-llama/Llama-3.3-70B-Instruct": (70.6, 141, 327_680),
    "deepseek-ai/DeepSeek-R1": (671, 689, 70_272),
    "Qwen/Qwen3-235B-A22B": (235, 470, 192_512),
    "zai-org/GLM-4.6": (355, 717, 376_832),
    "zai-org/GLM-4.6-FP8": (355, 362, 376_832),
    "zai-org/GLM-5-FP8": (744, 756, 89_856 + 10_296),
    "mistralai/Mixtral-8x22B-v0.1": (141, 281, 229_376),
    "moonshotai/Kimi-K2-Instruct": (1040, 1030, 70_272),
    "openai/gpt-oss-120b": (116.8, 65, 73_728),
    "openai/gpt-oss-20b": (20.9, 13.76, 49_152),
    "meta-llama/Llama-3.1-8B-Instruct": (8.03, 16.06, 131_072),
    "mistralai/Mixtral-8x7B-Instruct-v0.1": (46.7, 93.4, 131_072),
    "Qwen/Qwen2.5-72B-Instruct": (72.7, 145.4, 327_680),
    "Qwen/Qwen3-32B": (32.8, 65.5, 262_144),
    "zai-org/GLM-4.5-Air": (106, 218.5, 188_416),
}


def kv_bytes(model: ModelArchitecture) -> int:
    if model.latent_size:
        return model.layers * (2 * (model.latent_size + model.rope_size) + model.indexer_bytes)
    return model.layers * 2 * model.kv_heads * model.head_size * 2


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_are_those_published(name: str) -> None:
    model = MODELS[name]
    parameters, weight_bytes, kv = PUBLISHED[name]
    assert model.parameters == pytest.approx(parameters * 1e9, rel=0.02)
    assert model.weight_bytes == pytest.approx(weight_bytes * 1e9, rel=0.005)
    assert kv_bytes(model) == kv


@pytest.mark.parametrize("name", MODELS)
def test_an_entry_is_sound(name: str) -> None:
    model = MODELS[name]
    assert model.source.startswith("https://huggingface.co/")
    assert 0 <= model.expert_bytes < model.weight_bytes
    assert model.other_bytes == model.weight_bytes - model.expert_bytes
    assert (model.active_parameters or 0) <= model.parameters
    assert bool(model.experts) == bool(model.experts_per_token) == bool(model.expert_intermediate_size)
    assert model.has_latent_attention == bool(model.rope_size)
    # What is not experts is the smaller part of a mixture of experts: attention, shared experts, embeddings.
    assert not model.is_mixture_of_experts or model.other_bytes < 0.3 * model.weight_bytes


def test_names_of_one_checkpoint_share_an_entry() -> None:
    assert MODELS["zai-org/GLM-5-FP8"] is MODELS["zai-org/GLM-5.1-FP8"]
    assert MODELS["deepseek-ai/DeepSeek-V3"] is MODELS["deepseek-ai/DeepSeek-R1"]


def test_experts_of_glm_5_are_most_of_its_bytes() -> None:
    model = MODELS["zai-org/GLM-5-FP8"]
    # 75 layers and the one that predicts, 256 experts each of 3 x 6144 x 2048 bytes.
    assert (model.expert_layers, model.expert_bytes) == (75, 76 * 256 * 3 * 6144 * 2048)


def test_a_model_of_ones_own_is_declared_with_the_same_fields() -> None:
    declared = ModelArchitecture.model_validate(
        {
            "parameters": 8e9,  # JSON has one kind of number
            "weightBytes": 16_000_000_000,
            "layers": 32,
            "hiddenSize": 4096,
            "maxPositions": 131_072,
            "attentionHeads": 32,
            "kvHeads": 8,
            "headSize": 128,
        }
    )
    assert (declared.parameters, declared.native_dtype) == (8_000_000_000, "bfloat16")
    assert (declared.is_mixture_of_experts, declared.has_latent_attention, declared.is_hybrid) == (False, False, False)
    assert (declared.expert_layers, declared.expert_bytes, declared.other_bytes) == (0, 0, 16_000_000_000)


def test_layers_with_a_state_make_a_model_hybrid() -> None:
    assert MODELS["zai-org/GLM-5"].model_copy(update={"recurrent_layers": 3}).is_hybrid


def test_a_misspelt_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        ModelArchitecture.model_validate({**MODELS["zai-org/GLM-5"].model_dump(), "kv_head": 8})
