"""Which splits of one copy work, and what to write instead of those that do not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.facts.models import MODELS
from pulumi_lws.planning.memory import memory_problems
from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.planning.problems import Severity, errors_of
from pulumi_lws.planning.split import smallest_split, split_problems

P5 = INSTANCE_TYPES["p5.48xlarge"]
GLM_5, KIMI = "zai-org/GLM-5-FP8", "moonshotai/Kimi-K2-Instruct"
QWEN_FP8, MIXTRAL = "Qwen/Qwen3-235B-A22B-FP8", "mistralai/Mixtral-8x22B-v0.1"
LLAMA_70B = "meta-llama/Llama-3.3-70B-Instruct"

NODE_6 = "the 8 GPUs of one p5.48xlarge are not divisible by it"

ERRORS: dict[str, tuple[str | None, dict[str, Any], list[str]]] = {
    "tensor ranks that divide neither node nor heads": (
        GLM_5,
        {"tensor": 6, "pipeline": 2},
        [
            (
                f"parallelism.tensor: found 6: {NODE_6}, and 64 attention heads are not divisible by it;"
                " allowed: 1, 2, 4, 8. Write 4 or 8."
            )
        ],
    ),
    "tensor ranks that do not divide a node, of a model that nobody knows": (
        None,
        {"tensor": 6},
        [f"parallelism.tensor: found 6: {NODE_6}; allowed: 1, 2, 4, 8. Write 4 or 8."],
    ),
    "tensor ranks of one node and a half": (
        None,
        {"tensor": 12},
        [
            (
                f"parallelism.tensor: found 12: {NODE_6}; allowed: 1, 2, 4, 8."
                " Keep tensor parallelism inside a node, and span nodes with parallelism.pipeline or data."
            )
        ],
    ),
    "more tensor ranks than heads divide into": (
        MIXTRAL,
        {"tensor": 32},
        [
            (
                "parallelism.tensor: found 32: 48 attention heads are not divisible by it; allowed: 1, 2, 4, 8."
                " Keep tensor parallelism inside a node, and span nodes with parallelism.pipeline or data."
            )
        ],
    ),
    "slices of experts that cut FP8 blocks": (
        QWEN_FP8,
        {"tensor": 8},
        [
            (
                "parallelism.expert: found false: each GPU gets 1536 / 8 of an expert, no multiple of the 128 that"
                " share a scale; allowed: true, or slices of a multiple of 128."
                " Set parallelism.expert to true, which keeps experts whole, or tensor times data to 4."
            )
        ],
    ),
    "more GPUs than experts": (
        MIXTRAL,
        {"tensor": 8, "data": 2, "expert": True},
        [
            (
                "parallelism.expert: found true, over 16 GPUs; allowed: a number of GPUs that divides 8: 8."
                " Lower tensor times data to 8, or set parallelism.expert to false."
            )
        ],
    ),
    "data ranks of a dense model": (
        LLAMA_70B,
        {"tensor": 4, "data": 2},
        [
            (
                "parallelism.data: found 2, of a model without experts; allowed: 1."
                " Set parallelism.data to 1 and replicas to 2 times as many: copies share nothing."
            )
        ],
    ),
    "experts of a dense model": (
        LLAMA_70B,
        {"tensor": 4, "expert": True},
        [
            (
                "parallelism.expert: found true, of a model without experts; allowed: false."
                " Remove it, or correct the architecture."
            )
        ],
    ),
    "more stages than layers": (
        GLM_5,
        {"tensor": 8, "pipeline": 79},
        ["parallelism.pipeline: found 79; allowed: at most 78: so many layers has the model. Lower it."],
    ),
    "a copy of one node and a half": (
        None,
        {"tensor": 4, "pipeline": 3},
        [
            (
                "parallelism.pipeline: found 3: 12 GPUs for one copy; allowed: a multiple of 2, for whole nodes of 8"
                " GPUs. Write 4."
            )
        ],
    ),
    "a copy of two nodes and a half": (
        None,
        {"tensor": 4, "pipeline": 5},
        [
            (
                "parallelism.pipeline: found 5: 20 GPUs for one copy; allowed: a multiple of 2, for whole nodes of 8"
                " GPUs. Write 4 or 6."
            )
        ],
    ),
    "data ranks of two nodes and a half": (
        GLM_5,
        {"tensor": 4, "data": 5, "expert": False},
        [
            (
                "parallelism.expert: found false: each GPU gets 2048 / 20 of an expert, no multiple of the 128 that"
                " share a scale; allowed: true, or slices of a multiple of 128."
                " Set parallelism.expert to true, which keeps experts whole, or tensor times data to 4."
            ),
            (
                "parallelism.data: found 5: 20 GPUs for one copy; allowed: a multiple of 2, for whole nodes of 8 GPUs."
                " Write 4 or 6."
            ),
        ],
    ),
    "data ranks that lie across nodes": (
        GLM_5,
        {"tensor": 2, "pipeline": 3, "data": 4, "expert": True},
        [
            (
                "parallelism.pipeline: found 3: data ranks of 6 GPUs lie across nodes of 8; allowed: data ranks that"
                " share a node without rest, or fill whole ones. Write 2 or 4."
            )
        ],
    ),
}


def found(model: str | None, split: dict[str, Any], severity: Severity) -> list[str]:
    problems = split_problems(MODELS[model] if model else None, Parallelism(**split), P5)
    return [str(problem) for problem in problems if problem.severity is severity]


@pytest.mark.parametrize("case", ERRORS)
def test_refuses(case: str) -> None:
    model, split, messages = ERRORS[case]
    assert found(model, split, Severity.ERROR) == messages


WARNINGS: dict[str, tuple[str | None, dict[str, Any], str]] = {
    "tensor ranks over nodes": (
        GLM_5,
        {"tensor": 16},
        (
            "parallelism.tensor: found 16, over 2 nodes; allowed: at most 8, the GPUs of one p5.48xlarge, for NVLink to"
            " carry what every layer exchanges. Set parallelism.tensor to 8 and parallelism.pipeline to 2, or use data"
            " ranks with experts."
        ),
    ),
    "experts that are dealt unevenly": (
        KIMI,
        {"tensor": 8, "data": 5, "expert": True},
        (
            "parallelism.expert: found true, over 40 GPUs; allowed: a number of GPUs that divides 384: 8, 16, 24, 32,"
            " 48, 64. Choose tensor times data of 32 or 48. Else all GPUs wait for those with more experts."
        ),
    ),
    "a copy that leaves GPUs of its node idle": (
        None,
        {"pipeline": 3},
        (
            "parallelism: found PP3: 3 GPUs for one copy; allowed: 1, 2, 4, 8 GPUs, which share the 8 of one"
            " p5.48xlarge without rest. Choose a split of 2 or 4 GPUs, or bear that 2 of each node stay idle."
        ),
    ),
}


@pytest.mark.parametrize("case", WARNINGS)
def test_warns_of(case: str) -> None:
    model, split, message = WARNINGS[case]
    assert (found(model, split, Severity.ERROR), found(model, split, Severity.WARNING)) == ([], [message])


WORKS: list[tuple[str, dict[str, Any]]] = [
    (GLM_5, {"tensor": 8, "pipeline": 2}),
    (GLM_5, {"tensor": 8, "data": 2, "expert": True}),
    (GLM_5, {"data": 32, "expert": True}),
    (QWEN_FP8, {"tensor": 4}),
    (QWEN_FP8, {"tensor": 8, "expert": True}),
    # Eight ranks copy each of four key and value heads twice.
    ("Qwen/Qwen3-235B-A22B", {"tensor": 8}),
    (LLAMA_70B, {"tensor": 4}),
    ("openai/gpt-oss-120b", {"tensor": 2, "data": 2, "expert": True}),
]


@pytest.mark.parametrize(("model", "split"), WORKS, ids=str)
def test_takes(model: str, split: dict[str, Any]) -> None:
    assert split_problems(MODELS[model], Parallelism(**split), P5) == []


def test_key_and_value_heads_divide_ranks_or_ranks_them() -> None:
    three = MODELS[LLAMA_70B].model_copy(update={"attention_heads": 48, "kv_heads": 3})
    [problem] = split_problems(three, Parallelism(tensor=2), P5)
    assert problem.found == "2: 3 key and value heads do not divide it, nor it them"
    assert (problem.allowed, problem.fix) == ("1", "Write 1.")


def test_slices_of_dense_layers_keep_fp8_blocks_whole() -> None:
    dense = MODELS[LLAMA_70B].model_copy(update={"quantization_block": 128, "dense_intermediate_size": 2560})
    assert split_problems(dense, Parallelism(tensor=4), P5) == []
    assert [str(problem) for problem in split_problems(dense, Parallelism(tensor=8), P5)] == [
        (
            "parallelism.tensor: found 8: 2560 / 8 is no multiple of the 128 weights that share a scale; allowed: 1, 2,"
            " 4. Write 4."
        )
    ]


def test_a_copy_that_must_stay_on_one_node_is_told() -> None:
    split = Parallelism(tensor=8, pipeline=2)
    assert split_problems(MODELS[GLM_5], split, P5, spans_nodes_allowed=True) == []
    assert [str(one) for one in split_problems(MODELS[GLM_5], split, P5, spans_nodes_allowed=False)] == [
        (
            "parallelism: found TP8 PP2: 16 GPUs for one copy; allowed: at most the 8 GPUs of one p5.48xlarge."
            " Lower it, or let groups of several nodes serve it."
        )
    ]


@pytest.mark.parametrize("split", [{"data": 1024}, {"data": 1024, "expert": True}, {"pipeline": 1024}])
def test_the_largest_numbers_are_judged_at_once(split: dict[str, Any]) -> None:
    assert errors_of(split_problems(MODELS[GLM_5], Parallelism(**split), P5))


SMALLEST = [
    (GLM_5, "p5.48xlarge", True, (2, "TP8 PP2")),
    (GLM_5, "p5.48xlarge", False, (2, "TP8 DP2 EP")),
    (GLM_5, "p5en.48xlarge", True, (1, "TP8")),
    ("meta-llama/Llama-3.1-405B", "p5.48xlarge", True, (2, "TP8 PP2")),
    ("meta-llama/Llama-3.1-405B", "p5.48xlarge", False, None),
    (LLAMA_70B, "p5.48xlarge", True, (1, "TP4")),
    ("deepseek-ai/DeepSeek-R1", "p5.48xlarge", True, (2, "TP8 PP2")),
    ("Qwen/Qwen3-235B-A22B", "p5.48xlarge", True, (1, "TP8")),
    (QWEN_FP8, "p5.48xlarge", True, (1, "TP4")),
    ("openai/gpt-oss-120b", "p5.48xlarge", True, (1, "TP1")),
    ("openai/gpt-oss-120b", "g6e.xlarge", True, (2, "PP2")),
]


@pytest.mark.parametrize(("model", "instance", "may_pipeline", "expected"), SMALLEST)
def test_the_smallest_split(model: str, instance: str, may_pipeline: bool, expected: tuple[int, str] | None) -> None:
    split = smallest_split(MODELS[model], INSTANCE_TYPES[instance], may_pipeline=may_pipeline)
    assert (split and (split.nodes, str(split.parallelism))) == expected


@given(st.sampled_from(sorted(MODELS)), st.sampled_from(sorted(INSTANCE_TYPES)), st.booleans())
def test_what_is_advised_has_no_problem(model: str, instance_type: str, may_pipeline: bool) -> None:
    architecture, instance = MODELS[model], INSTANCE_TYPES[instance_type]
    advised = smallest_split(architecture, instance, may_pipeline=may_pipeline, max_model_len=16_384)
    if advised is None:
        return
    assert split_problems(architecture, advised.parallelism, instance) == []
    assert (
        memory_problems(
            architecture,
            advised.parallelism,
            gpu_memory_mib=instance.gpu_memory_mib,
            utilization=0.9,
            max_model_len=16_384,
        )
        == []
    )
    assert may_pipeline or advised.parallelism.pipeline == 1
    assert advised.memory.fits


@given(
    st.sampled_from([None, *sorted(MODELS)]),
    st.builds(
        Parallelism,
        tensor=st.integers(1, 40),
        pipeline=st.integers(1, 90),
        data=st.integers(1, 70),
        expert=st.booleans(),
    ),
    st.sampled_from(sorted(INSTANCE_TYPES)),
)
def test_a_split_without_errors_fills_its_nodes(model: str | None, split: Parallelism, instance_type: str) -> None:
    architecture, instance = MODELS[model] if model else None, INSTANCE_TYPES[instance_type]
    problems = split_problems(architecture, split, instance)
    assert all(problem.fix.endswith(".") and problem.allowed and "  " not in str(problem) for problem in problems)
    if errors_of(problems):
        return
    assert split.gpus < instance.gpus or split.gpus % instance.gpus == 0
    if architecture:
        assert architecture.attention_heads % split.tensor == 0
        assert split.pipeline <= architecture.layers
        assert split.data == 1 or architecture.is_mixture_of_experts
