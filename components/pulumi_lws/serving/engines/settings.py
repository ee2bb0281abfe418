"""What a user declares of an engine."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from pulumi_lws.declarations import Declaration, PositiveCount, VersionText, Word
from pulumi_lws.planning.problems import invalid

PortNumber = Annotated[PositiveCount, Field(le=65535)]
"""A port, 1 to 65535."""


def _command(words: tuple[str, ...]) -> tuple[str, ...]:
    if not words or not all(words):
        raise invalid("a program and its arguments, none of them empty", "Write the words of the command.")
    return words


Command = Annotated[tuple[Word, ...], AfterValidator(_command)]
"""A command: its program and arguments."""


class VllmEngine(Declaration):
    """vLLM: Ray-less over nodes, on Ray, or data parallel, as the parallelism asks."""

    kind: Literal["vllm"] = "vllm"
    """``vllm``."""
    version: VersionText | None = None
    """Version of vLLM in the image; decides which flags there are. Default: the one in the image's tag."""
    backend: Literal["mp", "ray"] = "mp"
    """What starts the ranks of other nodes: vLLM itself, or Ray, which images since vLLM 0.19 do not bring. Default
    mp."""
    all_to_all: str | None = None
    """vLLM's ``--all2all-backend``: how experts exchange tokens. Default: vLLM's own, which works on EFA."""
    image_has_expert_kernels_for_efa: bool = False
    """Whether the image has UCCL-EP or DeepEP-V2, without which ``deepep_*`` does not run on EFA. Default false."""


class SglangEngine(Declaration):
    """SGLang over nodes (``--nnodes --node-rank --dist-init-addr``)."""

    kind: Literal["sglang"] = "sglang"
    """``sglang``."""
    version: VersionText | None = None
    """Version of SGLang in the image. Default: the one in the image's tag."""


class CustomEngine(Declaration):
    """Any other engine, such as TensorRT-LLM or llama.cpp: its commands, and what readiness must know of it.

    Commands may use ``$(LWS_LEADER_ADDRESS)``, ``$(LWS_WORKER_INDEX)``, ``$(LWS_GROUP_SIZE)`` and ``$(POD_IP)``.
    """

    kind: Literal["custom"] = "custom"
    """``custom``."""
    leader_command: Command
    """Command and arguments of the leader."""
    worker_command: Command = ()
    """Command and arguments of a worker. Required where a group has workers."""
    api_port: PortNumber = 8000
    """Port of the API. Default 8000."""
    health_path: Annotated[str, Field(pattern=r"^/[!-~]*$", examples=["/health"])] = "/health"
    """Path that answers 200 while the engine serves. Default /health."""
    rendezvous_port: PortNumber | None = None
    """Port on which the leader waits for its workers; with ``workers_first`` the port that each worker opens, which the
    leader connects to before its command runs. Required where a group has workers and the leader starts first."""
    serves: Literal["leader", "every_pod"] = "leader"
    """Which pods answer requests. Default leader."""
    startup: Literal["leader_first", "workers_first"] = "leader_first"
    """Who must be up first. ``workers_first``: the leader's command starts once every worker's port answers. Default
    leader_first."""
    has_metrics: bool = False
    """Whether ``/metrics`` at the port of the API answers as Prometheus wants it. Default false: nobody reads it, and
    no alert waits for it."""
    has_python: bool = True
    """Whether the image has python3 (3.9 or newer), which the readiness of groups needs. Default true."""


Engine = Annotated[VllmEngine | SglangEngine | CustomEngine, Field(discriminator="kind")]
"""An engine, chosen by ``kind``."""
