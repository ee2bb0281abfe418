import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.facts.vllm_flags import flag_table, version_of
from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.planning.problems import errors_of
from pulumi_lws.serving.engines.engine import Behaviour
from pulumi_lws.serving.engines.settings import VllmEngine
from pulumi_lws.serving.engines.vllm import Vllm
from pulumi_lws.serving.engines.vllm_modes import version_in
from tests.serving.engines.launches import SPLITS, TRANSFER, VllmCase, example_cases, filled, launch, vllm_cases

TABLE = flag_table()
VERSIONS = [".".join(map(str, version)) for version in TABLE.versions]

ENGINE = Vllm(VllmEngine())


def test_a_leader_over_pods_is_rank_zero_and_serves() -> None:
    assert ENGINE.leader(launch()).command == (
        *("vllm", "serve", "zai-org/GLM-5-FP8"),
        *("--tensor-parallel-size", "8", "--pipeline-parallel-size", "2"),
        *("--distributed-executor-backend", "mp"),
        *("--nnodes", "$(LWS_GROUP_SIZE)", "--node-rank", "$(LWS_WORKER_INDEX)"),
        *("--master-addr", "$(POD_IP)", "--master-port", "29501"),
        *("--gpu-memory-utilization", "0.9"),
        *("--distributed-timeout-seconds", "3600", "--cpu-distributed-timeout-seconds", "3600"),
        *("--host", "0.0.0.0", "--port", "8000", "--shutdown-timeout", "120"),  # noqa: S104 - compared, not bound
    )


def test_a_worker_over_pods_is_a_rank_without_an_api() -> None:
    assert ENGINE.worker(launch()).command == (
        *("vllm", "serve", "zai-org/GLM-5-FP8"),
        *("--tensor-parallel-size", "8", "--pipeline-parallel-size", "2"),
        *("--distributed-executor-backend", "mp"),
        *("--nnodes", "$(LWS_GROUP_SIZE)", "--node-rank", "$(LWS_WORKER_INDEX)"),
        *("--master-addr", "$(LWS_LEADER_ADDRESS)", "--master-port", "29501"),
        *("--gpu-memory-utilization", "0.9"),
        *("--distributed-timeout-seconds", "3600", "--cpu-distributed-timeout-seconds", "3600"),
        "--headless",
    )


def test_the_only_pod_of_a_group_has_nobody_to_gather() -> None:
    told = launch(
        Parallelism(tensor=4),
        api_port=8200,
        served_model_name="glm-5",
        max_model_len=4096,
        kv_cache_dtype="fp8",
        gpu_memory_utilization=0.85,
        drain_seconds=30,
        loading_arguments=("--revision", "main"),
        transfer_arguments=TRANSFER,
        extra_arguments=("--enforce-eager",),
    )
    assert ENGINE.leader(told).command == (
        *("vllm", "serve", "zai-org/GLM-5-FP8", "--tensor-parallel-size", "4"),
        *("--gpu-memory-utilization", "0.85", "--max-model-len", "4096", "--kv-cache-dtype", "fp8"),
        *("--host", "0.0.0.0", "--port", "8200", "--served-model-name", "glm-5", "--shutdown-timeout", "30"),  # noqa: S104 - compared, not bound
        *("--revision", "main", *TRANSFER, "--enforce-eager"),
    )


def test_ranks_of_one_pod_are_balanced_by_vllm_itself() -> None:
    command = ENGINE.leader(launch(Parallelism(tensor=2, data=4, expert=True))).command
    assert command[3:8] == ("--tensor-parallel-size", "2", "--data-parallel-size", "4", "--enable-expert-parallel")


def test_one_rank_in_each_pod_is_known_by_its_index() -> None:
    told = launch(Parallelism(tensor=8, data=2, expert=True))
    gathering = {"leader": "$(POD_IP)", "worker": "$(LWS_LEADER_ADDRESS)"}
    for position, process in {"leader": ENGINE.leader(told), "worker": ENGINE.worker(told)}.items():
        assert process.command[3:14] == (
            *("--tensor-parallel-size", "8", "--data-parallel-size", "2"),
            *("--data-parallel-address", gathering[position], "--data-parallel-rpc-port", "29550"),
            *("--data-parallel-rank", "$(LWS_WORKER_INDEX)", "--enable-expert-parallel"),
        )


def test_several_ranks_in_each_pod_start_at_a_rank_that_the_pod_calculates(tmp_path: Path) -> None:
    told = launch(Parallelism(tensor=2, data=12))
    leader, worker = ENGINE.leader(told).command, ENGINE.worker(told).command
    assert leader[3:15] == (
        *("--tensor-parallel-size", "2", "--data-parallel-size", "12"),
        *("--data-parallel-address", "$(POD_IP)", "--data-parallel-rpc-port", "29550"),
        *("--data-parallel-hybrid-lb", "--data-parallel-size-local", "4", "--data-parallel-start-rank"),
    )
    assert worker[:4] == (
        *("sh", "-euc", 'exec "$@" --data-parallel-start-rank "$((LWS_WORKER_INDEX * 4))"', "data-parallel"),
    )
    vllm = tmp_path / "vllm"
    vllm.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    vllm.chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LWS_WORKER_INDEX": "2"}
    said = subprocess.run(filled(worker, index=2, size=3), env=path, capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-2:] == ["--data-parallel-start-rank", "8"]
    assert said.stdout.splitlines()[:-2] == filled(worker, index=2, size=3)[5:]


def test_what_readiness_must_know_follows_from_how_the_copy_is_started() -> None:
    assert {name: ENGINE.behaviour(launch(split)) for name, split in SPLITS.items()} == {
        "in one pod": _behaviour("leader", None),
        "several ranks in one pod": _behaviour("leader", None),
        "over pods": _behaviour("leader", 29501),
        "over pods by tensor alone": _behaviour("leader", 29501),
        "a rank in each pod": _behaviour("every_pod", 29550),
        "several ranks in each pod": _behaviour("every_pod", 29550),
        "ranks of stages": _behaviour("every_pod", 29550),
    }
    assert Vllm(VllmEngine(backend="ray")).behaviour(launch()) == _behaviour("leader", 6379)


def _behaviour(serves: str, rendezvous: int | None) -> Behaviour:
    return Behaviour(
        serves="every_pod" if serves == "every_pod" else "leader",
        startup="leader_first",
        rendezvous_port=rendezvous,
        ports={"http": 8000},
        health_port=8000,
        engine_ports={"http": (8000, 0)} | ({"rendezvous": (rendezvous, 0)} if rendezvous else {}),
    )


def test_ranks_of_other_pods_are_found_over_the_interfaces_of_the_pod() -> None:
    assert dict(ENGINE.worker(launch(Parallelism(tensor=8, data=2, expert=True))).environment) == {
        "VLLM_ENGINE_READY_TIMEOUT_S": "3600",
        "USER": "vllm",
        "NCCL_SOCKET_IFNAME": "eth0",
        "GLOO_SOCKET_IFNAME": "eth0",
        "NCCL_NVLS_ENABLE": "0",
        "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME": "eth0",
        "FI_PROVIDER": "efa",
        "FI_EFA_USE_DEVICE_RDMA": "1",
        "FI_EFA_ENABLE_SHM_TRANSFER": "0",
        "FI_EFA_FORK_SAFE": "1",
    }


def test_on_the_nodes_network_nccl_is_told_what_not_to_use() -> None:
    told = launch(host_network=True, interface="enp71s0", has_efa=False)
    environment = ENGINE.leader(told).environment
    assert environment["NCCL_SOCKET_IFNAME"] == "^lo,docker,veth"
    assert environment["GLOO_SOCKET_IFNAME"] == "enp71s0"
    assert not any(name.startswith("FI_") for name in environment)


def test_a_lone_pod_needs_no_network_but_for_the_transfer() -> None:
    alone = dict(ENGINE.leader(launch(Parallelism(tensor=8))).environment)
    assert alone == {"VLLM_ENGINE_READY_TIMEOUT_S": "3600", "USER": "vllm"}
    half = ENGINE.leader(launch(Parallelism(tensor=8), role="decode")).environment
    assert set(half) - set(alone) == {
        *("FI_PROVIDER", "FI_EFA_USE_DEVICE_RDMA", "FI_EFA_ENABLE_SHM_TRANSFER", "FI_EFA_FORK_SAFE"),
    }


def test_a_version_gets_only_flags_that_it_knows() -> None:
    assert _flags("0.16.0") == _flags("0.33.0") - {
        *("--distributed-timeout-seconds", "--cpu-distributed-timeout-seconds", "--shutdown-timeout"),
    }
    assert _flags("0.18.1") == _flags("0.33.0") - {"--cpu-distributed-timeout-seconds"}


def _flags(version: str) -> set[str]:
    command = ENGINE.leader(launch(image=f"vllm/vllm-openai:v{version}")).command
    return {word for word in command if word.startswith("--")}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_flag_of_every_mode_is_known_to_the_version_it_is_for(version: str) -> None:
    # What a version cannot do at all is a problem, and nothing is rendered for it.
    cases = [case for case in vllm_cases(version) if not errors_of(Vllm(case.settings).problems(case.launch))]
    flags = {flag for case in cases for flag in _flags_of(case)}
    assert {flag for flag in flags if not TABLE.has(flag, version_of(version))} == set()
    assert {"--tensor-parallel-size", "--data-parallel-hybrid-lb", "--data-parallel-rank"} <= flags


def test_every_flag_of_our_examples_is_known_to_the_version_of_their_image() -> None:
    flags = {
        (version_in(case.settings, case.launch.image), flag) for case in example_cases() for flag in _flags_of(case)
    }
    assert [flag for version, flag in flags if version is None or not TABLE.has(flag, version)] == []
    assert ((0, 26, 0), "--shutdown-timeout") in flags


def _flags_of(case: VllmCase) -> Iterator[str]:
    engine = Vllm(case.settings)
    for process in (engine.leader(case.launch), engine.worker(case.launch)):
        yield from (word for word in process.command if word.startswith("--") and " " not in word)


@given(
    tensor=st.sampled_from([1, 2, 4, 8, 16]),
    pipeline=st.integers(1, 4),
    data=st.integers(1, 8),
    expert=st.booleans(),
    backend=st.sampled_from(["mp", "ray"]),
    version=st.sampled_from(VERSIONS),
)
def test_no_flag_is_given_twice_and_the_users_own_come_last(
    *, tensor: int, pipeline: int, data: int, expert: bool, backend: Literal["mp", "ray"], version: str
) -> None:
    split = Parallelism(tensor=tensor, pipeline=pipeline, data=data, expert=expert)
    engine = Vllm(VllmEngine(backend=backend, version=version))
    told = launch(split, transfer_arguments=TRANSFER, extra_arguments=("--enforce-eager", "--max-num-seqs", "8"))
    for process in (engine.leader(told), engine.worker(told)):
        flags = [word for word in process.command if word.startswith("--") and " " not in word]
        assert len(flags) == len(set(flags))
        if "vllm" in process.command:
            assert process.command[-3:] == ("--enforce-eager", "--max-num-seqs", "8")
