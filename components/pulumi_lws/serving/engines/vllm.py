"""vLLM: in one pod, over pods by its own multi-process backend or by Ray, or as data-parallel ranks of many pods.

Source: ``vllm/config/parallel.py``, ``vllm/engine/arg_utils.py`` and ``vllm/entrypoints/cli/serve.py``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pulumi_lws.facts.versions import PINS
from pulumi_lws.facts.vllm_flags import flag_table
from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving.engines import ray
from pulumi_lws.serving.engines.engine import Behaviour, Launch, Process
from pulumi_lws.serving.engines.interconnect import interconnect
from pulumi_lws.serving.engines.settings import VllmEngine
from pulumi_lws.serving.engines.vllm_arguments import without_api_servers
from pulumi_lws.serving.engines.vllm_modes import Mode, mode_of, version_in
from pulumi_lws.serving.engines.vllm_problems import vllm_problems

MASTER_PORT = 29501
"""Port on which the leader gathers the other ranks (``--master-port``)."""

DATA_PARALLEL_PORT = 29550
"""Port on which the leader gathers the data-parallel ranks of other pods (``--data-parallel-rpc-port``)."""

_INDEX = "$(LWS_WORKER_INDEX)"

_RENDEZVOUS: dict[Mode, int | None] = {
    Mode.SINGLE: None,
    Mode.NODES: MASTER_PORT,
    Mode.RAY: ray.RENDEZVOUS_PORT,
    Mode.HYBRID: DATA_PARALLEL_PORT,
    Mode.EXTERNAL: DATA_PARALLEL_PORT,
}

Position = Literal["leader", "worker"]


@dataclass(frozen=True)
class Vllm:
    """vLLM as declared."""

    settings: VllmEngine

    @property
    def default_image(self) -> str:
        """An image with EFA's libfabric and aws-ofi-nccl, which vLLM's own lacks."""
        return f"{PINS['vllm'].source}:{PINS['vllm'].version}"

    def leader(self, launch: Launch) -> Process:
        """Return the process of a leader, or of the only pod of a group."""
        command = self._serve(launch, "leader")
        if mode_of(self.settings, launch) is Mode.RAY:
            command = ray.leader_command(command, launch)
        return Process(command, _environment(launch))

    def worker(self, launch: Launch) -> Process:
        """Return the process of a worker."""
        mode = mode_of(self.settings, launch)
        if mode is Mode.RAY:
            return Process(ray.worker_command(launch), _environment(launch))
        command = self._serve(launch, "worker")
        if mode is Mode.HYBRID:
            # Kubernetes fills in variables but does not calculate.
            first = f"LWS_WORKER_INDEX * {launch.shape.data_per_pod(launch.parallelism)}"
            command = ("sh", "-euc", f'exec "$@" --data-parallel-start-rank "$(({first}))"', "data-parallel", *command)
        return Process(command, _environment(launch))

    def behaviour(self, launch: Launch) -> Behaviour:
        """Return what is to be known of the launch."""
        mode = mode_of(self.settings, launch)
        rendezvous = _RENDEZVOUS[mode]
        return Behaviour(
            serves="every_pod" if mode in (Mode.HYBRID, Mode.EXTERNAL) else "leader",
            startup="leader_first",
            rendezvous_port=rendezvous,
            ports={"http": launch.api_port},
            health_port=launch.api_port,
            engine_ports={"http": (launch.api_port, 0)} | ({"rendezvous": (rendezvous, 0)} if rendezvous else {}),
        )

    def problems(self, launch: Launch) -> list[Problem]:
        """Return what vLLM cannot do of a launch. Paths start at the role's settings, or with ``engine``."""
        return vllm_problems(self.settings, launch)

    def _serve(self, launch: Launch, position: Position) -> tuple[str, ...]:
        mode = mode_of(self.settings, launch)
        headless = position == "worker" and mode is Mode.NODES
        return (
            "vllm",
            "serve",
            launch.model,
            *_parallel(launch, mode, position),
            *self._experts(launch),
            *_memory(launch),
            *(self._timeouts(launch) if launch.shape.size > 1 else ()),
            *(("--headless",) if headless else self._api(launch)),
            *launch.loading_arguments,
            *launch.transfer_arguments,
            *(without_api_servers(launch.extra_arguments) if headless else launch.extra_arguments),
        )

    def _knows(self, launch: Launch, flag: str) -> bool:
        table = flag_table()
        return table.has(flag, version_in(self.settings, launch.image) or table.versions[-1])

    def _experts(self, launch: Launch) -> Iterator[str]:
        if launch.parallelism.expert:
            yield "--enable-expert-parallel"
        if self.settings.all_to_all is not None:
            yield from ("--all2all-backend", self.settings.all_to_all)

    def _timeouts(self, launch: Launch) -> Iterator[str]:
        # The first is of the GPUs' groups, the second of the CPUs', which otherwise give up after half an hour.
        for flag in ("--distributed-timeout-seconds", "--cpu-distributed-timeout-seconds"):
            if self._knows(launch, flag):
                yield from (flag, str(launch.timeouts.distributed))

    def _api(self, launch: Launch) -> Iterator[str]:
        yield from ("--host", "0.0.0.0", "--port", str(launch.api_port))  # noqa: S104 - reached by the pod's address
        if launch.served_model_name is not None:
            yield from ("--served-model-name", launch.served_model_name)
        if self._knows(launch, "--shutdown-timeout"):
            yield from ("--shutdown-timeout", str(launch.drain_seconds))


def _parallel(launch: Launch, mode: Mode, position: Position) -> Iterator[str]:
    split, leads = launch.parallelism, position == "leader"
    yield from ("--tensor-parallel-size", str(split.tensor))
    if split.pipeline > 1:
        yield from ("--pipeline-parallel-size", str(split.pipeline))
    if split.data > 1:
        yield from ("--data-parallel-size", str(split.data))
    # A leader knows its own address before DNS does.
    gathering = "$(POD_IP)" if leads else "$(LWS_LEADER_ADDRESS)"
    match mode:
        case Mode.SINGLE:
            pass
        case Mode.RAY:
            yield from ("--distributed-executor-backend", "ray")
        case Mode.NODES:
            yield from ("--distributed-executor-backend", "mp", "--nnodes", "$(LWS_GROUP_SIZE)", "--node-rank", _INDEX)
            yield from ("--master-addr", gathering, "--master-port", str(MASTER_PORT))
        case Mode.HYBRID | Mode.EXTERNAL:
            yield from ("--data-parallel-address", gathering, "--data-parallel-rpc-port", str(DATA_PARALLEL_PORT))
            if mode is Mode.EXTERNAL:
                yield from ("--data-parallel-rank", _INDEX)
            else:
                yield from ("--data-parallel-hybrid-lb", "--data-parallel-size-local")
                yield str(launch.shape.data_per_pod(split))
                yield from ("--data-parallel-start-rank", "0") if leads else ()


def _memory(launch: Launch) -> Iterator[str]:
    yield from ("--gpu-memory-utilization", str(launch.gpu_memory_utilization))
    if launch.max_model_len is not None:
        yield from ("--max-model-len", str(launch.max_model_len))
    if launch.kv_cache_dtype != "auto":
        yield from ("--kv-cache-dtype", launch.kv_cache_dtype)


def _environment(launch: Launch) -> dict[str, str]:
    return {
        "VLLM_ENGINE_READY_TIMEOUT_S": str(launch.timeouts.engine_ready),
        # Torch asks for the user's name; an arbitrary UID has none. https://github.com/vllm-project/vllm/issues/44548
        "USER": "vllm",
        **interconnect(launch),
    }
