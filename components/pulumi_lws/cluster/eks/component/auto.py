"""What EKS Auto Mode needs to make nodes without GPU; those with GPU are pools."""

from typing import Any

from pulumi_lws.cluster.eks import names
from pulumi_lws.cluster.eks.component.parts import RunningParts
from pulumi_lws.cluster.eks.settings import AutoCompute
from pulumi_lws.cluster.eks.system_pool import NETWORK_POLICY_SETTINGS, system_objects
from pulumi_lws.component import Manifest


def auto_nodes(parts: RunningParts, before: list[Any]) -> list[Any]:
    """Make the system pool; return what workloads wait for.

    Args:
        parts: The cluster.
        before: What nodes need to join.
    """
    if not isinstance(parts.cluster.compute, AutoCompute):
        raise TypeError("not a cluster of Auto Mode")
    ready = before
    Manifest(f"{parts.name}-network-policies", NETWORK_POLICY_SETTINGS, parts.on_kubernetes(depends_on=before))
    for manifest in system_objects(
        names.node_role(parts.cluster),
        parts.subnets,
        parts.made.cluster_security_group_id,
        parts.cluster.compute.system_cpus,
    ):
        kind = manifest["kind"].lower()
        ready = [Manifest(f"{parts.name}-system-{kind}", manifest, parts.on_kubernetes(depends_on=ready))]
    return ready
