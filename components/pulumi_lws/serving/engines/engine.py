"""What an engine is to the rest of the library: pure methods from a launch to processes.

An engine knows nothing of Kubernetes. Its processes may use the variables that LWS injects, as
``$(LWS_LEADER_ADDRESS)``, ``$(LWS_WORKER_INDEX)`` and ``$(LWS_GROUP_SIZE)``, and ``$(POD_IP)``, which every pod of
ours has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pulumi_lws.planning.parallelism import GroupShape, Parallelism
from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving.timeouts import Timeouts

RoleName = Literal["serve", "prefill", "decode"]
"""What a role does: everything, or one half of a request."""


@dataclass(frozen=True)
class Launch:
    """All that is decided of one role of a deployment before an engine is asked.

    Attributes:
        model: What the engine loads: a Hugging Face id, a path in the container or an ``s3://`` address.
        served_model_name: Name that clients ask for; None for ``model``.
        parallelism: Split of one copy.
        shape: How one copy lies on pods.
        timeouts: Every time-out.
        drain_seconds: How long running requests may go on after the pod was told to stop.
        role: What the role does.
        api_port: Port of the API: 8000, or 8200 behind a routing sidecar.
        interface: Network interface of the pod: ``eth0``, or the node's with the host's network.
        host_network: Whether pods use the network of their node.
        has_efa: Whether the pods have EFA interfaces.
        image: The container image.
        max_model_len: Longest context in tokens; None for the model's own.
        gpu_memory_utilization: Share of the GPU's memory that the engine may take.
        kv_cache_dtype: ``auto``, or ``fp8`` for half the size.
        loading_arguments: Arguments that the source of the weights needs.
        transfer_arguments: Arguments of the transfer of KV caches between roles.
        is_mixture_of_experts: Whether the model has experts; None where nobody said.
        extra_arguments: The user's own arguments, which come last.
    """

    model: str
    parallelism: Parallelism
    shape: GroupShape
    timeouts: Timeouts
    image: str
    served_model_name: str | None = None
    drain_seconds: int = 120
    role: RoleName = "serve"
    api_port: int = 8000
    interface: str = "eth0"
    host_network: bool = False
    has_efa: bool = True
    max_model_len: int | None = None
    gpu_memory_utilization: float = 0.9
    kv_cache_dtype: Literal["auto", "fp8"] = "auto"
    loading_arguments: tuple[str, ...] = ()
    transfer_arguments: tuple[str, ...] = ()
    is_mixture_of_experts: bool | None = None
    extra_arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Process:
    """What runs in a container.

    Attributes:
        command: Program and arguments.
        environment: Variables that do not depend on the pod.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Behaviour:
    """What readiness, Services and policies must know of a launch.

    Attributes:
        serves: Which pods answer requests.
        startup: Who must be up first.
        rendezvous_port: Port on which those that are up first wait for the rest: the leader, or with ``workers_first``
            each worker. None where there are no workers; with ``workers_first`` also where a worker's name is enough.
        ports: Ports by name that a serving pod opens for clients; ``http`` is the API.
        health_port: Port that answers ``health_path``.
        health_path: Path that answers 200 while the engine serves.
        runs_probe: Whether the image can run the two-phase probe (python3).
        engine_ports: Ports inside the group that have a fixed number, by what they are for, each with how many follow.
    """

    serves: Literal["leader", "every_pod"]
    startup: Literal["leader_first", "workers_first"]
    rendezvous_port: int | None
    ports: Mapping[str, int]
    health_port: int
    health_path: str = "/health"
    runs_probe: bool = True
    engine_ports: Mapping[str, tuple[int, int]] = field(default_factory=dict)


class InferenceEngine(Protocol):
    """An engine, made from its declaration."""

    @property
    def default_image(self) -> str | None:
        """Image to take where none is declared; None where one must be."""

    def leader(self, launch: Launch) -> Process:
        """Return the process of a leader, or of the only pod of a group."""

    def worker(self, launch: Launch) -> Process:
        """Return the process of a worker."""

    def behaviour(self, launch: Launch) -> Behaviour:
        """Return what is to be known of the launch."""

    def problems(self, launch: Launch) -> list[Problem]:
        """Return what this engine cannot do.

        Paths start at the role's settings, such as ``parallelism.pipeline``, or with ``engine`` or ``image``, which all
        roles share.
        """
