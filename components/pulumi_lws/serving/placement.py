"""Where the pods of a deployment may run, and what of a node they take."""

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.facts.instances import InstanceType
from pulumi_lws.nodes.manifests import HUGEPAGES, HUGEPAGES_PER_NODE
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.nodes.taints import tolerations_of

SCHEDULABLE_CPU_PERCENT = 94
"""Share of a node's CPUs that its pods take at most; the rest is for the kubelet and the DaemonSets. Karpenter counts
191.45 of the 192 CPUs of a p5.48xlarge as allocatable, before DaemonSets."""

RESERVED_MILLI_CPUS = 1_500
"""What every node keeps back, however small: up to 0.6 CPUs for the kubelet (nodeadm), the rest for DaemonSets."""

SCHEDULABLE_MEMORY_PERCENT = 90
"""Share of a node's memory that its pods take at most. Karpenter counts 1,938,410 of the 2,097,152 MiB of a p5.48xlarge
as allocatable (92.4 %), before DaemonSets."""

VISIBLE_MEMORY_PERMILLE = 925
"""Share of the memory that the operating system sees, as Karpenter estimates it (``vmMemoryOverheadPercent`` 7.5 %)."""

RESERVED_MEMORY_MIB = 3_584
"""What every node keeps back, however small: 1.5 GiB for the kubelet (nodeadm, 110 pods) and 2 GiB for DaemonSets."""

NODE_LOSS_SECONDS = 60
"""How long a pod stays on a node that the cluster has lost, counted from some 50 s after its last sign of life.
Kubernetes would wait 300 s; until then LWS leaves the group alone, whose other nodes do nothing meanwhile.
https://github.com/kubernetes-sigs/lws/issues/508"""

_QUANTITY = re.compile(r"([0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2}|)")
_UNITS: Mapping[str, Fraction] = {
    "": Fraction(1),
    **{unit: Fraction(1, 1000**power) for power, unit in enumerate("mun", 1)},
    **{unit: Fraction(1000) ** power for power, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": Fraction(1024) ** power for power, unit in enumerate("KMGTPE", 1)},
}


def pod_resources(instance: InstanceType, gpus: int, sidecars: Iterable[Mapping[str, Any]] = ()) -> dict[str, str]:
    """Return what the engine of a pod with ``gpus`` GPUs takes: the pod's share of its node, EFA included.

    Shares are rounded down, so that the pods of one node never ask for more than it offers. Requests equal limits, so
    that the pod is Guaranteed; extended resources must stand in the limits anyway.

    Args:
        instance: Type of the node.
        gpus: GPUs of the pod.
        sidecars: Containers beside the engine, as the Kubernetes API has them; what they take comes off its share.
    """
    limits = [(container.get("resources") or {}).get("limits") or {} for container in sidecars]
    cpus = schedulable_milli_cpus(instance) * gpus // (instance.gpus * 1000)
    cpus -= math.ceil(sum(_amount(limit.get("cpu")) for limit in limits))
    memory = _pod_memory_gib(instance, gpus) - math.ceil(sum(_amount(limit.get("memory")) for limit in limits) / 2**30)
    resources = {"cpu": str(max(cpus, 1)), "memory": f"{max(memory, 1)}Gi", labels.GPU: str(gpus)}
    if efa := instance.efa_interfaces * gpus // instance.gpus:
        resources[labels.EFA] = str(efa)
    return resources


def shared_memory_gib(instance: InstanceType, gpus: int, whole_node_gib: int) -> int:
    """Return the size limit of ``/dev/shm`` of a pod with ``gpus`` GPUs, in GiB.

    It is the share of what a whole node's pod gets, and at most half of the pod's memory, against which it counts.
    """
    share = whole_node_gib * gpus // instance.gpus
    return max(min(share, _pod_memory_gib(instance, gpus) // 2), 1)


def schedulable_milli_cpus(instance: InstanceType) -> int:
    """Return what the pods of a node may take together after all reserves, in thousandths of a CPU."""
    return min(instance.vcpus * SCHEDULABLE_CPU_PERCENT * 10, instance.vcpus * 1000 - RESERVED_MILLI_CPUS)


def schedulable_memory_mib(instance: InstanceType) -> int:
    """Return what the pods of a node may take together after all reserves, in MiB."""
    return min(
        instance.memory_mib * SCHEDULABLE_MEMORY_PERCENT // 100,
        instance.memory_mib * VISIBLE_MEMORY_PERMILLE // 1000 - RESERVED_MEMORY_MIB,
    )


def _pod_memory_gib(instance: InstanceType, gpus: int) -> int:
    return schedulable_memory_mib(instance) * gpus // (instance.gpus * 1024)


def _amount(quantity: Any) -> Fraction:
    """Read a Kubernetes quantity; 0 where there is none, or none that can be read, which other checks report."""
    return amount(quantity) or Fraction(0)


def amount(quantity: Any) -> Fraction | None:
    """Read a Kubernetes quantity, such as ``500m``, ``1.5Gi`` or the number 2; None for anything else."""
    match = None if isinstance(quantity, bool) else _QUANTITY.fullmatch(str(quantity))
    if match is None:
        return None
    number, unit = Fraction(match[1]), match[2]
    return number * (_UNITS[unit] if unit in _UNITS else Fraction(10) ** int(unit[1:]))


def pod_share(pool: GpuPool, gpus: int) -> dict[str, Fraction]:
    """Return all that the containers of a pod with ``gpus`` GPUs may take together, in units of each resource.

    GPUs and EFA interfaces are the engine's alone: the plan counts no others. Whatever else is not named, such as the
    devices of a plugin of the user's own, is not known.
    """
    instance, whole = pool.instance, pod_resources(pool.instance, gpus)
    return {
        **{name: _amount(whole[name]) for name in ("cpu", "memory")},
        "ephemeral-storage": Fraction(schedulable_disk_bytes(pool) * gpus, instance.gpus),
        HUGEPAGES: _amount(huge_pages(pool, gpus).get(HUGEPAGES)),
        labels.GPU: Fraction(0),
        labels.EFA: Fraction(0),
    }


def schedulable_disk_bytes(pool: GpuPool) -> int:
    """Return what the pods of a node may write together: the kubelet evicts pods from a disk nine tenths full."""
    disk = pool.instance.local_storage_gb * 10**9 or pool.root_volume.size_gib * 2**30
    return disk * 9 // 10


def huge_pages(pool: GpuPool, gpus: int) -> dict[str, str]:
    """Return the huge pages of a pod with ``gpus`` GPUs: its share of the node's, where the pool has any."""
    if not pool.hugepages:
        return {}
    return {HUGEPAGES: f"{int(HUGEPAGES_PER_NODE.removesuffix('Mi')) * gpus // pool.instance.gpus}Mi"}


def tolerations(pool: GpuPool) -> list[dict[str, Any]]:
    """Return what the pods of a pool tolerate: its taints, and for a while the loss of their node."""
    lost = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    return [
        *tolerations_of(pool),
        *(
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": NODE_LOSS_SECONDS}
            for key in lost
        ),
    ]


def apart_from_other_groups() -> dict[str, Any]:
    """Return the affinity of a leader that keeps groups of *all* namespaces off its island.

    LWS's own exclusive topology ends at the namespace: two teams' leaders would share an island, use it up, and both
    wait for their workers for ever. ``mismatchLabelKeys`` excepts the pod's own group (Kubernetes 1.31).
    """
    return {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "topologyKey": labels.ISLAND,
                    "namespaceSelector": {},
                    "labelSelector": {"matchExpressions": [{"key": labels.LWS_GROUP_KEY, "operator": "Exists"}]},
                    "mismatchLabelKeys": [labels.LWS_GROUP_KEY],
                }
            ]
        }
    }
