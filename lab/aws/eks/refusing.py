"""What the component ``eks:index:Cluster`` refuses, as the real one does or because this one lacks it; pure."""

from collections.abc import Mapping
from typing import Any

import pulumi

_UNSUPPORTED = (
    "creationRoleProvider",
    "fargate",
    "instanceRole",
    "instanceRoles",
    "roleMappings",
    "storageClasses",
    "userMappings",
)
"""What environments on the API authentication mode do without, and this stand-in therefore lacks."""


def is_auto(inputs: Mapping[str, Any]) -> bool:
    """Whether the cluster runs in EKS Auto Mode."""
    return bool((inputs.get("autoMode") or {}).get("enabled"))


def refuse(inputs: Mapping[str, Any]) -> None:
    """Refuse wrong inputs.

    Raises:
        pulumi.InputPropertyError: With the property and the reason.
    """
    mode = inputs.get("authenticationMode")
    if is_auto(inputs) and mode not in ("API", "API_AND_CONFIG_MAP"):
        raise pulumi.InputPropertyError(
            "authenticationMode",
            "Access entries are required when using EKS Auto Mode. Use the authentication mode 'API' or "
            "'API_AND_CONFIG_MAP'.",
        )
    if mode != "API":
        raise pulumi.InputPropertyError("authenticationMode", "This stand-in only knows the authentication mode 'API'.")
    if inputs.get("subnetIds") is not None and (inputs.get("publicSubnetIds") or inputs.get("privateSubnetIds")):
        raise pulumi.InputPropertyError(
            "subnetIds", "subnetIds, and the use of publicSubnetIds and/or privateSubnetIds are mutually exclusive."
        )
    if not is_auto(inputs) and not inputs.get("skipDefaultNodeGroup"):
        raise pulumi.InputPropertyError(
            "skipDefaultNodeGroup", "This stand-in makes no default node group: set it to true and make your own."
        )
    if inputs.get("vpcId") is None:
        raise pulumi.InputPropertyError("vpcId", "This stand-in's account has no default VPC: name one.")
    for lacking in _UNSUPPORTED:
        if inputs.get(lacking):
            raise pulumi.InputPropertyError(lacking, f"This stand-in does not support {lacking}.")
    if inputs.get("createInstanceRole"):
        raise pulumi.InputPropertyError("createInstanceRole", "This stand-in makes no instance role: make your own.")
