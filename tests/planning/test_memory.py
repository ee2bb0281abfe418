"""What one copy takes of its GPUs. Numbers are those of public sizings, in GiB."""

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.facts.models import MODELS, ModelArchitecture
from pulumi_lws.planning.memory import GpuMemory, context_problems, memory_per_gpu, memory_problems
from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.planning.stages import kv_bytes_per_layer, pipeline_layers

GLM_5, DEEPSEEK = MODELS["zai-org/GLM-5-FP8"], MODELS["deepseek-ai/DeepSeek-R1"]
LLAMA_405B, LLAMA_70B = MODELS["meta-llama/Llama-3.1-405B"], MODELS["meta-llama/Llama-3.3-70B-Instruct"]
GPT_OSS, KIMI = MODELS["openai/gpt-oss-120b"], MODELS["moonshotai/Kimi-K2-Instruct"]


def memory(model: ModelArchitecture, instance: str = "p5.48xlarge", **split: Any) -> GpuMemory:
    options = {name: split.pop(name) for name in ("kv_cache_dtype", "max_model_len") if name in split}
    return memory_per_gpu(
        model,
        Parallelism(**split),
        gpu_memory_mib=INSTANCE_TYPES[instance].gpu_memory_mib,
        utilization=0.9,
        **options,
    )


@pytest.mark.parametrize(
    ("model", "split", "weights"),
    [
        (LLAMA_405B, {"tensor": 8, "pipeline": 2}, 47),
        (MODELS["Qwen/Qwen3-235B-A22B"], {"tensor": 8}, 55),
        (GLM_5, {"tensor": 16}, 44),
        # Three dense layers lie on the first stage, so the second has more experts.
        (GLM_5, {"tensor": 8, "pipeline": 2}, 46),
        # 49 GB.
        (GLM_5, {"tensor": 8, "data": 2, "expert": True}, 46),
        (KIMI, {"tensor": 8, "pipeline": 2}, 60),
        (DEEPSEEK, {"tensor": 8}, 80),
        (GPT_OSS, {}, 61),
    ],
)
def test_weights_of_a_gpu(model: ModelArchitecture, split: dict[str, Any], weights: int) -> None:
    assert memory(model, **split).weights == pytest.approx(weights, abs=0.55)


FITS: dict[str, tuple[ModelArchitecture, dict[str, Any]]] = {
    "GLM-5 over two nodes": (GLM_5, {"tensor": 8, "pipeline": 2}),
    "GLM-5 without stages": (GLM_5, {"tensor": 8, "data": 2, "expert": True}),
    "GLM-5 over 32 data ranks": (GLM_5, {"data": 32, "expert": True, "max_model_len": 131_072}),
    "Llama 405B over two nodes": (LLAMA_405B, {"tensor": 8, "pipeline": 2}),
    "Llama 405B in FP8 on one node": (MODELS["RedHatAI/Meta-Llama-3.1-405B-Instruct-FP8-dynamic"], {"tensor": 8}),
    "DeepSeek over two nodes": (DEEPSEEK, {"tensor": 8, "pipeline": 2}),
    "DeepSeek on one node of H200": (DEEPSEEK, {"instance": "p5en.48xlarge", "tensor": 8}),
    "Llama 70B on half a node": (LLAMA_70B, {"tensor": 4}),
    "Qwen3 on one node": (MODELS["Qwen/Qwen3-235B-A22B"], {"tensor": 8}),
    "GLM-4.6 in FP8 on one node": (MODELS["zai-org/GLM-4.6-FP8"], {"tensor": 8}),
    "gpt-oss on one GPU": (GPT_OSS, {}),
    "gpt-oss on a quarter of a node": (GPT_OSS, {"tensor": 2}),
}
DOES_NOT_FIT: dict[str, tuple[ModelArchitecture, dict[str, Any]]] = {
    "GLM-5 over 16 data ranks": (GLM_5, {"data": 16, "expert": True, "max_model_len": 8192}),
    "GLM-5 on one node": (GLM_5, {"tensor": 8, "max_model_len": 8192}),
    "DeepSeek on one node": (DEEPSEEK, {"tensor": 8, "max_model_len": 8192}),
    "Llama 405B on one node": (LLAMA_405B, {"tensor": 8, "max_model_len": 8192}),
    "GLM-4.6 on one node": (MODELS["zai-org/GLM-4.6"], {"tensor": 8, "max_model_len": 8192}),
    # Each rank has the whole latent, so its context is half of what stages would give.
    "Kimi over two nodes without stages": (KIMI, {"tensor": 16}),
}


@pytest.mark.parametrize("case", FITS)
def test_fits(case: str) -> None:
    model, split = FITS[case]
    assert memory(model, **split).fits


@pytest.mark.parametrize("case", DOES_NOT_FIT)
def test_does_not_fit(case: str) -> None:
    model, split = DOES_NOT_FIT[case]
    assert not memory(model, **split).fits


def test_everything_of_one_gpu_is_told() -> None:
    assert asdict(memory(GLM_5, tensor=8, pipeline=2)) == pytest.approx(
        {
            "weights": 45.83,
            "kv": 20.68,
            "kv_needed": 9.46,
            "reserve": 4.75,
            "limit": 71.26,
            "gpu": 79.18,
            "bytes_per_token": 39 * (2 * 576 + 132),
            "kv_tokens_per_rank": 443_478,
            "kv_tokens": 443_478,
            "context": 202_752,
            "largest_context": 202_752,
            "max_concurrency": 2.187,
        },
        rel=1e-3,
    )


@pytest.mark.parametrize(
    ("model", "tensor", "cache", "bytes_per_token"),
    [
        (LLAMA_405B, 1, "auto", 516_096),
        (LLAMA_405B, 8, "auto", 516_096 // 8),
        (LLAMA_405B, 8, "fp8", 516_096 // 16),
        # Four key and value heads on eight ranks: each has one, copied.
        (MODELS["Qwen/Qwen3-235B-A22B"], 8, "auto", 192_512 // 4),
        # A latent is whole on every rank.
        (DEEPSEEK, 8, "auto", 70_272),
        (DEEPSEEK, 8, "fp8", 70_272 // 2),
        (GLM_5, 8, "auto", 89_856 + 10_296),
        (GLM_5, 8, "fp8", 78 * 656 + 10_296),
        # Of 36 layers 18 have a window, and grow no more.
        (GPT_OSS, 1, "auto", 73_728 // 2),
    ],
)
def test_bytes_of_a_token(model: ModelArchitecture, tensor: int, cache: Any, bytes_per_token: int) -> None:
    assert memory(model, tensor=tensor, kv_cache_dtype=cache).bytes_per_token == bytes_per_token


def test_a_window_bounds_what_its_layers_cache() -> None:
    without = GPT_OSS.model_copy(update={"sliding_window_layers": 0})
    assert kv_bytes_per_layer(GPT_OSS, 1, "auto") * 36 == 73_728
    assert memory(GPT_OSS).kv_tokens > 1.8 * memory(without).kv_tokens
    # A context inside the window takes as much with it as without.
    short = [memory(model, max_model_len=100).kv_needed for model in (GPT_OSS, without)]
    assert short[0] == short[1]


def test_layers_with_a_state_cache_nothing() -> None:
    hybrid = LLAMA_70B.model_copy(update={"recurrent_layers": 60})
    assert memory(hybrid, tensor=4).bytes_per_token == memory(LLAMA_70B, tensor=4).bytes_per_token // 4


def test_each_data_rank_has_a_cache_of_its_own() -> None:
    split = memory(GLM_5, tensor=8, data=2, expert=True)
    assert split.kv_tokens == 2 * split.kv_tokens_per_rank


def test_slices_of_experts_take_what_whole_ones_take() -> None:
    sliced, whole = (memory(GLM_5, tensor=8, data=2, expert=expert).weights for expert in (False, True))
    assert sliced == pytest.approx(whole)


def test_the_gpu_with_most_experts_counts() -> None:
    most, more = (memory(KIMI, tensor=8, data=data, expert=True).weights for data in (5, 6))
    # 384 experts on 40 GPUs: some hold ten of them, as if there were 38.4 GPUs; 48 hold eight each.
    assert (most - more) * 2**30 == pytest.approx(KIMI.expert_bytes * (10 - 8) / 384)


def test_kernels_for_experts_over_nodes_reserve_a_heap() -> None:
    reserves = [
        memory_per_gpu(
            GLM_5,
            Parallelism(data=32, expert=True),
            gpu_memory_mib=81_080,
            utilization=0.8,
            expert_kernels_heap=heap,
        ).reserve
        for heap in (False, True)
    ]
    assert reserves[1] - reserves[0] == 16


@pytest.mark.parametrize(
    ("layers", "pipeline", "stages"),
    [(126, 2, (63, 63)), (61, 2, (31, 30)), (78, 4, (19, 20, 20, 19)), (61, 3, (20, 21, 20)), (5, 4, (1, 1, 2, 1))],
)
def test_layers_are_dealt_as_vllm_does(layers: int, pipeline: int, stages: tuple[int, ...]) -> None:
    assert pipeline_layers(layers, pipeline) == stages


@given(st.integers(1, 200), st.data())
def test_every_layer_has_its_stage(layers: int, data: st.DataObject) -> None:
    stages = pipeline_layers(layers, data.draw(st.integers(1, layers)))
    assert (sum(stages), max(stages) - min(stages) <= 1) == (layers, True)


SPLITS = st.builds(
    Parallelism,
    tensor=st.sampled_from([1, 2, 4, 8, 16]),
    pipeline=st.integers(1, 8),
    data=st.integers(1, 32),
    expert=st.booleans(),
)


@given(st.sampled_from([*MODELS.values()]), SPLITS, st.integers(20_000, 300_000), st.floats(0.3, 0.95))
def test_the_parts_of_a_gpu_add_up(model: ModelArchitecture, split: Parallelism, mib: int, share: float) -> None:
    used = memory_per_gpu(model, split, gpu_memory_mib=mib, utilization=share)
    assert used.kv >= 0
    assert used.total == pytest.approx(max(used.limit, used.weights + used.reserve))
    assert used.fits == (used.largest_context == model.max_positions)
    assert used.fits == (used.kv >= used.kv_needed)


@given(st.sampled_from([*MODELS.values()]), SPLITS, st.integers(20_000, 300_000))
def test_more_memory_never_holds_less(model: ModelArchitecture, split: Parallelism, mib: int) -> None:
    small, large = (memory_per_gpu(model, split, gpu_memory_mib=size, utilization=0.9) for size in (mib, mib + 8192))
    assert small.kv_tokens <= large.kv_tokens
    halved = memory_per_gpu(model, split, gpu_memory_mib=mib, utilization=0.9, kv_cache_dtype="fp8")
    assert halved.kv_tokens >= small.kv_tokens


def problems(
    model: ModelArchitecture, *, may_pipeline: bool = True, may_span_nodes: bool = True, **split: Any
) -> list[str]:
    return [
        str(problem)
        for problem in memory_problems(
            model,
            Parallelism(**split),
            gpu_memory_mib=81_080,
            utilization=0.9,
            may_pipeline=may_pipeline,
            may_span_nodes=may_span_nodes,
        )
    ]


def test_what_fits_is_no_problem() -> None:
    assert problems(GLM_5, tensor=8, pipeline=2) == []


def test_weights_that_do_not_fit_get_splits_that_do() -> None:
    assert problems(DEEPSEEK, tensor=8) == [
        (
            "parallelism: found TP8: 80.4 GiB of weights, 4.9 of reserve and 10.7 of KV cache for 163840 tokens on a"
            " GPU; allowed: at most 71.3 GiB, which is 90% of the GPU's 79.2: room for 0 tokens."
            " Set parallelism.pipeline to 2 (islands of 2 nodes), or parallelism.data to 2 with parallelism.expert"
            " (islands of 2 nodes)."
        )
    ]


def test_a_cache_that_does_not_fit_gets_a_shorter_context_too() -> None:
    assert problems(KIMI, tensor=16) == [
        (
            "parallelism: found TP16: 60.0 GiB of weights, 4.9 of reserve and 8.6 of KV cache for 131072 tokens on a"
            " GPU; allowed: at most 71.3 GiB, which is 90% of the GPU's 79.2: room for 97382 tokens."
            " Set maxModelLen to 97280, or kvCacheDtype to fp8."
        )
    ]


def test_a_role_that_hands_caches_over_gets_no_stages() -> None:
    [problem] = problems(GLM_5, may_pipeline=False, data=16, expert=True)
    assert problem.endswith(
        "Set parallelism.tensor to 8 and data to 2, or parallelism.tensor to 2 (islands of 4 nodes), or"
        " parallelism.data to 64 (islands of 8 nodes)."
    )


def test_a_copy_that_must_not_span_nodes_gets_splits_of_one() -> None:
    [whole] = problems(DEEPSEEK, may_span_nodes=False, tensor=8)
    assert whole.endswith("Choose a pool of GPUs with more memory, or a smaller model.")
    [part] = problems(LLAMA_405B, may_span_nodes=False, tensor=4, pipeline=2)
    assert "islands" not in part


def test_a_model_for_which_no_split_fits_needs_other_gpus() -> None:
    found = memory_problems(GLM_5, Parallelism(tensor=8), gpu_memory_mib=4096, utilization=0.9)
    assert [problem.fix for problem in found] == ["Choose a pool of GPUs with more memory, or a smaller model."]


def test_a_context_beyond_the_model_is_refused() -> None:
    assert [str(problem) for problem in context_problems(LLAMA_405B, 200_000, "extend it")] == [
        (
            "maxModelLen: found 200000; allowed: at most 131072, the longest context of the model by its config.json."
            " Set it to 131072 or less, or extend it."
        )
    ]
    assert context_problems(LLAMA_405B, 131_072, "") == context_problems(LLAMA_405B, None, "") == []


def test_a_context_that_was_extended_has_room_if_the_cache_has() -> None:
    model = MODELS["Qwen/Qwen3-235B-A22B-FP8"]
    extended = memory(model, tensor=4, max_model_len=131_072)
    assert (extended.context, extended.largest_context, extended.fits) == (131_072, 131_072, True)
