import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lab.tools.progress import reporter
from lab.vllm import judge
from lab.vllm.environment import VERSION, interpreter
from pulumi_lws.facts.vllm_flags import flag_table, version_of
from pulumi_lws.serving.engines.engine import Launch
from pulumi_lws.serving.engines.settings import VllmEngine
from pulumi_lws.serving.engines.vllm import Vllm
from tests.serving.engines.launches import SPLITS, VllmCase, example_cases, filled, launch, vllm_cases

JUDGING_SECONDS = 1800
CASES = {case.name: case for case in (*vllm_cases(VERSION), *example_cases())}


@pytest.fixture(scope="module")
def python() -> Path:
    return interpreter(reporter())


def ask(python: Path, *options: str, told: object = None) -> Any:
    program = Path(judge.__file__)
    answer = subprocess.run(
        [python, program, *options],
        input=json.dumps(told),
        stdout=subprocess.PIPE,
        text=True,
        timeout=JUDGING_SECONDS,
        check=True,
    )
    return json.loads(answer.stdout)


def started(case: VllmCase, index: int) -> list[str] | None:
    """Return what follows ``vllm serve MODEL`` in the pod of that index; None where it starts no vLLM."""
    engine = Vllm(case.settings)
    command = (engine.worker if index else engine.leader)(case.launch).command
    words = filled(command, index=index, size=case.launch.shape.size)
    if "vllm" not in words:
        return None
    arguments = words[words.index("vllm") + 3 :]
    if "LWS_WORKER_INDEX *" in words[2]:
        arguments += [
            "--data-parallel-start-rank",
            str(index * case.launch.shape.data_per_pod(case.launch.parallelism)),
        ]
    return arguments


def test_vllm_takes_every_command_line_and_makes_of_it_what_was_meant(python: Path) -> None:
    told = {
        f"{name}, pod {index}": (case.launch, index, arguments)
        for name, case in CASES.items()
        for index in range(case.launch.shape.size)
        if (arguments := started(case, index)) is not None
    }
    answers = ask(python, told=[arguments for _, _, arguments in told.values()])
    made = dict(zip(told, answers, strict=True))
    assert {name: answer for name, answer in made.items() if "error" in answer} == {}
    meant = {name: _meant(of, index) for name, (of, index, _) in told.items()}
    seen = {name: answer["parallel"] for name, answer in made.items()}
    # Ray is not in the environment, so of its leaders only the words are judged.
    assert seen == {name: {} if "over pods" in name and "with Ray" in name else meant[name] for name in meant}


def _meant(told: Launch, index: int) -> dict[str, Any]:
    """Return the parallel configuration of the pod of that index, from the split alone."""
    split, size = told.parallelism, told.shape.size
    over_pods = size > 1 and split.data == 1
    local = 1 if split.data == 1 else split.data // size
    gathering = f"10.0.0.{index + 1}" if index == 0 else "glm-5-0.glm-5.llm"
    alone = "127.0.0.1"
    return {
        "world_size": split.tensor * split.pipeline,
        "data_parallel_size": split.data,
        "data_parallel_size_local": local,
        "data_parallel_rank": index * local if split.data > 1 else 0,
        "data_parallel_external_lb": size > 1 and split.data == size,
        "data_parallel_hybrid_lb": size > 1 and split.data > size,
        "data_parallel_master_ip": gathering if size > 1 and split.data > 1 else alone,
        "data_parallel_rpc_port": 29550,
        "enable_expert_parallel": split.expert,
        "nnodes": size if over_pods else 1,
        "node_rank_within_dp": index if over_pods else 0,
        "nnodes_within_dp": size if over_pods else 1,
        "master_addr": gathering if over_pods else alone,
        "master_port": 29501,
    }


def test_what_vllm_refuses_is_seen(python: Path) -> None:
    said = {
        "--tensor-paralel-size 8": "unrecognized arguments: --tensor-paralel-size 8",
        "--data-parallel-size 2 --data-parallel-hybrid-lb": "requires `--data-parallel-size-local`",
        "--tensor-parallel-size 2 --nnodes 2 --node-rank 2": "must be between 0 and 1",
        "--max-num-seqs many": "invalid int value",
    }
    answers = ask(python, told=[words.split() for words in said])
    assert [words for words, answer in zip(said, answers, strict=True) if said[words] not in answer["error"]] == []


def test_the_table_of_flags_is_what_the_newest_parser_has(python: Path) -> None:
    table, flags = flag_table(), ask(python, "--flags")
    newest = version_of(VERSION)
    assert table.versions[-1] == newest
    found = {name: table.find(name) for name in flags if name not in {"-h", "--help"}}
    assert [name for name, flag in found.items() if flag is None] == []
    assert {name: flag.takes for name, flag in found.items() if flag} == {name: flags[name]["takes"] for name in found}
    assert {flag.name for flag in table.flags.values() if flag.last is None} - set(flags) == set()
    assert dict(table.short) == {
        name: next(long for long in flags[name]["same"] if long in table.flags)
        for name in flags
        if not name.startswith("--") and name != "-h"
    }


def test_no_mode_is_left_out() -> None:
    modes = {Vllm(VllmEngine()).behaviour(launch(split)).rendezvous_port for split in SPLITS.values()}
    assert modes | {Vllm(VllmEngine(backend="ray")).behaviour(launch()).rendezvous_port} == {None, 29501, 29550, 6379}
