"""What runs in the namespace of a team, as far as its quota, its network and the level of its pods follow from it.

Quota, network and level know no kinds: a table of each kind's pods and connections stands here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi_lws.caches.settings import S3Origin
from pulumi_lws.caches.shared_volumes import SharedVolumeArgs, copy_jobs
from pulumi_lws.facts import labels
from pulumi_lws.load_tests.manifests import load_test_objects
from pulumi_lws.load_tests.settings import LoadTestSettings
from pulumi_lws.ray.deciding import HEAD, Decided, decide
from pulumi_lws.ray.manifests import AUTOSCALER_RESOURCES
from pulumi_lws.ray.manifests import render as render_ray
from pulumi_lws.ray.pods import WORKER_CONTAINER, head_template, worker_template
from pulumi_lws.ray.settings import RayArgs, RayServiceVllmArgs
from pulumi_lws.ray.upgrades import NoUpgrade, workers_on_top
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.pods import ENGINE_CONTAINER, pod_spec
from pulumi_lws.serving.render import render
from pulumi_lws.serving.routing.manifests import router_name
from pulumi_lws.serving.routing.settings import GatewayRouter
from pulumi_lws.serving.settings import DeploymentArgs, DisaggregatedVllmArgs
from pulumi_lws.serving.sources.loading import is_in_image
from pulumi_lws.serving.sources.settings import HuggingFaceSource, S3Source, Source

HTTPS = 443
API_SERVER_PORTS = (HTTPS, 6443)
"""Ports of the Kubernetes API: a policy is held against the address behind the Service, on EKS with the same port."""

_OF_VOLUMES = {("volume", "models"): "source.path", ("volume", "compiled"): "compileCache.path"}
"""Settings that volumes of ours come from."""


@dataclass(frozen=True)
class Pods:
    """Equal pods.

    Attributes:
        spec: Their spec, as the Kubernetes API has it.
        serving: How many there are at most.
        rolling: How many come on top during a rollout.
    """

    spec: Mapping[str, Any]
    serving: int
    rolling: int = 0


@dataclass(frozen=True)
class Opening:
    """Connections that some pods make, to an address that nobody here knows.

    Attributes:
        selector: Labels of the pods.
        ports: TCP ports.
    """

    selector: Mapping[str, str]
    ports: tuple[int, ...]


@dataclass(frozen=True)
class TeamWorkload:
    """Something that runs in the namespace of a team.

    Attributes:
        path: Where a stack declares it, such as ``deployments.glm-5``.
        pods: All of its pods.
        manifests: What is made for it.
        label: Label, and its value, of all of its pods.
        downloads: Whether its pods read weights by HTTPS.
        has_credentials: Whether its pods get AWS credentials from the node's agent.
        openings: What else its pods connect to, by the name of the policy that lets them.
        is_reachable: Whether a policy of its own, or none that could close it, lets its pods reach one another.
        settings: Settings that parts of its pods come from, by kind and name of the part; others are known by name.
        in_turn: Whether it ends before the next of this kind begins.
    """

    path: str
    pods: tuple[Pods, ...]
    manifests: tuple[Mapping[str, Any], ...]
    label: tuple[str, str]
    downloads: bool = False
    has_credentials: bool = False
    openings: Mapping[str, Opening] = field(default_factory=dict)
    is_reachable: bool = True
    settings: Mapping[tuple[str, str], str] = field(default_factory=dict)
    in_turn: bool = False

    @property
    def name(self) -> str:
        """What people call it: a deployment by its name alone."""
        return self.path.removeprefix("deployments.")


def of_deployment(args: DeploymentArgs) -> TeamWorkload:
    """Describe a deployment of a model: the copies of its roles, and its router."""
    rendered = render(args)
    added = {
        (part, one["name"]): f"{name}[{index}]"
        for part, name, ones in (("volume", "volumes", args.volumes), ("container", "sidecars", args.sidecars))
        for index, one in enumerate(ones)
    }
    return TeamWorkload(
        path=f"deployments.{args.name}",
        pods=tuple(_pods_of_deployment(args)),
        manifests=tuple(rendered.manifests.values()),
        label=(labels.DEPLOYMENT, args.name),
        downloads=_downloads(args.source, args.model),
        has_credentials=isinstance(args.source, S3Source),
        openings=dict(_watching(args)),
        is_reachable=args.network is not None or args.host_network is not None,
        settings={
            ("pod", ""): "hostNetwork",
            **_OF_VOLUMES,
            ("container", ENGINE_CONTAINER): "privileges",
            **added,
        },
    )


def of_ray(args: RayArgs) -> TeamWorkload:
    """Describe something on Ray: its head with Ray's autoscaler, and the most workers that it may have."""
    decided = decide(args)
    service = args if isinstance(args, RayServiceVllmArgs) else None
    return TeamWorkload(
        path=f"ray.{args.name}",
        pods=_pods_of_ray(decided),
        manifests=tuple(render_ray(decided).manifests.values()),
        label=(labels.DEPLOYMENT, args.name),
        downloads=service is not None and _downloads(service.source, service.model),
        has_credentials=service is not None and isinstance(service.source, S3Source),
        openings=dict(_of_head(decided)),
        is_reachable=args.network is not None,
        settings={**_OF_VOLUMES, ("container", WORKER_CONTAINER): "privileges"},
    )


def of_copies(args: SharedVolumeArgs) -> TeamWorkload:
    """Describe the Jobs that copy weights onto a shared volume; they run side by side."""
    jobs = copy_jobs(args)
    return TeamWorkload(
        path=f"caches.sharedVolumes.{args.name}",
        pods=tuple(Pods(job["spec"]["template"]["spec"], 1) for job in jobs.values()),
        manifests=tuple(jobs.values()),
        label=(labels.CACHED, args.name),
        downloads=bool(jobs),
        has_credentials=any(isinstance(copy.origin, S3Origin) for copy in args.volume.copies.values()),
    )


def of_load_test(name: str, test: LoadTestSettings, args: DeploymentArgs) -> TeamWorkload:
    """Describe a load test of a deployment. It has a policy of its own for what it connects to."""
    manifests = load_test_objects(name, test, args)
    return TeamWorkload(
        path=f"loadTests.{name}",
        pods=(Pods(manifests["job"]["spec"]["template"]["spec"], 1),),
        manifests=tuple(manifests.values()),
        label=(labels.LOAD_TEST, name),
        in_turn=True,
    )


def _pods_of_deployment(args: DeploymentArgs) -> Iterator[Pods]:
    roles = roles_of(args)[0]
    for role in roles:
        copies, surge = role.settings.most_replicas, role.surge
        yield Pods(pod_spec(role, "leader"), copies, surge)
        if workers := role.shape.size - 1:
            yield Pods(pod_spec(role, "worker"), copies * workers, surge * workers)
    for manifest in render(args, roles).beside.values():
        if manifest["kind"] == "Deployment":
            spec = manifest["spec"]
            surge = spec["strategy"]["rollingUpdate"]["maxSurge"]
            yield Pods(spec["template"]["spec"], spec["replicas"], surge)


def _pods_of_ray(decided: Decided) -> tuple[Pods, Pods]:
    head = head_template(decided, {})["spec"]
    if decided.is_autoscaled:
        # KubeRay adds it.
        autoscaler = {"name": "autoscaler", "image": decided.image, "resources": AUTOSCALER_RESOURCES}
        head = {**head, "containers": [*head["containers"], autoscaler]}
    upgrade = decided.args.upgrade if isinstance(decided.args, RayServiceVllmArgs) else NoUpgrade()
    on_top = workers_on_top(upgrade, decided.least, decided.most)
    second_head = 0 if isinstance(upgrade, NoUpgrade) else 1
    return Pods(head, 1, second_head), Pods(worker_template(decided)["spec"], decided.most, on_top)


def _downloads(source: Source, model: str) -> bool:
    is_hub = isinstance(source, HuggingFaceSource) and not is_in_image(source, model)
    return is_hub or isinstance(source, S3Source)


def _watching(args: DeploymentArgs) -> Iterator[tuple[str, Opening]]:
    """Yield who asks the Kubernetes API: routers, and sidecars of decode that must know the pods of a pool."""
    if not isinstance(args, DisaggregatedVllmArgs) or args.router is None:
        return
    yield f"{args.name}-router-api", Opening({labels.ROUTER: router_name(args.name)}, API_SERVER_PORTS)
    if isinstance(args.router, GatewayRouter):
        decode = {labels.DEPLOYMENT: args.name, labels.ROLE: "decode"}
        yield f"{args.name}-decode-api", Opening(decode, API_SERVER_PORTS)


def _of_head(decided: Decided) -> Iterator[tuple[str, Opening]]:
    """Yield what the head connects to: the Kubernetes API for workers, and a Redis that keeps its state."""
    name, head = decided.args.name, decided.selector(HEAD)
    if decided.is_autoscaled:
        yield f"{name}-head-api", Opening(head, API_SERVER_PORTS)
    if (redis := decided.args.fault_tolerance) is not None:
        yield f"{name}-head-redis", Opening(head, (int(redis.redis_address.rpartition(":")[2]),))
