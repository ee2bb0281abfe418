"""What is decided of something on Ray before it is rendered or judged."""

from dataclasses import dataclass

from pulumi_lws.facts import labels
from pulumi_lws.facts.versions import PINS
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.parallelism import Parallelism, group_shape
from pulumi_lws.ray.settings import RayArgs, RayServiceVllmArgs, worker_bounds
from pulumi_lws.rules.rule import major_and_minor
from pulumi_lws.serving import timeouts
from pulumi_lws.serving.engines.engine import Launch
from pulumi_lws.serving.sources.loading import Loading, loading
from pulumi_lws.serving.timeouts import PRE_STOP_SECONDS

HEAD = "head"
"""Role of the head."""

WORKER = "worker"
"""Role of the workers."""


@dataclass(frozen=True)
class Decided:
    """Something on Ray, with everything decided.

    Attributes:
        args: What was declared.
        pool: Its pool.
        least: Fewest workers.
        most: Most workers.
        image: Image of head and workers.
        ray_version: Version of Ray in it.
        vllm_version: Version of vLLM in it.
        launch: What a copy is, as engines see it; of a pool, the widest program that it may run.
        weights: How the weights get into the workers.
    """

    args: RayArgs
    pool: GpuPool
    least: int
    most: int
    image: str
    ray_version: str
    vllm_version: str
    launch: Launch
    weights: Loading

    @property
    def is_autoscaled(self) -> bool:
        """Whether Ray's autoscaler has anything to decide."""
        return self.most > self.least

    @property
    def spans_nodes(self) -> bool:
        """Whether workers talk to one another over the network."""
        return self.launch.shape.size > 1

    @property
    def idle_seconds(self) -> int:
        """How long a worker must be idle before its node is given back."""
        return self.args.idle_timeout_seconds or self.launch.timeouts.start

    @property
    def drain_seconds(self) -> int:
        """How long a worker that was told to stop goes on: until it is left out, and its requests have ended."""
        return PRE_STOP_SECONDS + self.args.drain_seconds

    def pod_labels(self, role: str) -> dict[str, str]:
        """Return the labels of the pods of a role; the user's own cannot take the place of those of selectors."""
        return {**self.args.labels, labels.DEPLOYMENT: self.args.name, labels.ROLE: role}

    def selector(self, role: str) -> dict[str, str]:
        """Return the labels that tell the pods of a role from all others."""
        return {labels.DEPLOYMENT: self.args.name, labels.ROLE: role}


def decide(args: RayArgs) -> Decided:
    """Return what is decided; its pool must be one of ``pools``."""
    pool = args.pools[args.pool]
    least, most = worker_bounds(args, pool)
    pin = PINS["ray-llm"]
    image = args.image or f"{pin.source}:{pin.version}"
    weights = Loading("")
    vllm_version = PINS["ray-llm-vllm"].version
    if isinstance(args, RayServiceVllmArgs):
        weights = loading(args.source, args.model, "vllm")
        vllm_version = args.vllm_version or vllm_version
    return Decided(
        args=args,
        pool=pool,
        least=least,
        most=most,
        image=image,
        ray_version=full_version(args.ray_version or PINS["ray-llm-ray"].version),
        vllm_version=vllm_version,
        launch=_launch(args, pool, image, weights),
        weights=weights,
    )


def full_version(version: str) -> str:
    """Return a version as KubeRay compares it: with a patch level and without a ``v``."""
    version = version.removeprefix("v")
    return version if version.count(".") == 2 else f"{version}.0"


def ray_of(decided: Decided) -> tuple[int, int]:
    """Return major and minor version of Ray."""
    return major_and_minor(decided.ray_version)


def _launch(args: RayArgs, pool: GpuPool, image: str, weights: Loading) -> Launch:
    gpus = pool.instance.gpus
    if isinstance(args, RayServiceVllmArgs):
        parallelism = args.parallelism
    else:
        parallelism = Parallelism(tensor=gpus, pipeline=min(args.max_workers, 2))
    return Launch(
        model=weights.model,
        parallelism=parallelism,
        shape=group_shape(parallelism, gpus),
        timeouts=timeouts.derive(args.start_budget_minutes, args.drain_seconds),
        image=image,
        drain_seconds=args.drain_seconds,
        has_efa=pool.efa_mode != "none" and pool.instance.efa_interfaces > 0,
        loading_arguments=weights.arguments,
        max_model_len=args.max_model_len if isinstance(args, RayServiceVllmArgs) else None,
    )
