"""An EKS cluster as a Pulumi component: with its network, its access, and what makes its nodes."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_lws.cluster.component import Connection, aws_provider, kubernetes_provider
from pulumi_lws.cluster.eks import names
from pulumi_lws.cluster.eks.checks import cluster_problems
from pulumi_lws.cluster.eks.component.access import admit_nodes, grant_access
from pulumi_lws.cluster.eks.component.auto import auto_nodes
from pulumi_lws.cluster.eks.component.control_plane import control_plane
from pulumi_lws.cluster.eks.component.efa import node_security_groups
from pulumi_lws.cluster.eks.component.guard import replacement_guard
from pulumi_lws.cluster.eks.component.karpenter import karpenter_nodes
from pulumi_lws.cluster.eks.component.parts import Parts, RunningParts
from pulumi_lws.cluster.eks.settings import AutoCompute, EksClusterArgs
from pulumi_lws.cluster.network.component import Network, NetworkArgs
from pulumi_lws.component import declared, raise_problems
from pulumi_lws.nodes.cluster import NodeCluster


class EksCluster(pulumi.ComponentResource):
    """An EKS cluster with its network, whose nodes EKS Auto Mode or a Karpenter of its own makes.

    Args:
        name: Pulumi name of the component. It must not change with the cluster's name: changes are compared by it.
        args: The cluster, as in a stack file.
        opts: Options of the component.

    Raises:
        DeclarationError: With every problem of the declaration.
    """

    connection: Connection
    """What everything on the cluster needs."""

    def __init__(
        self, name: str, args: EksClusterArgs | Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        subject = f"Cluster {name}"
        cluster = declared(EksClusterArgs, args, subject)
        raise_problems(cluster_problems(cluster), subject)
        if not cluster.allow_replacement:
            opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=replacement_guard(name, subject)))
        super().__init__("lws:index:EksCluster", name, cluster.model_dump(by_alias=True, exclude_none=True), opts)
        own = pulumi.ResourceOptions(parent=self)
        aws = aws_provider(f"{name}-aws", account=cluster.account, region=cluster.region, tags=cluster.tags, opts=own)
        on_aws = pulumi.ResourceOptions(parent=self, providers=[aws])
        parts = Parts(name, cluster, self, aws, Network(f"{name}-network", _network(cluster), on_aws))
        made = control_plane(parts)
        kubernetes = kubernetes_provider(f"{name}-kubernetes", cluster.arn, made.kubeconfig_json, own)
        running = RunningParts(**vars(parts), made=made, kubernetes=kubernetes)
        grant_access(running)
        make_nodes = auto_nodes if isinstance(cluster.compute, AutoCompute) else karpenter_nodes
        self.connection = Connection(
            arn=cluster.arn,
            kubeconfig=pulumi.Output.secret(made.kubeconfig_json),
            kubernetes=kubernetes,
            aws=aws,
            nodes=_nodes(running),
            ready=tuple(make_nodes(running, admit_nodes(running))),
        )
        self.register_outputs({"arn": cluster.arn, "kubeconfig": self.connection.kubeconfig})


def _network(cluster: EksClusterArgs) -> NetworkArgs:
    return NetworkArgs(
        cluster.network,
        cluster.name,
        cluster.account,
        cluster.region,
        karpenter=cluster.compute.kind == "karpenter",
        protect=cluster.protect,
    )


def _nodes(parts: RunningParts) -> NodeCluster:
    cluster = parts.cluster
    return NodeCluster(
        name=cluster.name,
        mode=cluster.compute.kind,
        node_role=names.node_role(cluster),
        subnets=parts.network.private_subnets,
        security_groups=node_security_groups(parts),
        image="" if isinstance(cluster.compute, AutoCompute) else cluster.compute.image or "",
        tags=cluster.tags,
    )
