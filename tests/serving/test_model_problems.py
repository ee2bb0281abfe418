"""What is said of the model itself: its context, and sizes that nobody knows."""

import json
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.platform.checks import read
from tests.serving.stacks import stack

QWEN = "Qwen/Qwen3-235B-A22B-FP8"
STRETCHED = {"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}}
YARN = json.dumps(STRETCHED)
DEPLOYMENT = "deployments.model"


def answers(example: str = "llama-3.3-70b", **changes: Any) -> dict[str, str]:
    fields: dict[str, Any] = {"parallelism": {"tensor": 8}, "replicas": 1} | changes
    problems = read(stack(example, name="model", **fields))[1]
    own = (f"{DEPLOYMENT}.model", f"{DEPLOYMENT}.maxModelLen", f"{DEPLOYMENT}.architecture")
    return {problem.path.removeprefix(f"{DEPLOYMENT}."): str(problem) for problem in problems if problem.path in own}


def test_a_context_beyond_the_model_is_answered_with_what_would_extend_it() -> None:
    qwen: dict[str, Any] = {"model": QWEN, "parallelism": {"tensor": 4}, "maxModelLen": 131072}
    assert answers(**qwen) == {
        "maxModelLen": (
            "deployments.model.maxModelLen: found 131072; allowed: at most 40960, the longest context of the model by"
            " its config.json. Set it to 40960 or less, or extend it with --hf-overrides in extraArguments, as the"
            " model's page says, or with environment.VLLM_ALLOW_LONG_MAX_MODEL_LEN."
        )
    }


EXTENDED: dict[str, dict[str, Any]] = {
    "by an override": {"extraArguments": ["--hf-overrides", YARN]},
    "by an override in one word": {"extraArguments": [f"--hf_overrides={YARN}"]},
    "by a path into it": {"extraArguments": ["--hf-overrides.rope_parameters.factor", "4.0"]},
    "by the flag of old versions": {
        "extraArguments": ["--rope-scaling", '{"rope_type":"yarn","factor":4.0}'],
        "image": "vllm/vllm-openai:v0.10.2",
    },
    "at one's own risk": {"environment": {"VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"}},
    "of SGLang": {"engine": {"kind": "sglang"}, "extraArguments": ["--json-model-override-args", YARN]},
    "of SGLang at one's own risk": {
        "engine": {"kind": "sglang"},
        "environment": {"SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "true"},
    },
    "by an engine of one's own": {
        "engine": {"kind": "custom", "leaderCommand": ["/app/serve"]},
        "image": "registry.example.com/engine:1.4.2",
    },
}


@pytest.mark.parametrize("case", EXTENDED)
def test_whoever_extends_the_context_may_have_it(case: str) -> None:
    qwen: dict[str, Any] = {"model": QWEN, "parallelism": {"tensor": 4}, "maxModelLen": 131072}
    assert "maxModelLen" not in answers(**qwen, **EXTENDED[case])


@pytest.mark.parametrize(
    "change",
    [
        {"extraArguments": ["--hf-overrides", '{"architectures": ["Qwen3MoeForCausalLM"]}']},
        {"environment": {"VLLM_ALLOW_LONG_MAX_MODEL_LEN": "0"}},
    ],
    ids=["something else is overridden", "the variable is off"],
)
def test_what_extends_nothing_changes_nothing(change: dict[str, Any]) -> None:
    qwen: dict[str, Any] = {"model": QWEN, "parallelism": {"tensor": 4}, "maxModelLen": 131072}
    assert "maxModelLen" in answers(**qwen, **change)


def test_an_unknown_model_is_answered_with_names_of_the_catalogue() -> None:
    assert answers(model="qwen/qwen3-235b-a22b-fp8") == {
        "model": (
            "deployments.model.model: found qwen/qwen3-235b-a22b-fp8; allowed: a model of the catalogue"
            " (docs/models.md): of any other neither memory nor start times are checked. Write"
            " Qwen/Qwen3-235B-A22B-FP8 if you mean that; else set architecture to the path of the model's config.json,"
            " to the name of a model of the same shape, or to the fields."
        )
    }


def test_a_wrong_architecture_is_all_that_is_said_of_it(tmp_path: Path) -> None:
    broken = tmp_path / "config.json"
    broken.write_text("{")
    for architecture in (str(tmp_path / "none.json"), str(broken), "zai-org/GLM5"):
        assert list(answers(model="me/my-model", architecture=architecture)) == ["architecture"]


def test_a_stretched_config_serves_the_stretched_context(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    shape = {
        "model_type": "qwen3_moe",
        "num_hidden_layers": 94,
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "moe_intermediate_size": 1536,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "vocab_size": 151936,
        "max_position_embeddings": 40960,
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
    }
    config.write_text(json.dumps(shape | STRETCHED))
    qwen: dict[str, Any] = {"model": QWEN, "parallelism": {"tensor": 4}, "architecture": str(config)}
    assert answers(**qwen, maxModelLen=131072) == {}
    assert "at most 131072" in answers(**qwen, maxModelLen=131073)["maxModelLen"]
