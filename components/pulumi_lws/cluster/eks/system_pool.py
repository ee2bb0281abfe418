"""Nodes without GPU on Auto Mode, for controllers and routers.

The pools that are built into Auto Mode are left out: their node role can never be changed without a new cluster.
https://github.com/pulumi/pulumi-aws/issues/4885
"""

from collections.abc import Sequence
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.nodes.cluster import LABEL_DOMAINS, Reference

NAME = "system"
"""Name of the NodePool and the NodeClass."""

NETWORK_POLICY_SETTINGS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "amazon-vpc-cni", "namespace": "kube-system"},
    "data": {"enable-network-policy-controller": "true"},
}
"""Without it Auto Mode takes NetworkPolicies and heeds none.
https://docs.aws.amazon.com/eks/latest/userguide/auto-net-pol.html"""


def system_objects(
    node_role: str, subnets: Sequence[Reference], security_group: Reference, cpus: int
) -> list[dict[str, Any]]:
    """Return the NodeClass and the NodePool.

    Args:
        node_role: Name of the role of the nodes.
        subnets: Ids of their subnets.
        security_group: Id of the cluster's own security group.
        cpus: Most CPUs that the nodes have together.
    """
    domain = LABEL_DOMAINS["auto"]
    node_class = {
        "apiVersion": f"{domain}/v1",
        "kind": "NodeClass",
        "metadata": {"name": NAME},
        "spec": {
            "role": node_role,
            "subnetSelectorTerms": [{"id": id_} for id_ in subnets],
            "securityGroupSelectorTerms": [{"id": security_group}],
        },
    }
    requirements = {
        labels.CAPACITY_TYPE: ["on-demand"],
        "kubernetes.io/arch": ["amd64"],
        "kubernetes.io/os": ["linux"],
        f"{domain}/instance-category": ["c", "m", "r"],
    }
    node_pool = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": NAME},
        "spec": {
            "limits": {"cpu": str(cpus)},
            "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "5m"},
            "template": {
                "spec": {
                    "nodeClassRef": {"group": domain, "kind": "NodeClass", "name": NAME},
                    "requirements": [
                        *({"key": key, "operator": "In", "values": values} for key, values in requirements.items()),
                        {"key": f"{domain}/instance-generation", "operator": "Gt", "values": ["4"]},
                    ],
                }
            },
        },
    }
    return [node_class, node_pool]
