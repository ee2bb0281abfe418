"""Arguments that people add and that break the deployment: each kind is answered before a node boots for it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.facts.sglang_flags import sglang_flags
from pulumi_lws.facts.vllm_flags import flag_table
from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.serving.engines.arguments import arguments_of, is_flag
from pulumi_lws.serving.engines.engine import InferenceEngine
from pulumi_lws.serving.engines.settings import SglangEngine, VllmEngine
from pulumi_lws.serving.engines.sglang import Sglang
from pulumi_lws.serving.engines.vllm import Vllm
from tests.serving.engines.launches import launch

EXPERTS = Parallelism(tensor=8, data=2, expert=True)
PLAIN = "plain HTTP: probes, Services and routers speak it"
PINNED = "lmsysorg/sglang:v0.5.23"
SGLANG_TABLE = sglang_flags()


def answers(engine: InferenceEngine, words: tuple[str, ...], split: Parallelism | None, **changes: Any) -> list[str]:
    found = engine.problems(launch(split, extra_arguments=words, **changes))
    return [f"{problem.severity}: {problem}" for problem in found]


def vllm(*words: str, split: Parallelism | None = None, **changes: Any) -> list[str]:
    return answers(Vllm(VllmEngine()), words, split, **changes)


def sglang(*words: str, split: Parallelism | None = None, **changes: Any) -> list[str]:
    return answers(Sglang(SglangEngine()), words, split, **{"image": PINNED, **changes})


@pytest.mark.parametrize("ask", [vllm, sglang])
def test_a_file_of_further_flags_is_refused(ask: Any) -> None:
    assert ask("--config", "/etc/engine.yaml") == [
        (
            "error: extraArguments[0]: found --config; allowed: the flags themselves: what stands in a file of the"
            " image is"
            " checked by nobody. Write its flags here."
        )
    ]


@pytest.mark.parametrize("flag", ["--ssl-keyfile", "--ssl-certfile", "--ssl-ca-certs"])
@pytest.mark.parametrize("ask", [vllm, sglang])
def test_an_engine_that_speaks_tls_is_refused(ask: Any, flag: str) -> None:
    assert ask(flag, "/tls/key.pem") == [
        (
            f"error: extraArguments[0]: found {flag}; allowed: {PLAIN}. Remove it, and let the gateway speak TLS with"
            " clients."
        )
    ]


def test_an_engine_that_speaks_grpc_is_refused() -> None:
    said = f"error: extraArguments[0]: found {{}}; allowed: {PLAIN}. Remove it."
    assert vllm("--grpc") == [said.format("--grpc")]
    assert sglang("--grpc-mode") == [said.format("--grpc-mode")]
    assert sglang("--grpc-port", "9000") == [said.format("--grpc-port")]


@pytest.mark.parametrize("ask", [vllm, sglang])
@pytest.mark.parametrize(
    "words", [("--trust-remote-code", "--quantization"), ("--quantization", "--trust-remote-code")]
)
def test_a_flag_without_its_value_is_refused(ask: Any, words: tuple[str, ...]) -> None:
    place = words.index("--quantization")
    assert ask(*words) == [
        (
            f"error: extraArguments[{place}]: found --quantization, without a value; allowed: a value behind it. Write"
            " its"
            " value."
        )
    ]
    assert ask("--quantization=fp8") == ask("--quantization", "fp8") == []


def test_a_seed_may_be_below_zero() -> None:
    assert vllm("--seed", "-1") == sglang("--random-seed", "-1") == []


@pytest.mark.parametrize("ask", [vllm, sglang])
def test_a_word_of_no_flag_is_refused(ask: Any) -> None:
    allowed = "allowed: a flag, or the value of the flag before it, where that takes one. Remove it."
    assert ask("--trust-remote-code", "true", "") == [
        f"error: extraArguments[1]: found true; {allowed}",
        f"error: extraArguments[2]: found an empty word; {allowed}",
    ]


def test_context_ranks_divide_the_tensor_ranks() -> None:
    said = (
        "error: extraArguments[0]: found {}; allowed: 1, 2, 4, 8: what divides the 8 of parallelism.tensor. Write one"
        " of them."
    )
    assert vllm("-dcp", "3") == [said.format("--decode-context-parallel-size 3")]
    assert vllm("-dcp", "²") == [said.format("--decode-context-parallel-size ²")]
    assert sglang("--dcp-size", "3") == [said.format("--dcp-size 3")]
    assert sglang("--attn-dp-size", "16") == [said.format("--attn-dp-size 16")]
    assert vllm("-dcp", "4") == sglang("--attn-dp-size", "8") == []


def test_balancing_experts_needs_experts_on_several_gpus() -> None:
    said = [
        (
            "error: extraArguments[0]: found --enable-eplb; allowed: a flag for experts on several GPUs, whose load it"
            " evens out. Set parallelism.expert to true with tensor times data of 2 or more."
        )
    ]
    assert vllm("--enable-eplb") == said
    assert vllm("--enable-eplb", split=Parallelism(expert=True)) == said
    assert vllm("--enable-eplb", split=EXPERTS) == []


def test_elastic_experts_have_one_pipeline_stage() -> None:
    assert vllm("--enable-elastic-ep") == [
        (
            "error: extraArguments[0]: found --enable-elastic-ep; allowed: a flag for one pipeline stage: vLLM refuses"
            " it"
            " with more. Remove it, or set parallelism.pipeline, which is 2, to 1."
        )
    ]
    assert vllm("--enable-elastic-ep", split=EXPERTS) == []


@pytest.mark.parametrize("flag", ["--cpu-offload-gb", "--kv-cache-memory-bytes", "--num-gpu-blocks-override"])
def test_what_the_plan_of_memory_does_not_know_is_a_warning(flag: str) -> None:
    (said,) = vllm(flag, "4")
    assert said.startswith(f"warning: extraArguments[0]: found {flag}; allowed: ")
    assert [line.partition(":")[0] for line in sglang("--max-total-tokens", "4")] == ["warning"]


def test_workers_without_an_api_are_told_nothing_of_api_servers() -> None:
    engine = Vllm(VllmEngine())
    for words in (("-asc", "4"), ("--api-server-count=4",), ("--api_server_count", "4")):
        told = launch(extra_arguments=("--max-num-seqs", "64", *words, "--enforce-eager"))
        assert engine.problems(told) == []
        assert engine.leader(told).command[-3 - len(words) :] == ("--max-num-seqs", "64", *words, "--enforce-eager")
        assert engine.worker(told).command[-3:] == ("--max-num-seqs", "64", "--enforce-eager")
        assert not set(words) & set(engine.worker(told).command)
    every_pod_serves = launch(EXPERTS, extra_arguments=("-asc", "4"))
    assert engine.worker(every_pod_serves).command[-2:] == ("-asc", "4")


@pytest.mark.parametrize(
    ("gone", "instead"),
    [
        ("--disable-log-requests", "--no-enable-log-requests"),
        ("--cuda-graph-sizes", "--cudagraph-capture-sizes"),
        ("--guided-decoding-backend", "--structured-outputs-config.backend"),
    ],
)
def test_a_flag_that_is_gone_is_answered_with_what_there_is_instead(gone: str, instead: str) -> None:
    (said,) = vllm(gone)
    assert f"Write {instead} instead: vLLM " in said
    # What there is instead is itself a flag of the newest version.
    assert all(
        flag_table().has(flag.instead.split()[0], flag_table().versions[-1])
        for flag in flag_table().flags.values()
        if flag.instead
    )


@pytest.mark.parametrize(
    ("word", "setting"),
    [
        ("--tp", "parallelism.tensor"),
        ("--tp=16", "parallelism.tensor"),
        ("--tensor-par=16", "parallelism.tensor"),
        ("--pp-size", "parallelism.pipeline"),
        ("--ep", "parallelism.expert"),
        ("--model", "model"),
        ("--mem-frac", "gpuMemoryUtilization"),
        ("--context-length=4096", "maxModelLen"),
        ("--dist-timeout", "startBudgetMinutes"),
    ],
)
def test_sglang_is_not_told_again_what_the_declaration_says(word: str, setting: str) -> None:
    name = word.partition("=")[0]
    assert sglang(*((word,) if "=" in word else (word, "4"))) == [
        (
            f"error: extraArguments[0]: found {name}; allowed: a flag that the declaration does not own; {setting}"
            " says it."
            f" Set {setting}."
        )
    ]


@pytest.mark.parametrize("word", ["--host", "--port", "--nnodes", "--node-rank", "--nccl-init-addr", "--base-gpu-id"])
def test_sglang_is_not_told_again_what_follows_from_the_pods(word: str) -> None:
    assert sglang(f"{word}=1") == [
        (
            f"error: extraArguments[0]: found {word}; allowed: a flag that does not follow from how a copy lies on its"
            " pods. Remove it; set parallelism, and the rest follows."
        )
    ]


def test_sglang_takes_no_gpus_that_nothing_counts() -> None:
    for words in (("--dp", "2"), ("--dp-size=2",), ("--data-parallel-size", "2"), ("--enable-dp-attention",)):
        (said,) = sglang(*words)
        assert said.endswith("Write --attn-dp-size instead for a model with experts; for any other raise replicas.")


def test_sglang_has_one_role() -> None:
    (said,) = sglang("--disaggregation-mode", "prefill")
    assert said.endswith("Remove it, or declare a disaggregated-vllm.")


def test_sglang_is_not_told_twice_what_the_source_says() -> None:
    streamed: dict[str, Any] = {"loading_arguments": ("--load-format", "runai_streamer")}
    assert sglang("--load-format", "dummy", **streamed) == [
        (
            "error: extraArguments[0]: found --load-format; allowed: a flag that the source of the weights does not"
            " set."
            " Remove it, or set source."
        )
    ]
    assert sglang("--load-format", "dummy") == []


def test_a_flag_that_sglang_does_not_know_is_refused_for_the_version_that_was_read() -> None:
    assert sglang("--chunked-prefil-size", "4096", "--xyzzy") == [
        (
            "error: extraArguments[0]: found --chunked-prefil-size; allowed: a flag of SGLang 0.5.23. Write"
            " --chunked-prefill-size."
        ),
        "error: extraArguments[2]: found --xyzzy; allowed: a flag of SGLang 0.5.23. Remove it.",
    ]
    # The beginning of several names.
    assert [line.rpartition(". ")[2] for line in sglang("--pp", "2")] == ["Write --pp-size."]
    assert sglang("--xyzzy", image="lmsysorg/sglang:v0.6.0") == [
        (
            "warning: extraArguments[0]: found --xyzzy; allowed: a flag of SGLang 0.5.23, the version that was read."
            " Make"
            " sure that the SGLang of the image has it."
        )
    ]


@given(st.sampled_from(sorted(SGLANG_TABLE.names)), st.data())
def test_the_beginning_of_a_name_means_the_flag_where_only_one_begins_so(name: str, data: st.DataObject) -> None:
    word = name[: data.draw(st.integers(3, len(name)))]
    meant = {SGLANG_TABLE.names[full] for full in SGLANG_TABLE.names if full.startswith(word)}
    if word in SGLANG_TABLE.names:
        meant = {SGLANG_TABLE.names[word]}
    assert SGLANG_TABLE.find(word) == (next(iter(meant)) if len(meant) == 1 else None)


@given(st.lists(st.sampled_from(["--one", "--many", "--nothing", "--one=1", "-7", "word", ""])))
def test_every_word_is_read_once_and_in_its_order(words: list[str]) -> None:
    def takes(word: str) -> Any:
        return word.partition("=")[0].removeprefix("--")

    read = [
        word
        for argument in arguments_of(words, takes)
        for word in [argument.word, *(() if "=" in argument.word else argument.values)]
    ]
    assert read == words
    assert all(not any(map(is_flag, argument.values)) for argument in arguments_of(words, takes))
