"""An EKS cluster that somebody else provisioned, by its name."""

import json
from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_lws.cluster.component import Connection, aws_provider, kubernetes_provider, sdk
from pulumi_lws.cluster.eks.access import kubeconfig_of
from pulumi_lws.cluster.eks.checks import existing_problems
from pulumi_lws.cluster.eks.settings import ExistingEksCluster
from pulumi_lws.component import declared, raise_problems
from pulumi_lws.nodes.cluster import NodeCluster


class ExistingEks(pulumi.ComponentResource):
    """Access to an EKS cluster that exists; nothing is made but the providers.

    Args:
        name: Pulumi name of the component.
        args: The cluster, as in a stack file.
        opts: Options of the component.

    Raises:
        DeclarationError: With every problem of the declaration.
    """

    connection: Connection
    """What everything on the cluster needs."""

    def __init__(
        self, name: str, args: ExistingEksCluster | Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        subject = f"Cluster {name}"
        cluster = declared(ExistingEksCluster, args, subject)
        raise_problems(existing_problems(cluster), subject)
        super().__init__("lws:index:ExistingEks", name, cluster.model_dump(by_alias=True, exclude_none=True), opts)
        own = pulumi.ResourceOptions(parent=self)
        aws = aws_provider(f"{name}-aws", account=cluster.account, region=cluster.region, tags=cluster.tags, opts=own)
        found = sdk("pulumi_aws").eks.get_cluster_output(
            name=cluster.name, opts=pulumi.InvokeOutputOptions(parent=self, provider=aws)
        )
        reached: pulumi.Output[str] = pulumi.Output.all(found.endpoint, found.certificate_authorities[0].data).apply(
            lambda at: json.dumps(kubeconfig_of(cluster.name, cluster.region, *at))
        )
        kubeconfig: pulumi.Output[str] = pulumi.Output.secret(reached)
        kubernetes = kubernetes_provider(f"{name}-kubernetes", cluster.arn, kubeconfig, own)
        nodes = NodeCluster(
            name=cluster.name,
            mode=cluster.compute,
            node_role=cluster.node_role,
            subnets=cluster.private_subnets,
            security_groups=cluster.security_groups,
            image=cluster.image or "",
            tags=cluster.tags,
        )
        self.connection = Connection(cluster.arn, kubeconfig, kubernetes, aws, nodes)
        self.register_outputs({"arn": cluster.arn, "kubeconfig": kubeconfig})
