"""What the components of a cluster share: the SDKs of AWS, and how Kubernetes is reached."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes

from pulumi_lws.nodes.cluster import NodeCluster


@dataclass(frozen=True)
class Connection:
    """A cluster on AWS, as everything on it needs it.

    Attributes:
        arn: ARN of the cluster.
        kubeconfig: How it is reached; a secret.
        kubernetes: The provider of every Kubernetes object.
        aws: The provider of everything on AWS, bound to account and region.
        nodes: What pools of nodes must know.
        ready: What custom resources and workloads wait for; they are destroyed before it.
    """

    arn: str
    kubeconfig: pulumi.Output[str]
    kubernetes: pulumi_kubernetes.Provider
    aws: pulumi.ProviderResource
    nodes: NodeCluster
    ready: tuple[pulumi.Resource, ...] = ()

    @property
    def providers(self) -> list[pulumi.ProviderResource]:
        """Both providers, as components take them."""
        return [self.kubernetes, self.aws]


def sdk(package: str) -> Any:
    """Load an SDK of AWS: they are an extra of this package, and slow to load.

    Raises:
        RunError: It is not installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise pulumi.RunError(f"Clusters on AWS need {package}: pip install 'pulumi-lws[aws]'.") from error


def aws_provider(
    name: str, *, account: str, region: str, tags: Mapping[str, str], opts: pulumi.ResourceOptions
) -> pulumi.ProviderResource:
    """Make a provider that works in one account and one region, and tags everything."""
    provider: pulumi.ProviderResource = sdk("pulumi_aws").Provider(
        name,
        region=region,
        allowed_account_ids=[account],
        default_tags={"tags": dict(tags)} if tags else None,
        opts=opts,
    )
    return provider


def kubernetes_provider(
    name: str, arn: str, kubeconfig: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> pulumi_kubernetes.Provider:
    """Make the one provider of a cluster's objects. A new address or certificate of the same cluster replaces none."""
    return pulumi_kubernetes.Provider(
        name,
        kubeconfig=pulumi.Output.secret(kubeconfig),
        cluster_identifier=arn,
        enable_server_side_apply=True,
        opts=opts,
    )
