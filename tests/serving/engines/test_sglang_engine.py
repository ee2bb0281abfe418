from typing import Any

from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving.engines.catalogue import engine_of
from pulumi_lws.serving.engines.engine import Behaviour
from pulumi_lws.serving.engines.settings import SglangEngine
from tests.serving.engines.launches import launch

ENGINE = engine_of(SglangEngine())


def problems(split: Parallelism | None = None, **changes: Any) -> list[Problem]:
    return ENGINE.problems(launch(split, **changes))


def test_leader_and_worker_differ_in_how_they_find_the_first_rank() -> None:
    def command(first_rank: str) -> tuple[str, ...]:
        return (
            *("python3", "-m", "sglang.launch_server", "--model-path", "zai-org/GLM-5-FP8"),
            *("--host", "0.0.0.0", "--port", "8000", "--enable-metrics"),  # noqa: S104 - compared, not bound
            *("--tp-size", "8", "--pp-size", "2"),
            *("--nnodes", "$(LWS_GROUP_SIZE)", "--node-rank", "$(LWS_WORKER_INDEX)"),
            *("--dist-init-addr", f"{first_rank}:20000", "--dist-timeout", "3600"),
            *("--mem-fraction-static", "0.9"),
        )

    assert ENGINE.leader(launch()).command == command("$(POD_IP)")
    assert ENGINE.worker(launch()).command == command("$(LWS_LEADER_ADDRESS)")


def test_the_only_pod_of_a_group_has_nobody_to_gather() -> None:
    told = launch(
        Parallelism(tensor=4, expert=True),
        served_model_name="glm-5",
        max_model_len=4096,
        kv_cache_dtype="fp8",
        loading_arguments=("--revision", "main"),
        extra_arguments=("--log-requests",),
    )
    assert ENGINE.leader(told).command == (
        *("python3", "-m", "sglang.launch_server", "--model-path", "zai-org/GLM-5-FP8"),
        *("--host", "0.0.0.0", "--port", "8000", "--served-model-name", "glm-5"),  # noqa: S104 - compared, not bound
        *("--enable-metrics", "--tp-size", "4", "--ep-size", "4"),
        *("--mem-fraction-static", "0.9", "--context-length", "4096", "--kv-cache-dtype", "fp8_e4m3"),
        *("--revision", "main", "--log-requests"),
    )


def test_the_first_rank_serves_and_gathers() -> None:
    assert ENGINE.behaviour(launch()) == Behaviour(
        serves="leader",
        startup="leader_first",
        rendezvous_port=20000,
        ports={"http": 8000},
        health_port=8000,
        engine_ports={"http": (8000, 0), "rendezvous": (20000, 0)},
    )
    assert ENGINE.behaviour(launch(Parallelism(tensor=8))).rendezvous_port is None


def test_it_is_told_its_own_address() -> None:
    assert ENGINE.worker(launch()).environment["SGLANG_HOST_IP"] == "$(POD_IP)"


def test_data_parallel_attention_adds_no_gpus() -> None:
    assert problems(Parallelism(tensor=8, data=2)) == [
        Problem(
            "parallelism.data",
            "2",
            "1: SGLang's data-parallel attention shares the GPUs of tensor and adds none",
            "For a model with experts set data to 1, tensor to 16 and add --attn-dp-size 2 to extraArguments; for any"
            " other set data to 1 and multiply replicas by 2.",
        )
    ]


def test_what_the_declaration_says_is_not_said_again() -> None:
    assert problems(extra_arguments=("--tp-size=16", "--enable-metrics", "--api-key", "hunter2")) == [
        Problem(
            "extraArguments[0]",
            "--tp-size",
            "a flag that the declaration does not own; parallelism.tensor says it",
            "Set parallelism.tensor.",
        ),
        Problem(
            "extraArguments[2]",
            "--api-key",
            "no secret: whoever may read pods reads arguments",
            "Check keys at the gateway.",
        ),
    ]


def test_experts_need_a_model_that_has_some() -> None:
    found = problems(Parallelism(tensor=8, expert=True), is_mixture_of_experts=False)
    assert found == [Problem("parallelism.expert", "true", "false: the model has no experts", "Remove it.")]
