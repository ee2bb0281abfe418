"""SGLang: in one pod, or over pods by ``--nnodes``, ``--node-rank`` and ``--dist-init-addr``.

Source: the package ``sglang`` 0.5.23, ``srt/arg_groups/fields`` for the flags and ``srt/entrypoints/engine.py`` for who
does what. The first rank opens the store of ``torch.distributed`` on the port of ``--dist-init-addr`` and waits there
for the others; only its process serves.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pulumi_lws.facts.versions import PINS
from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving.engines.engine import Behaviour, Launch, Process
from pulumi_lws.serving.engines.interconnect import interconnect
from pulumi_lws.serving.engines.settings import SglangEngine
from pulumi_lws.serving.engines.sglang_arguments import argument_problems
from pulumi_lws.serving.engines.vllm_modes import version_in

RENDEZVOUS_PORT = 20000
"""Port of ``--dist-init-addr``, where the first rank gathers the others."""


@dataclass(frozen=True)
class Sglang:
    """SGLang as declared."""

    settings: SglangEngine

    @property
    def default_image(self) -> str:
        """SGLang's own image. It has no libfabric for EFA: groups over nodes want one that has."""
        return f"{PINS['sglang'].source}:{PINS['sglang'].version}"

    def leader(self, launch: Launch) -> Process:
        """Return the process of a leader, or of the only pod of a group."""
        return Process(tuple(_launch_server(launch, leads=True)), _environment(launch))

    def worker(self, launch: Launch) -> Process:
        """Return the process of a worker."""
        return Process(tuple(_launch_server(launch, leads=False)), _environment(launch))

    def behaviour(self, launch: Launch) -> Behaviour:
        """Return what is to be known of the launch. Workers answer ``/health``, but no requests."""
        rendezvous = RENDEZVOUS_PORT if launch.shape.size > 1 else None
        return Behaviour(
            serves="leader",
            startup="leader_first",
            rendezvous_port=rendezvous,
            ports={"http": launch.api_port},
            health_port=launch.api_port,
            engine_ports={"http": (launch.api_port, 0)} | ({"rendezvous": (rendezvous, 0)} if rendezvous else {}),
        )

    def problems(self, launch: Launch) -> list[Problem]:
        """Return what SGLang cannot do of a launch."""
        return [*_split(launch), *argument_problems(launch, version_in(self.settings, launch.image))]


def _launch_server(launch: Launch, *, leads: bool) -> Iterator[str]:
    split = launch.parallelism
    yield from ("python3", "-m", "sglang.launch_server", "--model-path", launch.model)
    # A worker answers /health there; SGLang's own default is the loopback address.
    yield from ("--host", "0.0.0.0", "--port", str(launch.api_port))  # noqa: S104 - reached by the pod's address
    if launch.served_model_name is not None:
        yield from ("--served-model-name", launch.served_model_name)
    # Without it autoscalers and alerts see nothing of it.
    yield "--enable-metrics"
    yield from ("--tp-size", str(split.tensor))
    if split.pipeline > 1:
        yield from ("--pp-size", str(split.pipeline))
    if split.expert:
        yield from ("--ep-size", str(split.tensor))
    if launch.shape.size > 1:
        # A leader knows its own address before DNS does.
        gathering = "$(POD_IP)" if leads else "$(LWS_LEADER_ADDRESS)"
        yield from ("--nnodes", "$(LWS_GROUP_SIZE)", "--node-rank", "$(LWS_WORKER_INDEX)")
        yield from ("--dist-init-addr", f"{gathering}:{RENDEZVOUS_PORT}")
        yield from ("--dist-timeout", str(launch.timeouts.distributed))
    yield from ("--mem-fraction-static", str(launch.gpu_memory_utilization))
    if launch.max_model_len is not None:
        yield from ("--context-length", str(launch.max_model_len))
    if launch.kv_cache_dtype == "fp8":
        yield from ("--kv-cache-dtype", "fp8_e4m3")
    yield from launch.loading_arguments
    yield from launch.extra_arguments


def _environment(launch: Launch) -> dict[str, str]:
    # Without it SGLang guesses its address by a route to the internet.
    return {"SGLANG_HOST_IP": "$(POD_IP)", **interconnect(launch)}


def _split(launch: Launch) -> Iterator[Problem]:
    split = launch.parallelism
    if split.data > 1:
        yield Problem(
            "parallelism.data",
            str(split.data),
            "1: SGLang's data-parallel attention shares the GPUs of tensor and adds none",
            f"For a model with experts set data to 1, tensor to {split.tensor * split.data} and add --attn-dp-size"
            f" {split.data} to extraArguments; for any other set data to 1 and multiply replicas by {split.data}.",
        )
    if split.expert and launch.is_mixture_of_experts is False:
        yield Problem("parallelism.expert", "true", "false: the model has no experts", "Remove it.")
