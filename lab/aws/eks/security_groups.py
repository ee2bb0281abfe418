"""The security groups that the component makes unless it is told not to, and their rules."""

from collections.abc import Mapping
from typing import Any

import pulumi

from lab.aws.eks.children import Child

_ALL = {"fromPort": 0, "protocol": "-1", "toPort": 0}
_HTTPS = {"fromPort": 443, "protocol": "tcp", "toPort": 443}
_OUT = {"type": "egress", "description": "Allow internet access.", "cidrBlocks": ["0.0.0.0/0"], **_ALL}


def control_plane_group(name: str, inputs: Mapping[str, Any], options: pulumi.ResourceOptions) -> Child:
    """The group of the control plane, with its way out."""
    named = {"Name": f"{name}-eksClusterSecurityGroup"}
    tags = merged(named, inputs.get("clusterSecurityGroupTags"), inputs.get("tags"))
    group = _group(f"{name}-eksClusterSecurityGroup", inputs.get("vpcId"), tags, options)
    _rule(f"{name}-eksClusterInternetEgressRule", group, _OUT, options)
    return group


def node_group(
    name: str,
    inputs: Mapping[str, Any],
    control_plane: pulumi.Input[str],
    cluster: pulumi.Output[str],
    options: pulumi.ResourceOptions,
) -> tuple[Child, Child]:
    """The group of nodes with its rules, and the rule that lets nodes reach the control plane."""
    named = cluster.apply(
        lambda known: {"Name": f"{name}-nodeSecurityGroup", f"kubernetes.io/cluster/{known}": "owned"}
    )
    tags = merged(named, inputs.get("nodeSecurityGroupTags"), inputs.get("tags"))
    nodes = _group(f"{name}-nodeSecurityGroup", inputs.get("vpcId"), tags, options)
    by_control_plane = {"type": "ingress", "sourceSecurityGroupId": control_plane}
    rules: dict[str, dict[str, Any]] = {
        "NodeIngressRule": {
            "type": "ingress",
            "description": "Allow nodes to communicate with each other",
            "self": True,
            **_ALL,
        },
        "NodeClusterIngressRule": {
            "description": "Allow worker Kubelets and pods to receive communication from the cluster control plane",
            "fromPort": 1025,
            "protocol": "tcp",
            "toPort": 65535,
            **by_control_plane,
        },
        "ExtApiServerClusterIngressRule": {
            "description": "Allow pods running extension API servers on port 443 to receive communication from cluster "
            "control plane",
            **_HTTPS,
            **by_control_plane,
        },
        "NodeInternetEgressRule": _OUT,
    }
    for role, rule in rules.items():
        _rule(f"{name}-eks{role}", nodes, rule, options)
    by_nodes = {
        "type": "ingress",
        "description": "Allow pods to communicate with the cluster API Server",
        "sourceSecurityGroupId": nodes.id,
        **_HTTPS,
    }
    return nodes, _rule(f"{name}-eksClusterIngressRule", control_plane, by_nodes, options)


def merged(*tags: pulumi.Input[Mapping[str, str] | None]) -> pulumi.Output[dict[str, str]]:
    """Tags of several sources; later ones win."""
    return pulumi.Output.all(*tags).apply(
        lambda known: {key: value for one in known if one for key, value in one.items()}
    )


def _group(name: str, vpc: Any, tags: pulumi.Output[dict[str, str]], options: pulumi.ResourceOptions) -> Child:
    described = {"description": "Managed by Pulumi", "revokeRulesOnDelete": True, "vpcId": vpc, "tags": tags}
    return Child("aws:ec2/securityGroup:SecurityGroup", name, described, options)


def _rule(
    name: str, group: Child | pulumi.Input[str], rule: Mapping[str, Any], options: pulumi.ResourceOptions
) -> Child:
    of = group.id if isinstance(group, Child) else group
    return Child("aws:ec2/securityGroupRule:SecurityGroupRule", name, {**rule, "securityGroupId": of}, options)
