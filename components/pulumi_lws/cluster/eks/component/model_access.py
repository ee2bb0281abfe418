"""Roles with which pods read weights in S3, by EKS Pod Identity.

With a single hop to the metadata service pods do not reach the role of their node, which reads nothing anyway.
"""

import json
from collections.abc import Sequence

import pulumi

from pulumi_lws.cluster.component import Connection, sdk
from pulumi_lws.cluster.eks import iam
from pulumi_lws.cluster.eks.model_access import reader_policy
from pulumi_lws.cluster.eks.settings import EksClusterArgs


def model_reader(
    name: str,
    cluster: EksClusterArgs,
    connection: Connection,
    subject: tuple[str, str],
    folders: Sequence[str],
    *,
    parent: pulumi.Resource,
) -> pulumi.Resource:
    """Let a service account read folders in S3; return what its pods wait for.

    Args:
        name: Pulumi name.
        cluster: The cluster.
        connection: How it is reached.
        subject: Namespace and name of the service account.
        folders: Addresses of the folders.
        parent: Component that it belongs to.
    """
    aws = sdk("pulumi_aws")
    own = pulumi.ResourceOptions(parent=parent, provider=connection.aws)
    role = aws.iam.Role(name, assume_role_policy=json.dumps(iam.pod_trust(cluster)), opts=own)
    policy = aws.iam.RolePolicy(
        name, role=role.name, policy=json.dumps(reader_policy(cluster.partition, folders)), opts=own
    )
    namespace, account = subject
    association: pulumi.Resource = aws.eks.PodIdentityAssociation(
        name,
        cluster_name=cluster.name,
        namespace=namespace,
        service_account=account,
        role_arn=role.arn,
        opts=pulumi.ResourceOptions.merge(own, pulumi.ResourceOptions(depends_on=[policy, *connection.ready])),
    )
    return association
