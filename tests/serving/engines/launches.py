"""Launches for the tests of engines: every mode of every engine, and what Kubernetes makes of its variables."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulumi_lws.planning.parallelism import Parallelism, group_shape
from pulumi_lws.platform.checks import roles_by_path
from pulumi_lws.platform.files import read_file
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.engines.engine import Launch
from pulumi_lws.serving.engines.settings import VllmEngine
from pulumi_lws.serving.engines.vllm import Vllm
from pulumi_lws.serving.timeouts import derive

EXAMPLES = Path(__file__).parents[3] / "examples" / "serving"

TRANSFER = ("--kv-transfer-config", '{"kv_connector":"NixlConnector","kv_role":"kv_both"}')


def launch(parallelism: Parallelism | None = None, **changes: Any) -> Launch:
    """Return a launch on nodes of eight GPUs; two of them unless the parallelism says otherwise."""
    split = parallelism or Parallelism(tensor=8, pipeline=2)
    values: dict[str, Any] = {
        "model": "zai-org/GLM-5-FP8",
        "parallelism": split,
        "shape": group_shape(split, 8),
        "timeouts": derive(60),
        "image": "vllm/vllm-openai:v0.33.0",
    }
    return Launch(**(values | changes))


SPLITS = {
    "in one pod": Parallelism(tensor=8),
    "several ranks in one pod": Parallelism(tensor=2, data=4, expert=True),
    "over pods": Parallelism(tensor=8, pipeline=2),
    "over pods by tensor alone": Parallelism(tensor=16),
    "a rank in each pod": Parallelism(tensor=8, data=2, expert=True),
    "several ranks in each pod": Parallelism(tensor=1, data=16, expert=True),
    "ranks of stages": Parallelism(tensor=2, pipeline=2, data=4),
}
"""Splits that reach every mode of vLLM."""


@dataclass(frozen=True)
class VllmCase:
    """A launch with the engine that it is for."""

    name: str
    settings: VllmEngine
    launch: Launch


def vllm_cases(version: str) -> Iterator[VllmCase]:
    """Yield launches of every mode and role, bare and with everything that can be declared."""
    everything: dict[str, Any] = {
        "served_model_name": "glm-5",
        "max_model_len": 131072,
        "kv_cache_dtype": "fp8",
        "host_network": True,
        "interface": "enp71s0",
        "loading_arguments": ("--load-format", "runai_streamer", "--model-loader-extra-config", '{"concurrency":16}'),
        "extra_arguments": ("--enable-prefix-caching", "--max_num_seqs=64"),
    }
    for name, split in SPLITS.items():
        whole = {"image": f"vllm/vllm-openai:v{version}"}
        settings = VllmEngine(all_to_all="allgather_reducescatter" if split.expert else None)
        yield VllmCase(name, VllmEngine(), launch(split, **whole))
        yield VllmCase(f"{name}, all of it", settings, launch(split, **whole, **everything))
        if split.data == 1:
            yield VllmCase(f"{name}, with Ray", VllmEngine(backend="ray"), launch(split, **whole))
        for role, port in (("prefill", 8000), ("decode", 8200)):
            told = launch(split, **whole, role=role, api_port=port, transfer_arguments=TRANSFER)
            yield VllmCase(f"{name}, {role}", VllmEngine(), told)


def example_cases() -> Iterator[VllmCase]:
    """Yield the roles of our examples that vLLM serves."""
    for file in sorted(EXAMPLES.glob("*.yaml")):
        platform = PlatformArgs.model_validate(read_file(str(file)).settings)
        for path, role in roles_by_path(platform).items():
            if isinstance(role.engine, Vllm):
                yield VllmCase(f"{file.stem}, {path}", role.engine.settings, role.launch)


def filled(command: Sequence[str], *, index: int, size: int) -> list[str]:
    """Return a command as Kubernetes starts it in the pod of that index."""
    address = f"10.0.0.{index + 1}"
    values = {
        "LWS_LEADER_ADDRESS": "glm-5-0.glm-5.llm",
        "LWS_GROUP_SIZE": str(size),
        "LWS_WORKER_INDEX": str(index),
        "POD_IP": address,
        "VLLM_HOST_IP": address,
    }
    return [re.sub(r"\$\((\w+)\)", lambda found: values.get(found[1], found[0]), word) for word in command]
