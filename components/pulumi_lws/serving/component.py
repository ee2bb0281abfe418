"""Deployments of models as Pulumi components."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pulumi

from pulumi_lws.component import Manifest, declared, raise_problems
from pulumi_lws.serving.checks import check
from pulumi_lws.serving.objects import DeploymentObjects
from pulumi_lws.serving.render import render
from pulumi_lws.serving.settings import (
    DeploymentArgs,
    DisaggregatedVllmArgs,
    MultiNodeVllmArgs,
    SingleNodeVllmArgs,
)
from pulumi_lws.workloads.component import DisaggregatedSet, LeaderWorkerSet
from pulumi_lws.workloads.queued import membership


class ModelDeployment(pulumi.ComponentResource):
    """What deployments of models have in common; use one of its kinds.

    Args:
        name: Pulumi name of the component.
        args: What to serve; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``, and namespace and LWS controller in ``depends_on``.

    Raises:
        DeclarationError: The deployment would be refused, would never start, or does not fit its pool.
    """

    ARGS: ClassVar[type[MultiNodeVllmArgs] | type[SingleNodeVllmArgs] | type[DisaggregatedVllmArgs]]

    url: pulumi.Output[str]
    """Address of the OpenAI API inside the cluster."""

    def __init__(
        self,
        name: str,
        args: DeploymentArgs | Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        kind = type(self).__name__
        subject = f"{kind} {name}"
        args = declared(self.ARGS, args, subject)
        raise_problems(check(args), subject)
        # Under the same name a deployment of another kind is this one, and what both consist of is updated in place.
        # Else the engine would make the Service and the budget, which exist, before it takes the old ones away.
        others = [pulumi.Alias(type_=_type_of(other)) for other in KINDS.values() if other is not type(self)]
        opts = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(aliases=others), opts)
        super().__init__(_type_of(type(self)), name, args.model_dump(by_alias=True, exclude_none=True), opts)
        self._register(name, render(args))
        self.register_outputs({"url": self.url})

    def _register(self, name: str, objects: DeploymentObjects) -> None:
        own = pulumi.ResourceOptions(parent=self)
        before = [Manifest(f"{name}-{key}", manifest, own) for key, manifest in objects.before.items()]
        after = pulumi.ResourceOptions(parent=self, depends_on=before)
        self.workloads: dict[str, pulumi.Resource] = {
            key: LeaderWorkerSet(f"{name}-{key}", groups, after) for key, groups in objects.groups.items()
        }
        if objects.disaggregated_set is not None:
            self.workloads["roles"] = DisaggregatedSet(f"{name}-roles", objects.disaggregated_set, after)
        minutes = f"{objects.update_minutes}m"
        for key, manifest in objects.deployments.items():
            opts = pulumi.ResourceOptions(
                parent=self,
                depends_on=before,
                custom_timeouts=pulumi.CustomTimeouts(create=minutes, update=minutes),
                # Kueue refuses another queue of pods that serve. The name is fixed, so the old one goes first.
                replacement_trigger=membership(manifest),
                delete_before_replace=True,
            )
            self.workloads[key] = Manifest(f"{name}-{key}", manifest, opts)
        for key, manifest in objects.beside.items():
            Manifest(f"{name}-{key}", manifest, own)
        self.url = pulumi.Output.from_input(objects.url)


class MultiNodeVllm(ModelDeployment):
    """One model over several nodes: groups, the Service of those that serve, their probe, budget and policy."""

    ARGS = MultiNodeVllmArgs


class SingleNodeVllm(ModelDeployment):
    """A model that fits one node: a Deployment, its Service, budget and policy."""

    ARGS = SingleNodeVllmArgs


class DisaggregatedVllm(ModelDeployment):
    """One model in two roles, prefill and decode, and what routes requests between them."""

    ARGS = DisaggregatedVllmArgs


KINDS: Mapping[str, type[ModelDeployment]] = {
    "multi-node-vllm": MultiNodeVllm,
    "single-node-vllm": SingleNodeVllm,
    "disaggregated-vllm": DisaggregatedVllm,
}
"""Components by the ``kind`` of a stack file."""


def _type_of(kind: type[ModelDeployment]) -> str:
    return f"lws:index:{kind.__name__}"
