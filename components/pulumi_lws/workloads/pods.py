"""Typed helpers for pod specs, for those who would rather have their editor complete a spec than write a mapping.

They know the fields of Kubernetes 1.35 that serve in a pod template; what they lack is written as a mapping. The
published schema of Kubernetes judges both alike (``lws check``). Source: ``k8s.io/api/core/v1``.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from pulumi_lws.declarations import Count, DnsLabel, UpstreamDeclaration, Whole

Fields = Mapping[str, Any]
"""Fields of the Kubernetes API that stay a mapping."""


class EnvironmentVariable(UpstreamDeclaration):
    """One variable of a container, given by value or by reference."""

    name: str = Field(min_length=1)
    """Name of the variable."""
    value: Any = None
    """Its text; it may be an Output. Default: the empty text, or what ``value_from`` names."""
    value_from: Fields | None = None
    """Where it comes from, such as ``{"secretKeyRef": {"name": "hf", "key": "HF_TOKEN"}}``. Default: nowhere."""


class ContainerPort(UpstreamDeclaration):
    """A port that a container opens. It only informs, and gives the port a name."""

    container_port: Annotated[Whole, Field(ge=1, le=65_535)]
    """The port, 1 to 65,535."""
    name: DnsLabel | None = None
    """Name by which Services and probes find it. Default none."""
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    """Its protocol. Default TCP."""


class Resources(UpstreamDeclaration):
    """What a container takes. A pod is Guaranteed where requests equal limits."""

    limits: Mapping[str, str | int] = {}
    """Most of each resource, such as ``{"nvidia.com/gpu": 8, "memory": "1800Gi"}``. Default none."""
    requests: Mapping[str, str | int] = {}
    """What the scheduler reserves. Default: the limits."""


class VolumeMount(UpstreamDeclaration):
    """Where a container finds a volume."""

    name: DnsLabel
    """Name of the volume."""
    mount_path: str = Field(min_length=1)
    """Folder in the container."""
    sub_path: str | None = None
    """Folder inside the volume. Default: all of it."""
    read_only: bool = False
    """Whether it cannot be written. Default false."""


class Container(UpstreamDeclaration):
    """One container of a pod."""

    name: DnsLabel
    """Name, unique in the pod."""
    image: str = Field(min_length=1)
    """Image, pinned by tag or digest."""
    command: tuple[str, ...] = ()
    """What runs instead of the image's entry point. Default: the entry point."""
    args: tuple[str, ...] = ()
    """Arguments instead of the image's. Default: the image's."""
    env: tuple[EnvironmentVariable, ...] = ()
    """Variables. LWS adds LWS_LEADER_ADDRESS, LWS_GROUP_SIZE and LWS_WORKER_INDEX. Default none."""
    ports: tuple[ContainerPort, ...] = ()
    """Ports that it opens. Default none."""
    resources: Resources | None = None
    """What it takes. Default: whatever is left of the node."""
    volume_mounts: tuple[VolumeMount, ...] = ()
    """Volumes that it sees. Default none."""
    readiness_probe: Fields | None = None
    """When the pod is Ready. Default: as soon as it runs."""
    liveness_probe: Fields | None = None
    """When it is restarted. Default: when it exits."""
    startup_probe: Fields | None = None
    """What both other probes wait for. Default none."""
    lifecycle: Fields | None = None
    """Hooks after its start and before its end. Default none."""
    security_context: Fields | None = None
    """User, capabilities and so on. Default: the image's and the pod's."""
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """Default: IfNotPresent, but Always for the tag latest."""
    restart_policy: Literal["Always"] | None = None
    """``Always`` makes an init container a sidecar. Default none."""


class PodSpec(UpstreamDeclaration):
    """The spec of a pod template."""

    containers: tuple[Container, ...]
    """The containers, at least one."""
    init_containers: tuple[Container, ...] = ()
    """Containers that end before the others start, and sidecars. Default none."""
    volumes: tuple[Fields, ...] = ()
    """Volumes, such as ``{"name": "shm", "emptyDir": {"medium": "Memory"}}``. Default none."""
    node_selector: Mapping[str, str] = {}
    """Labels of the nodes that it may run on. Default any."""
    tolerations: tuple[Fields, ...] = ()
    """Taints that it bears. Default none."""
    affinity: Fields | None = None
    """Wishes about nodes and neighbours. LWS adds its own for an exclusive topology. Default none."""
    termination_grace_period_seconds: Count | None = None
    """Seconds between the request to end and the kill. Default 30."""
    service_account_name: str | None = None
    """Default: the namespace's ``default``."""
    automount_service_account_token: bool | None = None
    """Whether the pod gets a token of the API server. Default true."""
    enable_service_links: bool | None = None
    """Whether every Service of the namespace becomes variables; a Service called vllm then breaks vLLM
    (https://github.com/vllm-project/vllm/issues/34199). Default true."""
    host_network: bool | None = None
    """Whether it uses the node's network; then ``dns_policy`` must be ClusterFirstWithHostNet. Default false."""
    dns_policy: Literal["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"] | None = None
    """Who resolves names. Default ClusterFirst."""
    image_pull_secrets: tuple[Fields, ...] = ()
    """Secrets for private registries. Default none."""
    priority_class_name: str | None = None
    """Default: the cluster's default class."""
    scheduler_name: str | None = None
    """Default: default-scheduler."""
    runtime_class_name: str | None = None
    """Default: the node's runtime."""
    security_context: Fields | None = None
    """User, groups and so on of all containers. Default: the images'."""

    def as_mapping(self) -> dict[str, Any]:
        """Return the spec as the API has it, without what nobody declared."""
        return self.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
