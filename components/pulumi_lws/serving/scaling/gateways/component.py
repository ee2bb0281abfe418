"""The autoscaler of a gateway as a Pulumi component."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi

from pulumi_lws.component import Manifest, declared, raise_problems
from pulumi_lws.serving.scaling.gateways.checks import gateway_problems, roles_behind
from pulumi_lws.serving.scaling.gateways.manifests import gateway_autoscaler
from pulumi_lws.serving.scaling.gateways.settings import GatewayAutoscaling
from pulumi_lws.serving.settings import DeploymentArgs


@dataclass(frozen=True)
class GatewayAutoscalerArgs:
    """What a :class:`GatewayAutoscaler` is made from.

    Attributes:
        scaling: What is scaled and how; a mapping is validated like the model.
        deployments: Deployments of models by name. Only needed without a ``query``.
    """

    scaling: GatewayAutoscaling | Mapping[str, Any]
    deployments: Mapping[str, DeploymentArgs] = field(default_factory=dict)


class GatewayAutoscaler(pulumi.ComponentResource):
    """An autoscaler of a gateway in front of models.

    Args:
        name: Pulumi name of the component.
        args: What to make.
        opts: Give the Kubernetes provider in ``providers``, and the gateway and what installs KEDA in ``depends_on``.

    Raises:
        DeclarationError: The Deployment must not be scaled, or nothing tells its load.
    """

    def __init__(self, name: str, args: GatewayAutoscalerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        subject = f"Autoscaler {name}"
        scaling = declared(GatewayAutoscaling, args.scaling, subject)
        raise_problems(gateway_problems(scaling, args.deployments), subject)
        super().__init__(
            "lws:index:GatewayAutoscaler", name, scaling.model_dump(by_alias=True, exclude_none=True), opts
        )
        manifest = gateway_autoscaler(scaling, roles_behind(scaling, args.deployments))
        self.object = Manifest(f"{name}-autoscaler", manifest, pulumi.ResourceOptions(parent=self))
        self.register_outputs({"deployment": scaling.deployment})
