from typing import Any

import pytest

from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.engines.settings import VllmEngine
from pulumi_lws.serving.engines.vllm import Vllm
from tests.serving.engines.launches import TRANSFER, launch, vllm_cases

EXPERTS = Parallelism(tensor=8, data=2, expert=True)
DIGEST = "vllm/vllm-openai@sha256:" + "a" * 64


def problems(settings: VllmEngine | None = None, split: Parallelism | None = None, **changes: Any) -> list[Problem]:
    return Vllm(settings or VllmEngine()).problems(launch(split, **changes))


def argument(*words: str, **changes: Any) -> list[tuple[str, str, str, str]]:
    found = problems(extra_arguments=words, **changes)
    return [(problem.path, problem.found, problem.allowed, problem.fix) for problem in found]


@pytest.mark.parametrize("version", ["0.12.0", "0.18.1", "0.26.0", "0.33.0"])
def test_every_mode_is_without_problems_where_the_version_has_it(version: str) -> None:
    found = {
        case.name: [str(problem) for problem in Vllm(case.settings).problems(case.launch)]
        for case in vllm_cases(version)
        if case.settings.backend == "mp"
    }
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("vllm/vllm-openai:v0.26.0", None),
        ("registry:5000/deep-learning-containers/vllm:0.26.0-gpu-py312-cu130-ubuntu22.04-ec2", None),
        (f"vllm/vllm-openai:v0.26.0@sha256:{'a' * 64}", None),
        (DIGEST, "0.26"),
        ("acme/vllm:nightly", "v0.26.0"),
    ],
)
def test_the_version_is_the_declared_one_or_that_of_the_tag(image: str, version: str | None) -> None:
    too_new = ("--swa-bounded-replay",)
    found = problems(VllmEngine(version=version), image=image, extra_arguments=too_new)
    assert [problem.fix for problem in found] == ["Use an image of vLLM 0.33.0 or newer, or remove it."]


@pytest.mark.parametrize("image", [DIGEST, "acme/vllm:nightly", "acme/vllm:2026.11.01", "registry:5000/vllm:main"])
def test_an_image_that_does_not_say_its_version_needs_one_declared(image: str) -> None:
    assert problems(image=image) == [
        Problem(
            "engine.version",
            f"none, and none in the tag of {image}",
            "a version such as 0.26.0",
            "Set engine.version to the version of vLLM in the image.",
        )
    ]


def test_a_version_with_holes_that_peers_reach_is_refused() -> None:
    allowed = "0.9.0 or newer: older ones run code that peers and clients send (CVE-2025-32444, CVE-2025-47277)"
    refused = Problem("image", "vLLM 0.8.5", allowed, "Use a newer image.")
    assert problems(image="vllm/vllm-openai:v0.8.5") == [refused]
    declared = Problem("engine.version", "vLLM 0.8.5", allowed, "Use a newer image.")
    assert problems(VllmEngine(version="0.8.5")) == [declared]
    assert problems(split=Parallelism(tensor=8), image="vllm/vllm-openai:v0.9.0") == []


def test_spanning_pods_without_ray_needs_a_version_that_does() -> None:
    assert problems(image="vllm/vllm-openai:v0.11.0") == [
        Problem(
            "image",
            "vLLM 0.11.0",
            "0.12.0 or newer, to span pods without Ray",
            "Use a newer image, or set engine.backend to ray with an image that has Ray.",
        )
    ]
    assert problems(VllmEngine(backend="ray"), image="vllm/vllm-openai:v0.11.0") == []
    assert problems(image="vllm/vllm-openai:v0.12.0") == []


def test_images_without_ray_are_warned_about() -> None:
    assert problems(VllmEngine(backend="ray")) == [
        Problem(
            "engine.backend",
            "ray, with vLLM 0.33.0",
            "mp, or an image that you put Ray into: those of vLLM have none since 0.19",
            "Remove engine.backend, or make sure that the image has Ray.",
            Severity.WARNING,
        )
    ]
    assert problems(VllmEngine(backend="ray"), Parallelism(tensor=8)) == []


def test_ray_starts_no_data_parallel_ranks() -> None:
    assert problems(VllmEngine(backend="ray"), EXPERTS) == [
        Problem(
            "engine.backend",
            "ray",
            "mp, with parallelism.data 2: pods start their own data-parallel ranks",
            "Remove engine.backend.",
        )
    ]


def test_a_data_parallel_rank_lies_in_one_pod() -> None:
    assert problems(split=Parallelism(tensor=8, pipeline=2, data=2)) == [
        Problem(
            "parallelism.data",
            "2 ranks of 16 GPUs each, over pods of 8",
            "ranks that lie in one pod: tensor times pipeline of at most 8, or data 1",
            "Lower tensor or pipeline to a product of 8, or set data to 1 and multiply replicas by 2.",
        )
    ]
    assert problems(split=Parallelism(tensor=4, pipeline=2, data=2)) == []


def test_a_dense_model_gets_no_rank_of_its_own_in_a_pod() -> None:
    split = Parallelism(tensor=8, data=2)
    assert problems(split=split, is_mixture_of_experts=False) == [
        Problem(
            "parallelism.data",
            "2, for a model without experts",
            "1: vLLM refuses such ranks in pods of their own",
            "Set data to 1 and multiply replicas by 2.",
        )
    ]
    assert problems(split=split, is_mixture_of_experts=True) == []
    assert problems(split=split) == []


def test_experts_need_a_model_that_has_some() -> None:
    found = problems(split=Parallelism(tensor=8, expert=True), is_mixture_of_experts=False)
    assert found == [Problem("parallelism.expert", "true", "false: the model has no experts", "Remove it.")]


def test_deepep_over_efa_needs_an_image_with_kernels_for_it() -> None:
    settings = VllmEngine(all_to_all="deepep_low_latency")
    assert problems(settings, EXPERTS) == [
        Problem(
            "engine.allToAll",
            "deepep_low_latency, over EFA",
            "allgather_reducescatter: DeepEP needs InfiniBand, unless the image has UCCL-EP or DeepEP-V2",
            "Remove it, or set engine.imageHasExpertKernelsForEfa to true if the image has them.",
        )
    ]
    assert problems(settings.model_copy(update={"image_has_expert_kernels_for_efa": True}), EXPERTS) == []
    assert problems(settings, EXPERTS, has_efa=False) == []
    assert problems(settings, Parallelism(tensor=1, data=8, expert=True)) == []


@pytest.mark.parametrize("gone", ["pplx", "naive"])
def test_an_exchange_of_experts_that_is_gone_is_refused(gone: str) -> None:
    found = problems(VllmEngine(all_to_all=gone), EXPERTS)
    assert [(problem.path, problem.found, problem.fix) for problem in found] == [
        (
            "engine.allToAll",
            gone,
            "Write allgather_reducescatter (pplx and naive are gone; vLLM would silently take this one).",
        )
    ]


def test_an_unknown_exchange_of_experts_is_refused() -> None:
    (found,) = problems(VllmEngine(all_to_all="deep_ep"), EXPERTS)
    assert found.fix == "Write allgather_reducescatter."
    assert found.allowed.startswith("allgather_reducescatter, deepep_high_throughput, deepep_low_latency")


def test_an_exchange_of_experts_needs_a_version_with_the_flag() -> None:
    settings = VllmEngine(all_to_all="allgather_reducescatter")
    assert problems(settings, EXPERTS, image="vllm/vllm-openai:v0.11.0") == [
        Problem(
            "engine.allToAll",
            "allgather_reducescatter, with vLLM 0.11.0",
            "none: the flag came with vLLM 0.12.0",
            "Use a newer image, or remove it.",
        )
    ]


def test_arguments_of_the_version_are_taken_in_every_spelling() -> None:
    assert (
        argument(
            *(
                "--max-num-seqs",
                "64",
                "--max_num_batched_tokens=8192",
                "-asc",
                "4",
                "-O3",
                "--no-enable-prefix-caching",
            ),
            *("--disable-log-stats", "--compilation-config.cudagraph_mode", "FULL", "-cc.mode=3"),
            *("--allowed-media-domains", "a.example", "b.example", "--speculative-config", '{"method":"mtp"}'),
        )
        == []
    )


@pytest.mark.parametrize(
    ("word", "setting"),
    [
        ("--tensor-parallel-size", "parallelism.tensor"),
        ("--tensor_parallel_size=4", "parallelism.tensor"),
        ("-tp", "parallelism.tensor"),
        ("-ep", "parallelism.expert"),
        ("--no-enable-expert-parallel", "parallelism.expert"),
        ("--gpu-memory-utilization", "gpuMemoryUtilization"),
        ("--max-model-len", "maxModelLen"),
        ("--shutdown-timeout", "drainSeconds"),
    ],
)
def test_what_the_declaration_says_is_not_said_again(word: str, setting: str) -> None:
    ((path, _, allowed, fix),) = argument(word, *(() if "=" in word or "-e" in word else ("4",)))
    assert (path, allowed, fix) == (
        "extraArguments[0]",
        f"a flag that the declaration does not own; {setting} says it",
        f"Set {setting}.",
    )


def test_what_follows_from_the_pods_is_not_said_again() -> None:
    allowed = "a flag that does not follow from how a copy lies on its pods"
    fix = "Remove it; set parallelism, and the rest follows."
    assert argument("--headless", "-dpr", "8", "--port=9000") == [
        ("extraArguments[0]", "--headless", allowed, fix),
        ("extraArguments[1]", "--data-parallel-start-rank", allowed, fix),
        ("extraArguments[3]", "--port", allowed, fix),
    ]


def test_what_source_or_transfer_set_is_not_said_again() -> None:
    streamed = {"loading_arguments": ("--load-format", "runai_streamer"), "transfer_arguments": TRANSFER}
    words = ("--load-format", "dummy", "--kv-transfer-config.kv_role", "kv_both")
    assert [found[:2] for found in argument(*words, **streamed)] == [
        ("extraArguments[0]", "--load-format"),
        ("extraArguments[2]", "--kv-transfer-config"),
    ]
    assert argument(*words) == []


def test_no_secret_stands_in_an_argument_nor_in_what_is_said_of_it() -> None:
    found = argument("--api-key=hunter2", "--hf-token", "hunter2")
    allowed = "no secret: whoever may read pods reads arguments"
    assert found == [
        (
            "extraArguments[0]",
            "--api-key",
            allowed,
            "Check keys at the gateway; vLLM leaves many of its paths open with it.",
        ),
        ("extraArguments[1]", "--hf-token", allowed, "Put it into a Secret and name that in source.tokenSecret."),
    ]


def test_a_misspelt_flag_is_answered_with_the_nearest() -> None:
    assert argument("--max-num-seq", "64", "--xyzzy") == [
        ("extraArguments[0]", "--max-num-seq", "a flag of vLLM 0.33.0", "Write --max-num-seqs."),
        ("extraArguments[2]", "--xyzzy", "a flag of vLLM 0.33.0", "Remove it."),
    ]


def test_a_version_that_nobody_has_read_may_know_more_flags() -> None:
    assert argument("--xyzzy", image="vllm/vllm-openai:v0.34.0") == []


def test_a_flag_of_another_version_is_refused() -> None:
    old = {"image": "vllm/vllm-openai:v0.12.0"}
    assert argument("--moe-backend", "triton", **old) == [
        (
            "extraArguments[0]",
            "--moe-backend",
            "a flag of vLLM 0.12.0",
            "Use an image of vLLM 0.18.1 or newer, or remove it.",
        )
    ]
    assert argument("--swap-space", "4") == [
        (
            "extraArguments[0]",
            "--swap-space",
            "a flag of vLLM 0.33.0",
            "Remove it: vLLM 0.16.0 was the last to have it.",
        )
    ]
    assert argument("--swap-space", "4", **old) == []


def test_between_two_versions_that_were_read_nothing_is_refused() -> None:
    assert argument("--moe-backend", "triton", image="vllm/vllm-openai:v0.17.0") == []


def test_a_value_needs_a_flag_that_takes_one() -> None:
    allowed = "a flag, or the value of the flag before it, where that takes one"
    assert argument("--enforce-eager", "true", "--max-num-seqs", "64", "128") == [
        ("extraArguments[1]", "true", allowed, "Remove it."),
        ("extraArguments[4]", "128", allowed, "Remove it."),
    ]
