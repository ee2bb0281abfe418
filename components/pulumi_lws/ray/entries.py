"""What runs on Ray as a stack file has it, and the arguments of components that it becomes."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.ray.settings import (
    RayArgs,
    RayClusterPoolArgs,
    RayClusterPoolSettings,
    RayServiceVllmArgs,
    RayServiceVllmSettings,
)
from pulumi_lws.serving.entries import InTeam


class RayServiceVllmEntry(InTeam, RayServiceVllmSettings):
    """A model behind Ray Serve (``ray.serve.llm``), whose copies Ray itself adds and removes."""


class RayClusterPoolEntry(InTeam, RayClusterPoolSettings):
    """A Ray cluster for programs of one's own: a head and workers with all GPUs of a node each."""


RayEntry = Annotated[RayServiceVllmEntry | RayClusterPoolEntry, Field(discriminator="kind")]
"""Something on Ray, chosen by ``kind``."""

_ARGS: Mapping[str, type[RayArgs]] = {"ray-service-vllm": RayServiceVllmArgs, "ray-cluster-pool": RayClusterPoolArgs}


def ray_args_of(
    name: str, namespace: str, entry: RayEntry, pools: Mapping[str, GpuPool], taken_gpus: Mapping[str, int]
) -> RayArgs:
    """Return the arguments of the component for what a stack file runs on Ray."""
    own = [field for field in type(entry).model_fields if field not in InTeam.model_fields]
    fields: dict[str, Any] = {field: getattr(entry, field) for field in own}
    return _ARGS[entry.kind](**fields, name=name, namespace=namespace, pools=pools, taken_gpus=taken_gpus)
