"""A stack file: what one environment consists of."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from pulumi_lws.addons.settings import AddOns
from pulumi_lws.caches.settings import Caches
from pulumi_lws.cluster.eks.settings import EksClusterArgs, ExistingEksCluster
from pulumi_lws.cluster.settings import ExistingCluster
from pulumi_lws.declarations import Count, Declaration, DnsLabel, NamespaceName
from pulumi_lws.edge.settings import InferenceGatewaySettings
from pulumi_lws.facts.quotas import QuotaFamily
from pulumi_lws.load_tests.settings import LoadTestSettings
from pulumi_lws.monitoring.settings import Monitoring
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.queues.settings import Queues
from pulumi_lws.ray.entries import RayEntry
from pulumi_lws.serving.entries import DeploymentSettings
from pulumi_lws.serving.scaling.gateways.settings import GatewayAutoscaling
from pulumi_lws.tenancy.manifests import namespace_of
from pulumi_lws.tenancy.settings import Team

Cluster = Annotated[ExistingCluster | EksClusterArgs | ExistingEksCluster, Field(discriminator="kind")]
"""A cluster: made here, or somebody else's, reached by name on AWS or by a kubeconfig. Pools are made on the first two;
a cluster that is only reached has its nodes already."""


NAMESPACES_OF_KUBERNETES = ("default", "kube-node-lease", "kube-public", "kube-system")
"""Namespaces that every cluster has."""


class PlatformArgs(Declaration):
    """Everything of one environment, as it stands under ``pulumi-lws:platform`` in the stack file."""

    cluster: Cluster
    """The cluster to deploy to, chosen by ``kind``: ``eks`` (made here), ``existing-eks`` or ``existing``."""
    namespace: NamespaceName = "models"
    """Namespace of the deployments; it is created. Default models."""
    add_ons: AddOns = AddOns()
    """Controllers that the cluster gets before everything else on it. Default none."""
    pools: Mapping[DnsLabel, GpuPool] = {}
    """Pools of GPU nodes by name. Default none."""
    teams: Mapping[DnsLabel, Team] = {}
    """Teams by name, each with a namespace of its own. Default none: everything is in one namespace."""
    queues: Queues | None = None
    """Queues of Kueue before the pools. Default none."""
    caches: Caches = Caches()
    """Images and weights that are there before a pod asks for them. Default none."""
    deployments: Mapping[DnsLabel, DeploymentSettings] = {}
    """Deployments of models by name. Default none."""
    ray: Mapping[DnsLabel, RayEntry] = {}
    """What runs on Ray, by name. Default none."""
    gateways: Mapping[DnsLabel, InferenceGatewaySettings] = {}
    """Gateways of Envoy Gateway in front of deployments, by name; the deployments let them in. Default none."""
    monitoring: Monitoring | None = None
    """What Prometheus reads, when it calls somebody, and dashboards. Default none."""
    load_tests: Mapping[DnsLabel, LoadTestSettings] = {}
    """Load tests of deployments, by name. Each runs once. Default none."""
    gateway_autoscalers: Mapping[DnsLabel, GatewayAutoscaling] = {}
    """Autoscalers of Deployments without GPUs in front of models, by name. Default none."""
    quotas: Mapping[QuotaFamily, Count] = {}
    """On-demand quota of the account by family of instances, in vCPUs, as Service Quotas shows it. Default: not known,
    and not checked."""

    def namespace_of(self, team: str | None) -> str:
        """Return the namespace of a team; the platform's for none, and for one that there is not."""
        return self.namespace if team is None or team not in self.teams else namespace_of(team, self.teams[team])
