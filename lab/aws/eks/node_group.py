"""``eks:index:ManagedNodeGroup``: a managed node group of a cluster."""

from collections.abc import Mapping
from typing import Any

import pulumi

from lab.aws.eks.children import Child

_WITH_TEMPLATE = (
    *("amiId", "bootstrapExtraArgs", "bottlerocketSettings", "enableEfaSupport", "enableIMDSv2", "kubeletExtraArgs"),
    *("nodeadmExtraOptions", "userData"),
)
"""Options for which the real component makes a launch template; give one of your own instead."""

_OF_COMPONENT = (
    "cluster",
    "gpu",
    "ignoreScalingChanges",
    "nodeRole",
    "operatingSystem",
    "placementGroupAvailabilityZone",
)


class ManagedNodeGroup(pulumi.ComponentResource):
    """The component.

    Args:
        name: Its name in the program.
        inputs: Its inputs, with the names of the wire.
        options: Its options.
    """

    def __init__(self, name: str, inputs: Mapping[str, Any], options: pulumi.ResourceOptions) -> None:
        _refuse(inputs)
        core = pulumi.Output.from_input(inputs["cluster"]).apply(lambda one: getattr(one, "core", one))
        role = inputs.get("nodeRoleArn") or pulumi.Output.from_input(inputs["nodeRole"]).apply(
            lambda known: known.output("arn")
        )
        version = inputs.get("version")
        if version is None and inputs.get("launchTemplate") is None:
            version = core.apply(lambda known: known["cluster"].output("version"))
        super().__init__("eks:index:ManagedNodeGroup", name, {**inputs, "version": version}, options)
        given = {key: value for key, value in inputs.items() if key not in _OF_COMPONENT}
        scaling = pulumi.Output.from_input(inputs.get("scalingConfig") or {})
        wanted = {
            **given,
            "clusterName": inputs.get("clusterName") or core.apply(lambda known: known["cluster"].output("name")),
            "nodeRoleArn": role,
            "scalingConfig": scaling.apply(lambda known: {"desiredSize": 2, "minSize": 1, "maxSize": 2, **known}),
            "subnetIds": inputs.get("subnetIds") or core.apply(lambda known: known["subnetIds"]),
            "version": version,
        }
        ignored = ["scalingConfig.desiredSize"] if inputs.get("ignoreScalingChanges") else None
        own = pulumi.ResourceOptions(parent=self, ignore_changes=ignored)
        self.node_group = Child("aws:eks/nodeGroup:NodeGroup", name, wanted, own)
        self.outputs: dict[str, Any] = {"nodeGroup": self.node_group, "placementGroupName": ""}
        self.register_outputs(self.outputs)


def _refuse(inputs: Mapping[str, Any]) -> None:
    """Refuse what the real component refuses, and what this one lacks."""
    if (inputs.get("nodeRole") is None) == (inputs.get("nodeRoleArn") is None):
        raise pulumi.InputPropertyError("nodeRole", "Exactly one of nodeRole and nodeRoleArn must be provided.")
    for option in _WITH_TEMPLATE:
        if inputs.get(option) is not None:
            wrong = "it cannot stand beside" if inputs.get("launchTemplate") else "this stand-in needs instead of it"
            raise pulumi.InputPropertyError(option, f"{option}: {wrong} a launchTemplate of your own.")
    if inputs.get("operatingSystem") is not None and inputs.get("amiType") is None:
        raise pulumi.InputPropertyError("operatingSystem", "This stand-in needs an amiType instead of operatingSystem.")
