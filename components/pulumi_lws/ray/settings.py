"""What a user declares of Ray on GPUs: a service that serves a model, or a pool for programs of one's own."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from pulumi_lws.declarations import Count, Declaration, DnsLabel, LabelKey, ObjectName, PositiveCount, VersionText, Word
from pulumi_lws.facts.models import ModelArchitecture
from pulumi_lws.nodes.settings import GpuPool, LabelValue, NodeCount
from pulumi_lws.planning.parallelism import Parallelism, group_shape
from pulumi_lws.planning.problems import invalid
from pulumi_lws.ray.upgrades import NewClusterUpgrade, ServiceUpgrade
from pulumi_lws.serving.names import EnvironmentName, ModelName, PinnedImage
from pulumi_lws.serving.scaling.gateways.settings import GatewayAutoscaling
from pulumi_lws.serving.scaling.settings import CopyCount
from pulumi_lws.serving.settings import Client, NetworkAccess, Placed, SecretKey
from pulumi_lws.serving.sources.settings import CompileCache, HuggingFaceSource, Source

_REDIS = r"^(rediss?://)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?:[0-9]{1,5}$"


class RayHead(Declaration):
    """The head: it keeps the state of the cluster, has no GPU and runs nothing of the user's."""

    cpus: Annotated[PositiveCount, Field(le=64)] = 4
    """Whole CPUs, at most 64. Default 4."""
    memory_gib: Annotated[PositiveCount, Field(le=1024)] = 16
    """Memory in GiB, at most 1024. Default 16."""
    node_selector: Mapping[LabelKey, LabelValue] = {}
    """Labels of the nodes that it may run on. Default: any node without GPUs."""


class FaultTolerance(Declaration):
    """A Redis of yours that keeps the state of the head, so that workers go on serving while a new head starts.

    Without it all workers start over with the head. https://github.com/ray-project/kuberay/issues/1141
    """

    redis_address: Annotated[str, Field(pattern=_REDIS, max_length=253, examples=["redis.models.svc:6379"])]
    """Its address, host and port."""
    password: SecretKey
    """Its password."""


class RaySettings(Declaration):
    """What a Ray service and a Ray pool share. A worker takes a whole node of its pool."""

    pool: DnsLabel
    """Name of the pool that the workers run on."""
    image: PinnedImage | None = None
    """Image of head and workers, with Ray. Default: the one of the pin table, with vLLM and EFA."""
    ray_version: VersionText | None = None
    """Version of Ray in the image; required with an image of yours. Default: the one in the default image."""
    head: RayHead = RayHead()
    """The head. Default 4 CPUs and 16 GiB on a node without GPUs."""
    fault_tolerance: FaultTolerance | None = None
    """A Redis that keeps the state of the head. Default none: with the head, all workers start over."""
    token_secret: ObjectName | None = None
    """Secret of the namespace whose key ``auth_token`` everybody must present who drives the cluster. Default: one that
    KubeRay makes for each cluster, called like it."""
    idle_timeout_seconds: Annotated[PositiveCount, Field(le=604_800)] | None = None
    """How long a worker beyond the least must be idle before Ray gives its node back, in seconds, at most a week; not
    less than the start budget, for a worker is idle while others of its copy boot. Default: the start budget."""
    start_budget_minutes: Annotated[PositiveCount, Field(le=1440)] = 60
    """Longest time from an empty pool to a serving copy, in minutes, at most a day: node boot, image pull and model
    load. Every time-out is derived from it. Default 60."""
    drain_seconds: Annotated[Count, Field(le=7200)] = 120
    """How long running requests may go on after a worker was told to stop, in seconds, at most 7200. Default 120."""
    shared_memory_gib: Annotated[PositiveCount, Field(le=4096)] = 64
    """Size limit of a worker's ``/dev/shm`` in GiB, at most 4096; half of it is Ray's object store. It counts against
    the memory of the pod. Default 64."""
    privileges: Literal["ipc-lock", "privileged"] = "ipc-lock"
    """What workers may do beyond any other: lock the memory that EFA and NCCL register, or everything. Default
    ipc-lock."""
    environment: Mapping[EnvironmentName, Word] = {}
    """Environment added to the workers; it wins over ours. Default none. Not for secrets."""
    secret_environment: Mapping[EnvironmentName, SecretKey] = {}
    """The same, with values from Secrets of the namespace. Default none."""
    labels: Mapping[LabelKey, LabelValue] = {}
    """Labels added to every pod. Default none."""
    queue: DnsLabel | None = None
    """Name of a Kueue LocalQueue of its namespace, where the cluster waits until there is quota for all of it. Kueue
    refuses a cluster that Ray's autoscaler changes. Default none: it starts at once."""
    image_pull_secret: ObjectName | None = None
    """Secret that opens the registry of the image. Default none."""
    operator: Client = Client(namespace="kuberay-system")
    """The KubeRay operator, which tells the head of a service what to serve. Default: the namespace
    ``kuberay-system``."""
    wait: Literal["serving", "none"] | None = None
    """Whether an update waits until the cluster serves. Default: serving, but none where a queue decides when it
    starts."""

    @property
    def is_awaited(self) -> bool:
        """Whether an update waits until the cluster serves."""
        return (self.wait or ("serving" if self.queue is None else "none")) == "serving"

    @model_validator(mode="before")
    @classmethod
    def _without_autoscaler(cls, value: Any) -> Any:
        """Say what to write where somebody wants the autoscaler that other deployments have."""
        if isinstance(value, Mapping) and value.get("autoscaling") is not None:
            raise invalid(
                "nothing: Ray's own autoscaler adds and removes workers, and a Ray cluster has no scale for another",
                "Remove it, and set maxCopies, or maxWorkers of a pool.",
                field="autoscaling",
                found="an autoscaler",
            )
        return value


ArgumentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=100, examples=["max_num_seqs"])]
"""Name of an argument of vLLM's engine, with underscores."""


class RayServiceVllmSettings(RaySettings):
    """A model behind Ray Serve (``ray.serve.llm``), whose copies Ray itself adds and removes."""

    kind: Literal["ray-service-vllm"] = "ray-service-vllm"
    """``ray-service-vllm``."""
    model: ModelName
    """Model as the engine takes it: a Hugging Face id, or a path inside the container. Where ``source`` is not the hub,
    it names what clients ask for and what sizes follow from."""
    served_model_name: ModelName | None = None
    """Name that clients ask for. Default: ``model``."""
    architecture: str | ModelArchitecture | None = None
    """What the sizes follow from: a name of the catalogue, the path of a Hugging Face ``config.json``, or the fields
    themselves. Default: the catalogue's entry for ``model``."""
    source: Source = HuggingFaceSource()
    """Where the weights come from. Default: the Hugging Face hub."""
    compile_cache: CompileCache = CompileCache()
    """Where compiled kernels are kept. Default: the node's disks."""
    parallelism: Parallelism
    """Split of one copy over GPUs, without data ranks."""
    min_copies: Annotated[CopyCount, Field(ge=1)] = 1
    """Fewest copies. Default 1."""
    max_copies: Annotated[CopyCount, Field(ge=1)] | None = None
    """Most copies. Default: ``minCopies``, and no autoscaler."""
    requests_per_copy: PositiveCount = 64
    """Requests that a copy works on at a time, above which Ray adds one. Default 64."""
    max_model_len: PositiveCount | None = None
    """Longest context in tokens. Default: the model's own, which needs a KV cache to match."""
    kv_cache_dtype: Literal["auto", "fp8"] = "auto"
    """Type of the KV cache: the model's, or ``fp8`` for half the size. Default auto."""
    gpu_memory_utilization: Annotated[float, Field(gt=0, lt=1)] = 0.9
    """Share of a GPU's memory that the engine may take. Default 0.9."""
    engine_arguments: Mapping[ArgumentName, Any] = {}
    """Further arguments of vLLM's engine by name, with underscores. Default none."""
    vllm_version: VersionText | None = None
    """Version of vLLM in the image; required with an image of yours. Default: the one in the default image."""
    upgrade: ServiceUpgrade = NewClusterUpgrade()
    """What a change of the model or of the pods does. Default: a new cluster beside the old one, which needs GPUs for
    both."""
    network: NetworkAccess | None = NetworkAccess()
    """Who may send requests and read metrics. Default: the namespace. None: no NetworkPolicy is made."""
    gateway: GatewayAutoscaling | None = None
    """An autoscaler of the Deployment of a gateway of yours in front of the service: it follows the requests that wait
    in Ray. Default none."""

    @property
    def most_copies(self) -> int:
        """Copies at most."""
        return self.min_copies if self.max_copies is None else self.max_copies

    @model_validator(mode="after")
    def _in_order(self) -> "RayServiceVllmSettings":
        if self.most_copies < self.min_copies:
            raise invalid(
                f"at least minCopies, which is {self.min_copies}",
                "Raise it, or lower minCopies.",
                field="maxCopies",
                found=str(self.max_copies),
            )
        return self


class PoolAccess(Declaration):
    """A NetworkPolicy of a Ray pool: who drives it, and who reads its metrics."""

    drivers: tuple[Client, ...] = ()
    """Who may submit jobs (port 8265) and connect Ray clients (10001), with the token. Default: nobody; the dashboard
    then listens on the pod itself only, where ``kubectl port-forward`` reaches it."""
    clients: tuple[Client, ...] = ()
    """Who may send requests to what you serve with Ray Serve (port 8000). Default nobody."""
    monitoring: tuple[Client, ...] = (Client(namespace="monitoring"),)
    """Who may read metrics. Default: the namespace ``monitoring``."""


class RayClusterPoolSettings(RaySettings):
    """A Ray cluster for programs of one's own: a head and workers with all GPUs of a node each."""

    kind: Literal["ray-cluster-pool"] = "ray-cluster-pool"
    """``ray-cluster-pool``."""
    min_workers: NodeCount = 0
    """Fewest workers. Default 0."""
    max_workers: Annotated[NodeCount, Field(ge=1)]
    """Most workers."""
    upgrade: Literal["recreate", "none"] = "recreate"
    """What a change of the pods does: ``recreate`` ends everything that runs, ``none`` changes only workers that are
    made later. Default recreate."""
    network: PoolAccess | None = PoolAccess()
    """Who may drive it. Default: nobody. None: no NetworkPolicy is made."""

    @model_validator(mode="after")
    def _in_order(self) -> "RayClusterPoolSettings":
        if self.max_workers < self.min_workers:
            raise invalid(
                f"at least minWorkers, which is {self.min_workers}",
                "Raise it, or lower minWorkers.",
                field="maxWorkers",
                found=str(self.max_workers),
            )
        return self


class RayServiceVllmArgs(Placed, RayServiceVllmSettings):
    """Arguments of the component ``RayServiceVllm``."""


class RayClusterPoolArgs(Placed, RayClusterPoolSettings):
    """Arguments of the component ``RayClusterPool``."""


RayDeployment = RayServiceVllmSettings | RayClusterPoolSettings
"""Something on Ray, as a stack file has it, or the arguments of a component."""

RayArgs = RayServiceVllmArgs | RayClusterPoolArgs
"""The same with its name, its namespace and the pools of its stack."""


def worker_bounds(deployment: RayDeployment, pool: GpuPool) -> tuple[int, int]:
    """Return the fewest and the most workers of one cluster: the nodes of its copies."""
    if isinstance(deployment, RayClusterPoolSettings):
        return deployment.min_workers, deployment.max_workers
    shape = group_shape(deployment.parallelism, pool.instance.gpus)

    def workers(copies: int) -> int:
        return copies * shape.size if shape.size > 1 else -(-copies // shape.pods_per_node)

    return workers(deployment.min_copies), workers(deployment.most_copies)


def ray_pool_use(deployment: RayDeployment, pools: Mapping[str, GpuPool]) -> Counter[str]:
    """Return the GPUs of each pool that a deployment on Ray takes at most, while no upgrade runs."""
    pool = pools.get(deployment.pool)
    return (
        Counter()
        if pool is None
        else Counter({deployment.pool: worker_bounds(deployment, pool)[1] * pool.instance.gpus})
    )
