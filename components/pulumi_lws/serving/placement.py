"""Where the pods of a deployment may run, and what of a node they take."""

from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.facts.instances import InstanceType

SCHEDULABLE_CPU_PERCENT = 94
"""Share of a node's CPUs that whole-node pods take; the rest is for the kubelet and the DaemonSets. Karpenter counts
191.45 of the 192 CPUs of a p5.48xlarge as allocatable, before DaemonSets."""

SCHEDULABLE_MEMORY_PERCENT = 90
"""Share of a node's memory that whole-node pods take. Karpenter counts 1,938,410 of the 2,097,152 MiB of a p5.48xlarge
as allocatable (92.4 %), before DaemonSets."""

SHARED_MEMORY_GIB = 64
"""Size limit of ``/dev/shm``; it counts against the pod's memory. The container runtime's own 64 MB break NCCL."""


def pod_resources(instance: InstanceType, gpus: int) -> dict[str, str]:
    """Return what a pod with ``gpus`` GPUs takes: its share of the node, EFA included.

    Requests equal limits, so that the pod is Guaranteed; extended resources must stand in the limits anyway.
    """
    cpus = instance.vcpus * gpus * SCHEDULABLE_CPU_PERCENT // (100 * instance.gpus)
    memory_gib = instance.memory_mib * gpus * SCHEDULABLE_MEMORY_PERCENT // (100 * instance.gpus * 1024)
    resources = {"cpu": str(cpus), "memory": f"{memory_gib}Gi", labels.GPU: str(gpus)}
    if efa := instance.efa_interfaces * gpus // instance.gpus:
        resources[labels.EFA] = str(efa)
    return resources


def tolerations() -> list[dict[str, str]]:
    """Return the toleration of the taint that keeps everything else off GPU nodes."""
    return [{"key": labels.GPU, "operator": "Exists", "effect": "NoSchedule"}]


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
