"""What a user declares of a deployment: a model, its split over GPUs, its copies and its pool."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from pulumi_lws.declarations import Count, Declaration, DnsLabel, PositiveCount
from pulumi_lws.facts.versions import PINS
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import invalid


class Parallelism(Declaration):
    """How one copy of the model is split over GPUs: ``tensor`` inside a node, ``pipeline`` over nodes."""

    tensor: PositiveCount = 1
    """GPUs that share every layer. Default 1."""
    pipeline: PositiveCount = 1
    """Stages that the layers are dealt to. Default 1."""

    @property
    def gpus(self) -> int:
        """GPUs of one copy."""
        return self.tensor * self.pipeline

    def nodes(self, gpus_per_node: int) -> int:
        """Whole nodes that one copy needs: the size of its group."""
        return -(-self.gpus // gpus_per_node)


_TAG_OR_DIGEST = re.compile(r"(:[\w][\w.-]{0,127}|@sha256:[0-9a-f]{64})$")


def _pinned(image: str) -> str:
    if not _TAG_OR_DIGEST.search(image) or image.endswith(":latest"):
        raise invalid(
            "an image with a tag other than latest, or with a digest",
            "Pin the image: a moving one gives leader and workers different engines.",
        )
    return image


PinnedImage = Annotated[str, AfterValidator(_pinned)]
"""A container image pinned by tag or digest."""

DEFAULT_VLLM_IMAGE = f"{PINS['vllm'].source}:{PINS['vllm'].version}"
"""vLLM image with EFA's libfabric and aws-ofi-nccl, which the stock image lacks."""


class MultiNodeVllmSettings(Declaration):
    """One model over several nodes, served by vLLM's Ray-less multi-process backend."""

    model: str = Field(min_length=1)
    """Model as ``vllm serve`` takes it: a Hugging Face id or a path inside the container."""
    served_model_name: str | None = None
    """Name that clients ask for. Default: ``model``."""
    image: PinnedImage = DEFAULT_VLLM_IMAGE
    """Container image of leader and workers. Default: the vLLM image of the pin table."""
    parallelism: Parallelism
    """Split of one copy over GPUs."""
    replicas: Count = 1
    """Copies of the model: groups. Default 1."""
    start_budget_minutes: PositiveCount = 60
    """Longest time from an empty pool to a serving group, in minutes: node boot, image pull and model load. Every
    time-out is derived from it. Default 60."""
    hugging_face_secret: DnsLabel | None = None
    """Secret of the namespace whose key ``HF_TOKEN`` fetches the model. Default none. The token itself never stands in
    a declaration."""
    extra_arguments: tuple[str, ...] = ()
    """Arguments appended to ``vllm serve`` of leader and workers. Default none."""
    environment: Mapping[str, str] = {}
    """Environment added to leader and workers; it wins over ours. Default none. Not for secrets."""


class MultiNodeVllmDeployment(MultiNodeVllmSettings):
    """A ``MultiNodeVllm`` of a stack file."""

    kind: Literal["multi-node-vllm"]
    """``multi-node-vllm``."""
    pool: DnsLabel
    """Name of the pool that its groups run on."""


class MultiNodeVllmArgs(MultiNodeVllmSettings):
    """Arguments of the component ``MultiNodeVllm``."""

    name: DnsLabel
    """Name of the LeaderWorkerSet; the Service is called ``<name>-leader``."""
    namespace: DnsLabel
    """Namespace of every object."""
    pool_name: DnsLabel
    """Name of the pool, as its nodes carry it in the label ``pulumi-lws/pool``."""
    pool: GpuPool
    """The pool that the groups run on."""
    wait: Literal["serving", "none"] | None = None
    """Whether an update waits until every group serves. Default: serving, but none where there are no replicas."""


def args_of(name: str, namespace: str, deployment: MultiNodeVllmDeployment, pool: GpuPool) -> MultiNodeVllmArgs:
    """Return the arguments of the component for a deployment of a stack file."""
    fields: dict[str, Any] = {field: getattr(deployment, field) for field in MultiNodeVllmSettings.model_fields}
    return MultiNodeVllmArgs(**fields, name=name, namespace=namespace, pool_name=deployment.pool, pool=pool)
