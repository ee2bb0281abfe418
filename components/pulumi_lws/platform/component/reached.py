"""Reaching the cluster of a platform: one that is made, one on AWS by name, one by a kubeconfig."""

import os
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes

from pulumi_lws.cluster.component import Connection
from pulumi_lws.cluster.eks.component.cluster import EksCluster
from pulumi_lws.cluster.eks.component.existing import ExistingEks
from pulumi_lws.cluster.eks.settings import EksClusterArgs, ExistingEksCluster
from pulumi_lws.cluster.kubeconfig import Kubeconfig
from pulumi_lws.cluster.kubeconfig import read as read_kubeconfig
from pulumi_lws.cluster.settings import ExistingCluster
from pulumi_lws.planning.problems import Problem
from pulumi_lws.platform.settings import Cluster, PlatformArgs


@dataclass(frozen=True)
class Reached:
    """A cluster that can be deployed to; its pools are made only where it is on AWS."""

    kubernetes: pulumi_kubernetes.Provider
    connection: Connection | None = None

    @property
    def ready(self) -> tuple[pulumi.Resource, ...]:
        """What everything on the cluster waits for."""
        return self.connection.ready if self.connection else ()

    @property
    def kubeconfig(self) -> pulumi.Output[str] | None:
        """How a cluster on AWS is reached."""
        return self.connection.kubeconfig if self.connection else None


def reach(name: str, cluster: Cluster, access: Kubeconfig | None, parent: pulumi.Resource) -> Reached:
    """Make the cluster, or only its providers.

    Args:
        name: Name of the platform.
        cluster: The cluster.
        access: The kubeconfig of one that is reached by it.
        parent: The platform.
    """
    own = pulumi.ResourceOptions(parent=parent)
    match cluster:
        case EksClusterArgs():
            return _on_aws(EksCluster(f"{name}-cluster", cluster, own).connection)
        case ExistingEksCluster():
            return _on_aws(ExistingEks(f"{name}-cluster", cluster, own).connection)
        case ExistingCluster():
            if access is None:
                raise AssertionError("a cluster that is reached by a kubeconfig has one")
            provider = pulumi_kubernetes.Provider(
                f"{name}-kubernetes",
                kubeconfig=pulumi.Output.secret(access.content),
                context=access.context,
                cluster_identifier=cluster.name,
                enable_server_side_apply=True,
                opts=own,
            )
            return Reached(provider)


def kubeconfig_of(platform: PlatformArgs | None) -> Kubeconfig | Problem | None:
    """Read the kubeconfig of a cluster that is reached by one; None for any other."""
    if platform is None or not isinstance(platform.cluster, ExistingCluster):
        return None
    return read_kubeconfig(platform.cluster, os.environ)


def _on_aws(connection: Connection) -> Reached:
    return Reached(connection.kubernetes, connection)
