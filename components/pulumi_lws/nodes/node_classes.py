"""Node classes: what a node of a group is made of, in the words of each mode."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.nodes.capacity import CapacityBlock, Reservation
from pulumi_lws.nodes.cluster import Mode, NodeCluster
from pulumi_lws.nodes.groups import NodeGroup, placement_group_name
from pulumi_lws.nodes.interfaces import network_interfaces
from pulumi_lws.nodes.settings import GpuPool, RootVolume

_KINDS: Mapping[Mode, tuple[str, str, str]] = {
    "auto": ("eks.amazonaws.com", "v1", "NodeClass"),
    "karpenter": ("karpenter.k8s.aws", "v1", "EC2NodeClass"),
    "lab": ("karpenter.kwok.sh", "v1alpha1", "KWOKNodeClass"),
}

CLUSTER_TAG = "pulumi-lws/cluster"
"""AWS tag that names the cluster of instances, placement groups and reservations that we make."""


def class_reference(group: NodeGroup, mode: Mode) -> dict[str, str]:
    """Return the ``nodeClassRef`` of a group."""
    api_group, _, kind = _KINDS[mode]
    return {"group": api_group, "kind": kind, "name": group.name}


def node_class(name: str, pool: GpuPool, group: NodeGroup, cluster: NodeCluster) -> dict[str, Any]:
    """Return the node class of a group."""
    api_group, version, kind = _KINDS[cluster.mode]
    return {
        "apiVersion": f"{api_group}/{version}",
        "kind": kind,
        "metadata": {"name": group.name, "labels": {labels.POOL: name}},
        "spec": {**own_spec(name, pool, group, cluster), **({} if cluster.mode == "lab" else pool.node_class)},
    }


def own_spec(name: str, pool: GpuPool, group: NodeGroup, cluster: NodeCluster) -> dict[str, Any]:
    """Return what we say in a group's node class, without the stack file's further fields."""
    if cluster.mode == "lab":
        return {}
    spec: dict[str, Any] = {
        "role": cluster.node_role,
        "subnetSelectorTerms": _subnets(pool, cluster),
        "securityGroupSelectorTerms": [{"id": id_} for id_ in cluster.security_groups]
        or [{"tags": cluster.discovery_tags}],
        "tags": aws_tags(name, pool, group, cluster),
    }
    if pool.is_placed:
        spec["placementGroupSelector"] = {"name": placement_group_name(cluster, group)}
    if group.capacity_type == "reserved":
        spec["capacityReservationSelectorTerms"] = [_reservation(pool, group, cluster)]
    return spec | (_auto(pool) if cluster.mode == "auto" else _karpenter(pool, cluster))


def aws_tags(name: str, pool: GpuPool, group: NodeGroup, cluster: NodeCluster) -> dict[str, str]:
    """Return the AWS tags of what belongs to a group."""
    own = {CLUSTER_TAG: cluster.name, labels.POOL: name}
    if group.is_island:
        own[labels.ISLAND] = group.name
    return {**cluster.tags, **pool.tags, **own}


def reservation_tags(group: NodeGroup, cluster: NodeCluster) -> dict[str, str]:
    """Return the tags by which a node class finds the reservation that is made with its pool."""
    return {CLUSTER_TAG: cluster.name, labels.ISLAND if group.is_island else labels.POOL: group.name}


def _reservation(pool: GpuPool, group: NodeGroup, cluster: NodeCluster) -> dict[str, Any]:
    if isinstance(pool.capacity, Reservation | CapacityBlock) and pool.capacity.id is not None:
        return {"id": pool.capacity.id}
    return {"tags": reservation_tags(group, cluster)}


def _subnets(pool: GpuPool, cluster: NodeCluster) -> list[dict[str, Any]]:
    zones = cluster.subnets if pool.zone is None else {pool.zone: cluster.subnets.get(pool.zone, ())}
    ids = [{"id": id_} for subnets in zones.values() for id_ in subnets]
    # The zone itself is a requirement of the NodePool.
    return ids or [{"tags": cluster.discovery_tags}]


def _auto(pool: GpuPool) -> dict[str, Any]:
    volume = pool.root_volume
    storage = {
        "size": f"{volume.size_gib}Gi",
        "iops": volume.iops,
        "throughput": volume.throughput,
        "kmsKeyID": volume.kms_key,
    }
    # With several interfaces EC2 refuses a public address.
    networking: dict[str, Any] = {"associatePublicIPAddress": False}
    if pool.efa_mode == "explicit":
        networking["networkInterfaces"] = network_interfaces(pool.instance, "auto")
    return {
        "ephemeralStorage": {field: value for field, value in storage.items() if value is not None},
        "advancedNetworking": networking,
    }


def _karpenter(pool: GpuPool, cluster: NodeCluster) -> dict[str, Any]:
    image = pool.image or cluster.image
    spec: dict[str, Any] = {
        "amiSelectorTerms": [{"alias": image}],
        "blockDeviceMappings": _block_devices(image, pool.root_volume),
        "metadataOptions": {
            "httpEndpoint": "enabled",
            "httpProtocolIPv6": "disabled",
            "httpPutResponseHopLimit": pool.metadata_hop_limit,
            "httpTokens": "required",
        },
        # With several interfaces EC2 refuses a public address.
        "associatePublicIPAddress": False,
    }
    if pool.instance.local_storage_gb:
        spec["instanceStorePolicy"] = "RAID0"
    if pool.efa_mode == "explicit":
        spec["networkInterfaces"] = network_interfaces(pool.instance, "karpenter")
    return spec


def _block_devices(image: str, volume: RootVolume) -> list[dict[str, Any]]:
    disk = {
        "volumeSize": f"{volume.size_gib}Gi",
        "volumeType": "gp3",
        "iops": volume.iops,
        "throughput": volume.throughput,
        "encrypted": True,
        "kmsKeyID": volume.kms_key,
        "deleteOnTermination": True,
    }
    disk = {field: value for field, value in disk.items() if value is not None}
    if not image.startswith("bottlerocket@"):
        return [{"deviceName": "/dev/xvda", "rootVolume": True, "ebs": disk}]
    # Its first volume holds the system alone, in Karpenter's own size; pods and images live on the second.
    system = {
        field: disk[field] for field in ("volumeType", "encrypted", "kmsKeyID", "deleteOnTermination") if field in disk
    }
    return [
        {"deviceName": "/dev/xvda", "ebs": {"volumeSize": "4Gi", **system}},
        {"deviceName": "/dev/xvdb", "rootVolume": True, "ebs": disk},
    ]
