"""What a user declares of a deployment: a model, its split over GPUs, its copies and their pools."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from pulumi_lws.declarations import (
    Count,
    Declaration,
    DnsLabel,
    LabelKey,
    NamespaceName,
    ObjectName,
    PositiveCount,
    VersionText,
    Word,
)
from pulumi_lws.facts.models import ModelArchitecture
from pulumi_lws.facts.versions import PINS
from pulumi_lws.nodes.settings import GpuPool, LabelValue
from pulumi_lws.planning.parallelism import Parallelism, group_shape
from pulumi_lws.serving.engines.engine import RoleName
from pulumi_lws.serving.engines.settings import Engine, VllmEngine
from pulumi_lws.serving.names import EnvironmentName, InterfaceName, ModelName, PinnedImage
from pulumi_lws.serving.routing.settings import Router, StandaloneRouter
from pulumi_lws.serving.scaling.settings import Autoscaling, CopyCount
from pulumi_lws.serving.sources.settings import CompileCache, HuggingFaceSource, Source


class Client(Declaration):
    """Who may reach the API: pods of a namespace, such as a gateway's."""

    namespace: NamespaceName | None = None
    """Their namespace. Default: that of the deployment."""
    pod_labels: Mapping[LabelKey, LabelValue] = {}
    """Labels that they have. Default: all pods."""


class NetworkAccess(Declaration):
    """A NetworkPolicy: who reaches the API port.

    Inside a deployment every port is open, since NCCL, Gloo and ZeroMQ choose theirs. EFA traffic passes no
    NetworkPolicy; its security group guards it.
    """

    clients: tuple[Client, ...] = (Client(),)
    """Who may send requests. Default: all pods of the namespace."""
    monitoring: tuple[Client, ...] = (Client(namespace="monitoring"),)
    """Who may read metrics. Default: the namespace ``monitoring``."""


class SecretKey(Declaration):
    """One key of a Secret of the namespace."""

    secret: Annotated[ObjectName, Field(examples=["hugging-face"])]
    """Name of the Secret."""
    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$", max_length=253, examples=["HF_TOKEN"])]
    """Its key."""


class RoleSettings(Declaration):
    """What each role of a deployment decides for itself."""

    pool: DnsLabel
    """Name of the pool that its groups run on."""
    parallelism: Parallelism
    """Split of one copy over GPUs."""
    replicas: CopyCount = 1
    """Copies, at most 80000. Default 1. With ``autoscaling``, where the autoscaler starts."""
    autoscaling: Autoscaling | None = None
    """An autoscaler that owns ``replicas``. Default none."""
    surge: Annotated[Count, Field(le=1)] | None = None
    """Copies on top during a rollout, 0 or 1: with none, one copy at a time is down. Default: 1 where the pool has room
    for one more than all of its deployments have."""
    gpu_memory_utilization: Annotated[float, Field(gt=0, lt=1)] = 0.9
    """Share of a GPU's memory that the engine may take. Default 0.9."""
    extra_arguments: tuple[Word, ...] = ()
    """Arguments appended to the engine's command. Default none."""
    environment: Mapping[EnvironmentName, Word] = {}
    """Environment added to the engine's containers; it wins over ours. Default none. Not for secrets."""
    secret_environment: Mapping[EnvironmentName, SecretKey] = {}
    """The same, with values from Secrets of the namespace. Default none."""

    @property
    def most_replicas(self) -> int:
        """Copies at most: those of the autoscaler, where there is one."""
        return max(self.replicas, self.autoscaling.max_replicas) if self.autoscaling else self.replicas


class ModelSettings(Declaration):
    """What all roles of a deployment share: the model, its engine, and how pods run."""

    model: ModelName
    """Model as the engine takes it: a Hugging Face id, or a path inside the container. Where ``source`` is not the hub,
    it names what clients ask for and what sizes follow from."""
    served_model_name: ModelName | None = None
    """Name that clients ask for. Default: ``model``."""
    architecture: str | ModelArchitecture | None = None
    """What the sizes follow from: a name of the catalogue, the path of a Hugging Face ``config.json`` (from the working
    directory; with Pulumi, the project's folder), or the fields themselves. Default: the catalogue's entry for
    ``model``."""
    engine: Engine = VllmEngine()
    """The engine. Default vLLM."""
    image: PinnedImage | None = None
    """Container image. Default: the engine's of the pin table."""
    source: Source = HuggingFaceSource()
    """Where the weights come from. Default: the Hugging Face hub."""
    compile_cache: CompileCache = CompileCache()
    """Where compiled kernels are kept. Default: the node's disks."""
    max_model_len: PositiveCount | None = None
    """Longest context in tokens. Default: the model's own, which needs a KV cache to match."""
    kv_cache_dtype: Literal["auto", "fp8"] = "auto"
    """Type of the KV cache: the model's, or ``fp8`` for half the size. Default auto."""
    start_budget_minutes: Annotated[PositiveCount, Field(le=1440)] = 60
    """Longest time from an empty pool to a serving group, in minutes, at most a day: node boot, image pull and model
    load. Every time-out is derived from it. Default 60."""
    drain_seconds: Annotated[Count, Field(le=7200)] = 120
    """How long running requests may go on after a pod was told to stop, in seconds, at most 7200. Default 120."""
    shared_memory_gib: Annotated[PositiveCount, Field(le=4096)] = 64
    """Size limit of ``/dev/shm`` of a whole node's pod, in GiB, at most 4096; a smaller pod takes its share. It counts
    against the memory of the pod. Default 64."""
    privileges: Literal["ipc-lock", "privileged"] = "ipc-lock"
    """What the engine's container may do beyond any other: lock the memory that EFA and NCCL register, or everything.
    Privileged is for images whose NIXL fails to register GPU memory without; sources disagree on whether any does.
    Default ipc-lock."""
    host_network: InterfaceName | None = None
    """Name of the node's interface, such as ``enp71s0``, where pods use the network of their node. Default: the pods'
    own network."""
    network: NetworkAccess | None = NetworkAccess()
    """Who may reach the pods. Default: the namespace. None: no NetworkPolicy is made."""
    image_pull_secret: ObjectName | None = None
    """Secret that opens the registry of the image. Default none."""
    labels: Mapping[LabelKey, LabelValue] = {}
    """Labels added to every pod. Default none."""
    volumes: tuple[Mapping[str, Any], ...] = ()
    """Volumes added to every pod, as the Kubernetes API has them. Default none."""
    volume_mounts: tuple[Mapping[str, Any], ...] = ()
    """Mounts added to the engine's container, as the Kubernetes API has them. Default none."""
    sidecars: tuple[Mapping[str, Any], ...] = ()
    """Containers added beside the engine of pods that serve, as the Kubernetes API has them. Default none."""
    queue: DnsLabel | None = None
    """Name of a Kueue LocalQueue of its namespace, where each copy waits until there is quota for all of it. A change
    replaces its workloads: all copies go before the new ones come. Default none: copies start at once."""
    priority: DnsLabel | None = None
    """Name of a Kueue WorkloadPriorityClass: who waits longer, and who is preempted first. Default none: priority 0."""
    placement: Literal["exclusive", "topology-aware"] = "exclusive"
    """What puts each group of several nodes on one island: ``exclusive`` topology of LWS, or Kueue's
    ``topology-aware`` scheduling, for pools of static islands that a queue places by topology. Default exclusive."""
    lws_version: VersionText = PINS["lws"].version
    """Version of LWS in the cluster. Default: the one of the pin table."""
    kubernetes_version: VersionText = PINS["kubernetes"].version
    """Version of Kubernetes. Default: the one of the pin table."""
    wait: Literal["serving", "none"] | None = None
    """Whether an update waits until every group serves. Default: serving, but none where there are no replicas or a
    queue decides when they start."""


class MultiNodeVllmSettings(ModelSettings, RoleSettings):
    """One model over several nodes: groups of a leader and workers."""

    kind: Literal["multi-node-vllm"] = "multi-node-vllm"
    """``multi-node-vllm``."""


class SingleNodeVllmSettings(ModelSettings, RoleSettings):
    """A model that fits one node: a Deployment, since a LeaderWorkerSet has nothing to add."""

    kind: Literal["single-node-vllm"] = "single-node-vllm"
    """``single-node-vllm``."""


class Transfer(Declaration):
    """How KV caches go from prefill to decode: NIXL, over EFA where there is any."""

    on_failure: Literal["fail", "recompute"] = "recompute"
    """What decode does with a request whose cache did not arrive. Default recompute: a prefill pod that goes away then
    costs time, not requests."""
    side_channel_port: Annotated[PositiveCount, Field(le=65000)] = 5600
    """First port of the handshakes; each rank has one of its own. Default 5600."""


class DisaggregatedVllmSettings(ModelSettings):
    """One model in two roles: prefill reads the prompt, decode writes the answer, each sized for its work."""

    kind: Literal["disaggregated-vllm"] = "disaggregated-vllm"
    """``disaggregated-vllm``."""
    prefill: RoleSettings
    """The role that reads prompts."""
    decode: RoleSettings
    """The role that writes answers."""
    backend: Literal["leader-worker-sets", "disaggregated-set"] = "leader-worker-sets"
    """What the roles are: a LeaderWorkerSet each, or one DisaggregatedSet, whose controller rolls both together and
    needs LWS 0.10. Default leader-worker-sets."""
    transfer: Transfer = Transfer()
    """How KV caches go from prefill to decode. Default NIXL with port 5600."""
    router: Router | None = StandaloneRouter()
    """What chooses the pods of a request. Default: the llm-d router with an Envoy of its own. None: yours does."""
    router_image: PinnedImage | None = None
    """Image of the router. Default: the one of the pin table."""
    sidecar_image: PinnedImage | None = None
    """Image of the routing sidecar of decode pods. Default: the one of the pin table."""


class Placed(Declaration):
    """What makes the settings of a stack file the arguments of a component."""

    name: DnsLabel
    """Name of the deployment; the names of its objects start with it."""
    namespace: NamespaceName
    """Namespace of every object."""
    pools: Mapping[DnsLabel, GpuPool]
    """The pools that roles may name."""
    taken_gpus: Mapping[DnsLabel, Count] = {}
    """GPUs of each pool that other deployments take; a rollout puts a copy on top only where there is room beside them.
    Default none."""


class MultiNodeVllmArgs(Placed, MultiNodeVllmSettings):
    """Arguments of the component ``MultiNodeVllm``."""


class SingleNodeVllmArgs(Placed, SingleNodeVllmSettings):
    """Arguments of the component ``SingleNodeVllm``."""


class DisaggregatedVllmArgs(Placed, DisaggregatedVllmSettings):
    """Arguments of the component ``DisaggregatedVllm``."""


DeploymentArgs = MultiNodeVllmArgs | SingleNodeVllmArgs | DisaggregatedVllmArgs
"""A deployment with its name, its namespace and the pools of its stack."""

AnyDeployment = MultiNodeVllmSettings | SingleNodeVllmSettings | DisaggregatedVllmSettings
"""A deployment of a stack file, or the arguments of a component."""


def roles_settings(deployment: AnyDeployment) -> Mapping[RoleName, RoleSettings]:
    """Return the roles of a deployment by name."""
    if isinstance(deployment, DisaggregatedVllmSettings):
        return {"prefill": deployment.prefill, "decode": deployment.decode}
    return {"serve": deployment}


def pool_use(deployment: AnyDeployment, pools: Mapping[str, GpuPool]) -> Counter[str]:
    """Return the GPUs of each pool that a deployment takes at most. A group takes its whole island."""
    use: Counter[str] = Counter()
    for settings in roles_settings(deployment).values():
        if pool := pools.get(settings.pool):
            use[settings.pool] += settings.most_replicas * gpus_of_copy(settings, pool)
    return use


def gpus_of_copy(settings: RoleSettings, pool: GpuPool) -> int:
    """Return the GPUs that one copy keeps from others: its own, or those of its island."""
    size = group_shape(settings.parallelism, pool.instance.gpus).size
    return settings.parallelism.gpus if size == 1 else pool.nodes_per_island * pool.instance.gpus
