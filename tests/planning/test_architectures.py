"""Where an architecture comes from: the catalogue, a config.json, or the declaration itself."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.facts.models import MODELS, ModelArchitecture
from pulumi_lws.planning.architectures import architecture_of, close_names
from pulumi_lws.planning.checkpoints import read_config
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.quantization import UnreadableConfigError

BLOCK_FP8 = {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}

LLAMA_405B: Mapping[str, Any] = {
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "num_hidden_layers": 126,
    "hidden_size": 16384,
    "intermediate_size": 53248,
    "num_attention_heads": 128,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
}
QWEN3_235B: Mapping[str, Any] = {
    "model_type": "qwen3_moe",
    "torch_dtype": "bfloat16",
    "num_hidden_layers": 94,
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "moe_intermediate_size": 1536,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "sliding_window": None,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
}
GLM_46: Mapping[str, Any] = {
    "model_type": "glm4_moe",
    "dtype": "bfloat16",
    "num_hidden_layers": 92,
    "hidden_size": 5120,
    "intermediate_size": 12288,
    "moe_intermediate_size": 1536,
    "n_routed_experts": 160,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
    "num_attention_heads": 96,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151552,
    "max_position_embeddings": 202752,
}
DEEPSEEK_R1: Mapping[str, Any] = {
    "model_type": "deepseek_v3",
    "torch_dtype": "bfloat16",
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 129280,
    "max_position_embeddings": 163840,
    "quantization_config": BLOCK_FP8,
}
KIMI_K2: Mapping[str, Any] = {
    **DEEPSEEK_R1,
    "model_type": "kimi_k2",
    "n_routed_experts": 384,
    "first_k_dense_replace": 1,
    "num_nextn_predict_layers": 0,
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "vocab_size": 163840,
    "max_position_embeddings": 131072,
}
GLM_5: Mapping[str, Any] = {
    "model_type": "glm_moe_dsa",
    "dtype": "bfloat16",
    "num_hidden_layers": 78,
    "hidden_size": 6144,
    "intermediate_size": 12288,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "head_dim": 64,
    "q_lora_rank": 2048,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 192,
    "qk_rope_head_dim": 64,
    "v_head_dim": 256,
    "index_n_heads": 32,
    "index_head_dim": 128,
    "index_topk": 2048,
    "vocab_size": 154880,
    "max_position_embeddings": 202752,
}
QWEN3_32B: Mapping[str, Any] = {
    **LLAMA_405B,
    "model_type": "qwen3",
    "num_hidden_layers": 64,
    "hidden_size": 5120,
    "intermediate_size": 25600,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
}
QWEN3_30B: Mapping[str, Any] = {
    **QWEN3_235B,
    "num_hidden_layers": 48,
    "hidden_size": 2048,
    "moe_intermediate_size": 768,
    "num_attention_heads": 32,
}
QWEN3_CODER: Mapping[str, Any] = {
    **QWEN3_235B,
    "num_hidden_layers": 62,
    "hidden_size": 6144,
    "moe_intermediate_size": 2560,
    "num_experts": 160,
    "num_attention_heads": 96,
    "num_key_value_heads": 8,
    "max_position_embeddings": 262144,
}
GLM_45_AIR: Mapping[str, Any] = {
    **GLM_46,
    "num_hidden_layers": 46,
    "hidden_size": 4096,
    "intermediate_size": 10944,
    "moe_intermediate_size": 1408,
    "n_routed_experts": 128,
    "first_k_dense_replace": 1,
    "max_position_embeddings": 131072,
}
GPT_OSS: Mapping[str, Any] = {
    "model_type": "gpt_oss",
    "num_hidden_layers": 36,
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "num_local_experts": 128,
    "experts_per_token": 4,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 18,
    "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096},
    "vocab_size": 201088,
    "max_position_embeddings": 131072,
    "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]},
}
CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "meta-llama/Llama-3.1-405B": LLAMA_405B,
    "RedHatAI/Meta-Llama-3.1-405B-Instruct-FP8-dynamic": {
        **LLAMA_405B,
        "quantization_config": {
            "quant_method": "compressed-tensors",
            "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}},
            "ignore": ["lm_head"],
        },
    },
    "meta-llama/Llama-3.3-70B-Instruct": {
        **LLAMA_405B,
        "num_hidden_layers": 80,
        "hidden_size": 8192,
        "intermediate_size": 28672,
        "num_attention_heads": 64,
    },
    "Qwen/Qwen3-235B-A22B": QWEN3_235B,
    "Qwen/Qwen3-235B-A22B-FP8": {**QWEN3_235B, "quantization_config": BLOCK_FP8},
    "zai-org/GLM-4.6": GLM_46,
    "zai-org/GLM-4.6-FP8": {
        **GLM_46,
        "quantization_config": {
            "quant_method": "compressed-tensors",
            "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}},
            "ignore": ["lm_head"],
        },
    },
    "zai-org/GLM-5": GLM_5,
    "zai-org/GLM-5-FP8": {
        **GLM_5,
        "quantization_config": {
            **BLOCK_FP8,
            "modules_to_not_convert": ["lm_head", "model.layers.0.self_attn.kv_a_layernorm", "model.layers.3.mlp.gate"],
        },
    },
    "deepseek-ai/DeepSeek-R1": DEEPSEEK_R1,
    "moonshotai/Kimi-K2-Instruct": KIMI_K2,
    "moonshotai/Kimi-K2.5": {
        "model_type": "kimi_k25",
        "text_config": {
            **KIMI_K2,
            "max_position_embeddings": 262144,
            "quantization_config": {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 32}}},
                "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*"],
            },
        },
    },
    "mistralai/Mixtral-8x22B-v0.1": {
        "model_type": "mixtral",
        "torch_dtype": "bfloat16",
        "num_hidden_layers": 56,
        "hidden_size": 6144,
        "intermediate_size": 16384,
        "num_local_experts": 8,
        "num_experts_per_tok": 2,
        "num_attention_heads": 48,
        "num_key_value_heads": 8,
        "vocab_size": 32000,
        "max_position_embeddings": 65536,
    },
    "mistralai/Mixtral-8x7B-v0.1": {
        "model_type": "mixtral",
        "torch_dtype": "bfloat16",
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_local_experts": 8,
        "num_experts_per_tok": 2,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 32000,
        "max_position_embeddings": 32768,
    },
    "meta-llama/Llama-3.1-8B-Instruct": {
        **LLAMA_405B,
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192},
    },
    "Qwen/Qwen2.5-72B-Instruct": {
        **LLAMA_405B,
        "model_type": "qwen2",
        "num_hidden_layers": 80,
        "hidden_size": 8192,
        "intermediate_size": 29568,
        "num_attention_heads": 64,
        "vocab_size": 152064,
        "max_position_embeddings": 32768,
    },
    "Qwen/Qwen3-8B": {
        **QWEN3_32B,
        "num_hidden_layers": 36,
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_attention_heads": 32,
    },
    "Qwen/Qwen3-32B": QWEN3_32B,
    "Qwen/Qwen3-32B-FP8": {**QWEN3_32B, "quantization_config": BLOCK_FP8},
    "Qwen/Qwen3-30B-A3B": QWEN3_30B,
    "Qwen/Qwen3-30B-A3B-FP8": {**QWEN3_30B, "quantization_config": BLOCK_FP8},
    "Qwen/Qwen3-Coder-480B-A35B-Instruct": QWEN3_CODER,
    "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8": {**QWEN3_CODER, "quantization_config": BLOCK_FP8},
    "zai-org/GLM-4.5-Air": GLM_45_AIR,
    "zai-org/GLM-4.5-Air-FP8": {
        **GLM_45_AIR,
        "quantization_config": {
            "quant_method": "compressed-tensors",
            "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}},
            "ignore": ["lm_head"],
        },
    },
    "moonshotai/Kimi-K2-Instruct-0905": {
        **KIMI_K2,
        "max_position_embeddings": 262144,
        "rope_scaling": {"type": "yarn", "factor": 64.0, "original_max_position_embeddings": 4096},
    },
    "MiniMaxAI/MiniMax-M2.5": {
        "model_type": "minimax_m2",
        "dtype": "bfloat16",
        "num_hidden_layers": 62,
        "hidden_size": 3072,
        "intermediate_size": 1536,
        "num_local_experts": 256,
        "num_experts_per_tok": 8,
        "num_attention_heads": 48,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 200064,
        "max_position_embeddings": 196608,
        "quantization_config": BLOCK_FP8,
    },
    "openai/gpt-oss-20b": {**GPT_OSS, "num_hidden_layers": 24, "num_local_experts": 32},
    "openai/gpt-oss-120b": GPT_OSS,
}

COUNTED = {"parameters", "active_parameters", "weight_bytes", "source"}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_says_what_the_catalogue_says(name: str) -> None:
    read, known = read_config(CONFIGS[name]), MODELS[name]
    assert read.model_dump(exclude=COUNTED) == known.model_dump(exclude=COUNTED)
    assert read.parameters == pytest.approx(known.parameters, rel=0.01)
    assert read.weight_bytes == pytest.approx(known.weight_bytes, rel=0.015)
    assert read.active_parameters == pytest.approx(known.active_parameters or known.parameters, rel=0.17)


YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
CONTEXTS: Mapping[str, tuple[dict[str, Any], int]] = {
    "nothing": ({}, 40960),
    "yarn, as Qwen's page asks for": ({"rope_scaling": YARN}, 131072),
    "the same as transformers 5 writes it": (
        {"rope_parameters": {"rope_theta": 1e6, **YARN, "rope_type": "yarn"}},
        131072,
    ),
    "yarn that says nothing of the original": ({"rope_scaling": {"rope_type": "yarn", "factor": 2}}, 81920),
    "two kinds of layers": (
        {"rope_parameters": {"full_attention": YARN, "sliding_attention": {"rope_type": "default"}}},
        131072,
    ),
    "linear": ({"rope_scaling": {"type": "linear", "factor": 2.5}}, 102400),
    "what is stretched already": ({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, 40960),
    "no scaling": ({"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}, 40960),
}


@pytest.mark.parametrize("case", CONTEXTS)
def test_rope_scaling_stretches_the_context_as_vllm_does(case: str) -> None:
    changes, tokens = CONTEXTS[case]
    assert read_config({**QWEN3_235B, **changes}).max_positions == tokens


def test_tied_embeddings_count_once() -> None:
    tied = read_config({**LLAMA_405B, "tie_word_embeddings": True})
    assert read_config(LLAMA_405B).parameters - tied.parameters == 128256 * 16384


def test_a_layer_of_every_second_is_sparse_with_a_step_of_two() -> None:
    assert read_config({**QWEN3_235B, "decoder_sparse_step": 2}).dense_layers == 47


def test_layers_without_a_cache_are_told() -> None:
    config = {**QWEN3_235B, "model_type": "qwen3_next", "num_hidden_layers": 48, "full_attention_interval": 4}
    listed = {**config, "layer_types": [*["linear_attention"] * 3, "full_attention"] * 12}
    assert [read_config(each).recurrent_layers for each in (config, listed)] == [36, 36]


QUANTIZATIONS: Mapping[str, tuple[dict[str, Any], str, int]] = {
    "gptq of four bits": ({"quant_method": "gptq", "bits": 4}, "int4", 0),
    "awq in another kernel": ({"quant_method": "awq_marlin", "bits": 8}, "int8", 0),
    "modelopt by its algorithm": ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4", 0),
    "modelopt by groups": (
        {
            "quant_method": "modelopt",
            "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}},
        },
        "nvfp4",
        0,
    ),
    "compressed blocks": (
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "block_structure": [128, 128]}}},
        },
        "float8",
        128,
    ),
    "meta's fp8": ({"quant_method": "fbgemm_fp8"}, "float8", 0),
}


@pytest.mark.parametrize("case", QUANTIZATIONS)
def test_a_quantization_is_read(case: str) -> None:
    quantization, dtype, block = QUANTIZATIONS[case]
    read = read_config({**QWEN3_235B, "quantization_config": quantization})
    assert (read.native_dtype, read.quantization_block) == (dtype, block)


UNREADABLE: Mapping[str, tuple[dict[str, Any], str]] = {
    "another kind of model": ({"model_type": "llama4_text"}, "whose model_type is 'llama4_text'"),
    "no kind": ({"model_type": None}, "whose model_type is nothing"),
    "no layers": ({"num_hidden_layers": None}, "without num_hidden_layers"),
    "layers in words": ({"num_hidden_layers": "many"}, "whose num_hidden_layers is 'many'"),
    "a truth for a number": ({"num_hidden_layers": True}, "whose num_hidden_layers is true"),
    "fewer than no layers": ({"num_hidden_layers": -1}, "whose num_hidden_layers is -1"),
    "zero heads": ({"num_attention_heads": 0}, "whose attention_heads is 0"),
    "more parameters than there are": ({"hidden_size": 2**31 - 1}, "whose parameters is"),
    "a window of no size": ({"layer_types": ["sliding_attention"]}, "without sliding_window"),
    "a rope that is stretched by nothing": (
        {"rope_scaling": {"type": "yarn", "factor": "four"}},
        "whose rope scaling has the factor 'four'",
    ),
    "a rope that is stretched without end": (
        {"rope_scaling": {"type": "linear", "factor": float("inf")}},
        "whose rope scaling has the factor inf",
    ),
    "an unknown quantization": (
        {"quantization_config": {"quant_method": "bitsandbytes"}},
        "whose quantization bitsandbytes is of a kind that we cannot size",
    ),
    "a quantization in words": ({"quantization_config": "fp8"}, "whose quantization_config is 'fp8'"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_a_config_without_sizes_is_refused(case: str) -> None:
    changes, found = UNREADABLE[case]
    with pytest.raises(UnreadableConfigError) as refused:
        read_config({**LLAMA_405B, **changes})
    assert refused.value.found.startswith(found)
    assert refused.value.allowed


def test_the_model_names_its_catalogue_entry() -> None:
    assert architecture_of(None, "zai-org/GLM-5-FP8") is MODELS["zai-org/GLM-5-FP8"]


def test_a_model_that_nobody_knows_is_none() -> None:
    assert architecture_of(None, "me/my-model") is None


def test_a_declared_name_wins_over_the_model() -> None:
    assert architecture_of("zai-org/GLM-5-FP8", "/models/glm") is MODELS["zai-org/GLM-5-FP8"]


def test_declared_fields_are_taken_as_they_are() -> None:
    own = MODELS["zai-org/GLM-5-FP8"].model_copy(update={"layers": 10})
    assert architecture_of(own, "zai-org/GLM-5-FP8") is own


def test_a_file_or_its_folder_is_read(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA_405B))
    by_file, by_folder = (architecture_of(str(path), "m") for path in (file, tmp_path))
    assert isinstance(by_file, ModelArchitecture)
    assert (by_file.layers, by_file.source) == (126, str(file))
    assert by_file == by_folder


def found(declared: str) -> str:
    problem = architecture_of(declared, "m")
    assert isinstance(problem, Problem)
    assert problem.path == "architecture"
    return problem.found


def test_a_near_name_is_proposed() -> None:
    assert architecture_of("zai-org/GLM5-FP8", "m") == Problem(
        "architecture",
        "zai-org/GLM5-FP8, which is no model of the catalogue and no file",
        "a name of the catalogue (docs/models.md), the path of a Hugging Face config.json, or the fields themselves",
        "Write zai-org/GLM-5-FP8 or zai-org/GLM-5.2-FP8, or the path of the model's config.json, from the working"
        " directory (with Pulumi, the project's folder).",
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("qwen/qwen3-235b-a22b-fp8", ["Qwen/Qwen3-235B-A22B-FP8"]),
        ("Qwen/Qwen3-235B-FP8", ["Qwen/Qwen3-32B-FP8", "Qwen/Qwen3-235B-A22B-FP8"]),
        ("moonshotai/Kimi-K2", ["moonshotai/Kimi-K2.5", "moonshotai/Kimi-K2-Instruct"]),
        ("/models/GLM-5-FP8/", ["zai-org/GLM-5-FP8"]),
        ("unsloth/Llama-3.3-70B-Instruct", ["meta-llama/Llama-3.3-70B-Instruct"]),
        ("me/my-model", []),
    ],
)
def test_names_of_the_catalogue_that_are_meant_are_found(name: str, meant: list[str]) -> None:
    assert close_names(name) == meant


@given(st.sampled_from([*MODELS]), st.sampled_from([str.lower, str.upper, str.swapcase]))
def test_the_case_of_a_name_never_hides_what_is_meant(name: str, change: Callable[[str], str]) -> None:
    assert close_names(change(name)) == [name]


def test_a_file_that_is_no_config_is_a_problem(tmp_path: Path) -> None:
    def file(name: str, content: bytes) -> str:
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    large = file("model.safetensors", b" " * (2**20 + 1))
    assert found(file("a.json", b"{")) == f"{tmp_path}/a.json, which is not JSON"
    assert found(file("b.json", b"\xff\xfe{}")) == f"{tmp_path}/b.json, which is not JSON"
    assert found(file("c.json", b"[" * 100_000)) == f"{tmp_path}/c.json, which is not JSON"
    assert found(file("d.json", b"[]")) == f"{tmp_path}/d.json, which is not a JSON object"
    assert found(file("e.json", b"{}")) == f"{tmp_path}/e.json, whose model_type is nothing"
    assert found(large) == f"{large}, of 1,048,577 bytes"
    (tmp_path / "empty").mkdir()
    assert found(str(tmp_path / "empty")) == f"{tmp_path}/empty, which is no model of the catalogue and no file"


def test_what_cannot_be_read_never_blocks_or_raises(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert found(str(tmp_path / "pipe")) == str(tmp_path / "pipe")
    assert found("x" * 5000).endswith(", which cannot be read")
    assert found("a\0b").endswith(", which cannot be read")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from([*CONFIGS.values()]), st.data())
def test_any_config_gives_sizes_or_a_reason(config: Mapping[str, Any], data: st.DataObject) -> None:
    keys = st.sampled_from(
        [
            *config,
            "layer_types",
            "mlp_layer_types",
            "text_config",
            "quantization_config",
            "rope_scaling",
            "rope_parameters",
        ]
    )
    changes = data.draw(st.dictionaries(keys, JSON, max_size=4))
    try:
        architecture = read_config({**config, **changes})
    except UnreadableConfigError:
        return
    assert 0 <= architecture.expert_bytes <= architecture.weight_bytes
