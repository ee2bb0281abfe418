"""Deployments as a stack file has them, and the arguments of components that they become."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from pulumi_lws.declarations import Declaration, DnsLabel
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.serving.settings import (
    DeploymentArgs,
    DisaggregatedVllmArgs,
    DisaggregatedVllmSettings,
    MultiNodeVllmArgs,
    MultiNodeVllmSettings,
    SingleNodeVllmArgs,
    SingleNodeVllmSettings,
)


class InTeam(Declaration):
    """What a deployment of a stack file says of its place."""

    team: DnsLabel | None = None
    """Name of a team under ``teams``, in whose namespace it runs. Default: none, and the platform's namespace."""


class MultiNodeVllmEntry(InTeam, MultiNodeVllmSettings):
    """One model over several nodes: groups of a leader and workers."""


class SingleNodeVllmEntry(InTeam, SingleNodeVllmSettings):
    """A model that fits one node: a Deployment, since a LeaderWorkerSet has nothing to add."""


class DisaggregatedVllmEntry(InTeam, DisaggregatedVllmSettings):
    """One model in two roles: prefill reads the prompt, decode writes the answer, each sized for its work."""


DeploymentSettings = Annotated[
    MultiNodeVllmEntry | SingleNodeVllmEntry | DisaggregatedVllmEntry, Field(discriminator="kind")
]
"""A deployment of a stack file, chosen by ``kind``."""

_ARGS: Mapping[str, type[DeploymentArgs]] = {
    "multi-node-vllm": MultiNodeVllmArgs,
    "single-node-vllm": SingleNodeVllmArgs,
    "disaggregated-vllm": DisaggregatedVllmArgs,
}


def args_of(
    name: str,
    namespace: str,
    deployment: DeploymentSettings,
    pools: Mapping[str, GpuPool],
    taken_gpus: Mapping[str, int] | None = None,
) -> DeploymentArgs:
    """Return the arguments of the component for a deployment of a stack file."""
    own = [field for field in type(deployment).model_fields if field not in InTeam.model_fields]
    fields: dict[str, Any] = {field: getattr(deployment, field) for field in own}
    return _ARGS[deployment.kind](**fields, name=name, namespace=namespace, pools=pools, taken_gpus=taken_gpus or {})
