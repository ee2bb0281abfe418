"""A stack file: what one environment consists of."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from pulumi_lws.cluster.eks.settings import EksClusterArgs, ExistingEksCluster
from pulumi_lws.cluster.settings import ExistingCluster
from pulumi_lws.declarations import Count, Declaration, DnsLabel, NamespaceName
from pulumi_lws.facts.quotas import QuotaFamily
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.serving.settings import DeploymentSettings

Cluster = Annotated[ExistingCluster | EksClusterArgs | ExistingEksCluster, Field(discriminator="kind")]
"""A cluster: made here, or somebody else's, reached by name on AWS or by a kubeconfig. Pools are made on the first two;
a cluster that is only reached has its nodes already."""


class PlatformArgs(Declaration):
    """Everything of one environment, as it stands under ``pulumi-lws:platform`` in the stack file."""

    cluster: Cluster
    """The cluster to deploy to, chosen by ``kind``: ``eks`` (made here), ``existing-eks`` or ``existing``."""
    namespace: NamespaceName = "models"
    """Namespace of the deployments; it is created. Default models."""
    pools: Mapping[DnsLabel, GpuPool] = {}
    """Pools of GPU nodes by name. Default none."""
    deployments: Mapping[DnsLabel, DeploymentSettings] = {}
    """Deployments of models by name. Default none."""
    quotas: Mapping[QuotaFamily, Count] = {}
    """On-demand quota of the account by family of instances, in vCPUs, as Service Quotas shows it. Default: not known,
    and not checked."""
