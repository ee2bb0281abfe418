"""What the parts of a cluster need of the whole."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes

from pulumi_lws.cluster.component import sdk
from pulumi_lws.cluster.eks import iam
from pulumi_lws.cluster.eks.documents import Document
from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.cluster.network.component import Network


@dataclass(frozen=True)
class Parts:
    """A cluster under construction.

    Attributes:
        name: Pulumi name of the component.
        cluster: Its declaration.
        parent: The component.
        aws: Provider of what is made on AWS.
        network: Its network.
    """

    name: str
    cluster: EksClusterArgs
    parent: pulumi.Resource
    aws: pulumi.ProviderResource
    network: Network

    @property
    def subnets(self) -> list[Any]:
        """Ids of all private subnets."""
        return [subnet for subnets in self.network.private_subnets.values() for subnet in subnets]

    def on_aws(self, **options: Any) -> pulumi.ResourceOptions:
        """Return the options of a part on AWS."""
        return pulumi.ResourceOptions(parent=self.parent, provider=self.aws, **options)


@dataclass(frozen=True)
class RunningParts(Parts):
    """A cluster whose control plane runs.

    Attributes:
        made: The control plane, a ``pulumi_eks.Cluster``.
        kubernetes: Provider of the cluster's objects.
    """

    made: Any
    kubernetes: pulumi_kubernetes.Provider

    def on_kubernetes(self, **options: Any) -> pulumi.ResourceOptions:
        """Return the options of an object in the cluster."""
        return pulumi.ResourceOptions(parent=self.parent, provider=self.kubernetes, **options)


def role(parts: Parts, key: str, name: str, trust: Document, policies: Sequence[str]) -> tuple[Any, list[Any]]:
    """Make a role with policies that AWS manages; return it and what attaches them, which its users wait for."""
    aws = sdk("pulumi_aws")
    made = aws.iam.Role(f"{parts.name}-{key}", name=name, assume_role_policy=json.dumps(trust), opts=parts.on_aws())
    attachments = [
        aws.iam.RolePolicyAttachment(
            f"{parts.name}-{key}-{policy}",
            role=made.name,
            policy_arn=iam.managed_policy_arn(parts.cluster, policy),
            opts=parts.on_aws(),
        )
        for policy in policies
    ]
    return made, attachments
