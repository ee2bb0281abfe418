"""The security group of EFA."""

from typing import Any

from pulumi_lws.cluster.component import sdk
from pulumi_lws.cluster.eks.component.parts import RunningParts
from pulumi_lws.cluster.eks.security import EFA_GROUP_DESCRIPTION, EFA_RULES
from pulumi_lws.facts import labels


def node_security_groups(parts: RunningParts) -> list[Any]:
    """Return the ids of the groups of the nodes: the cluster's own and one for EFA, which is made.

    Both get the discovery tag, so that node classes which select by it find them, too.
    """
    aws, cluster = sdk("pulumi_aws"), parts.cluster
    group = aws.ec2.SecurityGroup(
        f"{parts.name}-efa",
        vpc_id=parts.network.vpc_id,
        description=EFA_GROUP_DESCRIPTION,
        tags={"Name": f"{cluster.name}-efa", labels.DISCOVERY: cluster.name},
        opts=parts.on_aws(),
    )
    rules = {"ingress": aws.vpc.SecurityGroupIngressRule, "egress": aws.vpc.SecurityGroupEgressRule}
    for direction, description in EFA_RULES.items():
        rules[direction](
            f"{parts.name}-efa-{direction}",
            security_group_id=group.id,
            referenced_security_group_id=group.id,
            ip_protocol="-1",
            description=description,
            opts=parts.on_aws(),
        )
    own = parts.made.cluster_security_group_id
    aws.ec2.Tag(
        f"{parts.name}-discovery",
        resource_id=own,
        key=labels.DISCOVERY,
        value=cluster.name,
        opts=parts.on_aws(),
    )
    return [own, group.id]
