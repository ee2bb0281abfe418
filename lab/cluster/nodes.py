"""Fake nodes: what ``--nodes`` asks for, as Node objects that kwok keeps alive.

A fake node offers what Karpenter expects of the real one, not the catalogue's round numbers: a pod that asks for the
whole memory of the instance type stays pending here too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lab.errors import LabError
from pulumi_lws.facts import labels
from pulumi_lws.facts.instances import INSTANCE_TYPES, InstanceType

REGION = "us-east-2"
ZONE = "us-east-2a"
FAKE = ("kwok.x-k8s.io/node", "fake")
"""Annotation of the nodes that kwok manages."""

PODS = 110

SYSTEM_NODE = "system"
"""Name of the one node without GPUs; those of pools end in a number."""

_SYSTEM_TYPE = ("m7i.4xlarge", 16, 64 * 1024)
"""Its instance type, vCPUs and MiB of memory."""

_SPEC = re.compile(
    r"(?:(?P<pool>[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?)=)?(?P<type>[a-z0-9.-]+):(?:(?P<islands>[1-9]\d{0,2})x)?(?P<nodes>[1-9]\d{0,3})"
)


@dataclass(frozen=True)
class NodeGroup:
    """Nodes of one pool.

    Attributes:
        pool: Name of the pool, first part of the nodes' names.
        instance: What each node is.
        islands: Number of islands; 0 for a plain pool.
        nodes: Nodes of each island, or of the whole plain pool.
    """

    pool: str
    instance: InstanceType
    islands: int
    nodes: int


def parse(specs: Iterable[str]) -> list[NodeGroup]:
    """Read values of ``--nodes``: ``[POOL=]TYPE:[ISLANDSx]NODES``.

    Raises:
        LabError: A value has another form, names an unknown type, or two values name one pool.
    """
    groups = [_parse_one(spec) for spec in specs]
    twice = [pool for pool, count in Counter(group.pool for group in groups).items() if count > 1]
    if twice:
        raise LabError(f"Two values of --nodes name the pool {twice[0]}.", "Give each its own name: POOL=TYPE:NODES.")
    return groups


def manifests(groups: Iterable[NodeGroup]) -> list[dict[str, Any]]:
    """The Node objects of some pools, in a stable order."""
    nodes = []
    for group in groups:
        for island in range(group.islands) or [None]:
            first = group.pool if island is None else f"{group.pool}-{island}"
            nodes += [_manifest(group, f"{first}-{index}", island) for index in range(group.nodes)]
    return nodes


def system_manifest() -> dict[str, Any]:
    """The node for what needs no GPU, such as routers: every cluster has some, and GPU nodes keep it off by a taint."""
    name, cpus, memory_mib = _SYSTEM_TYPE
    resources = {"cpu": str(cpus), "memory": f"{memory_mib}Mi", "pods": str(PODS), "ephemeral-storage": "100Gi"}
    return {
        **_node(SYSTEM_NODE, name, {}, []),
        "status": {"capacity": resources, "allocatable": resources},
    }


def allocatable(instance: InstanceType) -> dict[str, str]:
    """What pods can have of one node, as Karpenter estimates it before it has seen one."""
    return _resources(
        instance,
        milli_cpu=instance.vcpus * 1000 - _reserved_milli_cpu(instance.vcpus),
        # kubelet's own reserve for each pod slot (nodeadm) and its eviction threshold.
        memory_mib=_visible_memory_mib(instance) - (255 + 11 * PODS) - 100,
    )


def capacity(instance: InstanceType) -> dict[str, str]:
    """What one node reports to have."""
    return _resources(instance, milli_cpu=instance.vcpus * 1000, memory_mib=_visible_memory_mib(instance))


def _parse_one(spec: str) -> NodeGroup:
    match = _SPEC.fullmatch(spec)
    if not match:
        raise LabError(
            f"--nodes {spec!r} cannot be read.",
            "Write [POOL=]TYPE:[ISLANDSx]NODES, such as p5=p5.48xlarge:1x2 (one island of two nodes)"
            " or g6e.12xlarge:3.",
        )
    instance = INSTANCE_TYPES.get(match["type"])
    if not instance:
        raise LabError(
            f"--nodes {spec!r} names an instance type that the catalogue does not have.",
            f"Choose one of {', '.join(INSTANCE_TYPES)}.",
        )
    return NodeGroup(
        pool=match["pool"] or instance.name.replace(".", "-"),
        instance=instance,
        islands=int(match["islands"] or 0),
        nodes=int(match["nodes"]),
    )


def _manifest(group: NodeGroup, name: str, island: int | None) -> dict[str, Any]:
    instance = group.instance
    own_labels = {labels.POOL: group.pool}
    if island is not None:
        own_labels[labels.ISLAND] = f"{group.pool}-{island}"
    taints = [{"key": labels.GPU, "value": "true", "effect": "NoSchedule"}] if instance.gpus else []
    return {
        **_node(name, instance.name, own_labels, taints),
        "status": {
            "capacity": capacity(instance),
            "allocatable": allocatable(instance),
        },
    }


def _node(name: str, instance_type: str, own_labels: Mapping[str, str], taints: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": dict([FAKE]),
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/os": "linux",
                labels.HOSTNAME: name,
                labels.INSTANCE_TYPE: instance_type,
                labels.REGION: REGION,
                labels.ZONE: ZONE,
                **own_labels,
            },
        },
        "spec": {"providerID": f"kwok://{name}", "taints": taints},
    }


def _resources(instance: InstanceType, milli_cpu: int, memory_mib: int) -> dict[str, str]:
    resources = {
        "cpu": f"{milli_cpu}m",
        "memory": f"{memory_mib}Mi",
        "pods": str(PODS),
        # With the instance store as one RAID; a node without one has the default root volume.
        "ephemeral-storage": f"{instance.local_storage_gb}G" if instance.local_storage_gb else "20Gi",
        labels.GPU: str(instance.gpus),
        labels.EFA: str(instance.efa_interfaces),
    }
    return {name: quantity for name, quantity in resources.items() if quantity != "0"}


def _visible_memory_mib(instance: InstanceType) -> int:
    """Memory that the operating system sees: Karpenter takes 7.5 % off (``vmMemoryOverheadPercent``)."""
    return instance.memory_mib * 925 // 1000


def _reserved_milli_cpu(vcpus: int) -> int:
    """CPU that nodeadm reserves for kubelet: 6 % of the first core, 1 % of the second, then 0.5 % and 0.25 %."""
    shares = [60, 10, 5, 5]
    return sum(shares[:vcpus]) + max(0, vcpus - len(shares)) * 25 // 10
