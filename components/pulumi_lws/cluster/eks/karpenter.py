"""What the charts of Karpenter are told."""

from typing import Any

from pulumi_lws.cluster.eks import names
from pulumi_lws.cluster.eks.settings import EksClusterArgs, KarpenterCompute
from pulumi_lws.cluster.network.settings import is_isolated

NAMESPACE = "kube-system"
"""Namespace of the controller; its pods have priority there."""
SERVICE_ACCOUNT = "karpenter"
"""Service account of the controller, which its role is bound to."""


def controller_values(cluster: EksClusterArgs) -> dict[str, Any]:
    """Return the values of the chart ``karpenter``.

    All are known before the cluster exists, so that a preview shows what becomes of them.
    """
    overlays = isinstance(cluster.compute, KarpenterCompute) and cluster.compute.node_overlays
    return {
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        "settings": {
            # Karpenter asks EKS for the endpoint itself.
            "clusterName": cluster.name,
            "interruptionQueue": names.queue(cluster),
            # Prices are told by no endpoint in a VPC.
            "isolatedVPC": is_isolated(cluster.network),
            "featureGates": {"staticCapacity": True, "nodeOverlay": overlays},
        },
    }
