"""Deployments of models as Pulumi components."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_lws.component import Manifest, declared, raise_problems
from pulumi_lws.serving import manifests
from pulumi_lws.serving.checks import check
from pulumi_lws.serving.settings import MultiNodeVllmArgs
from pulumi_lws.workloads.component import LeaderWorkerSet


class MultiNodeVllm(pulumi.ComponentResource):
    """One model over several nodes, served by vLLM: groups, the Service of their leaders, and their probe.

    Args:
        name: Pulumi name of the component.
        args: What to serve; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``, and namespace and LWS controller in ``depends_on``.

    Raises:
        DeclarationError: The deployment would be refused, would never start, or does not fit its pool.
    """

    url: pulumi.Output[str]
    """Address of the OpenAI API inside the cluster."""

    def __init__(
        self,
        name: str,
        args: MultiNodeVllmArgs | Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        subject = f"MultiNodeVllm {name}"
        args = declared(MultiNodeVllmArgs, args, subject)
        raise_problems(check(args), subject)
        super().__init__("lws:index:MultiNodeVllm", name, args.model_dump(by_alias=True, exclude_none=True), opts)
        objects = manifests.multi_node_vllm(args)
        config_map = Manifest(f"{name}-probe", objects.config_map, pulumi.ResourceOptions(parent=self))
        self.leader_worker_set = LeaderWorkerSet(
            f"{name}-groups",
            objects.leader_worker_set,
            pulumi.ResourceOptions(parent=self, depends_on=[config_map]),
        )
        Manifest(f"{name}-leader", objects.service, pulumi.ResourceOptions(parent=self))
        self.url = pulumi.Output.from_input(manifests.url(args))
        self.register_outputs({"url": self.url})
