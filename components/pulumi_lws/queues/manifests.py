"""Queues as Kubernetes objects (``kueue.x-k8s.io/v1beta2``), in the order in which each finds what it names."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.nodes.taints import tolerations_of
from pulumi_lws.queues.quota import Quotas, amounts, covered, quantity
from pulumi_lws.queues.settings import ClusterQueue, Cohort, PoolQuota, Queues

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""

TOPOLOGY = "pulumi-lws-islands"
"""Name of the Topology of all pools: islands, and the nodes in them."""


def queue_objects(queues: Queues, pools: Mapping[str, GpuPool]) -> dict[str, Manifest]:
    """Return the objects of some queues by a key of each, kind after kind.

    Args:
        queues: The queues; what ``declaration_problems`` refuses gives no useful objects.
        pools: The pools of the platform.
    """
    quotas = Quotas(queues, pools)
    objects: dict[str, Manifest] = {}
    if queues.topology_aware:
        levels = [{"nodeLabel": key} for key in (labels.ISLAND, labels.HOSTNAME)]
        objects["topology"] = _object("Topology", TOPOLOGY, {"levels": levels})
    flavors = {name: _flavor(queues, name, pools[name]) for name in quotas.gpus}
    # One with a topology cannot change, so it has another name then, and with it another key.
    objects |= {f"flavor-{flavor['metadata']['name']}": flavor for flavor in flavors.values()}
    objects |= {f"priority-{name}": _priority(name, queues) for name in queues.priorities}
    objects |= {f"cohort-{name}": _cohort(name, cohort) for name, cohort in queues.cohorts.items()}
    names = {pool: flavor["metadata"]["name"] for pool, flavor in flavors.items()}
    for name, queue in queues.cluster_queues.items():
        objects[f"queue-{name}"] = _cluster_queue(name, queue, quotas, names)
    for name, queue in queues.cluster_queues.items():
        for namespace in queue.namespaces:
            local = _object("LocalQueue", queue.local_queue_of(name), {"clusterQueue": name}, namespace=namespace)
            # No name has a dot, so no two local queues have one key.
            objects[f"local-{namespace}.{queue.local_queue_of(name)}"] = _awaited(local, queue)
    return objects


def _flavor(queues: Queues, pool_name: str, pool: GpuPool) -> Manifest:
    spec: dict[str, Any] = {"nodeLabels": {labels.POOL: pool_name}, "tolerations": tolerations_of(pool)}
    if pool_name not in queues.topology_aware:
        return _object("ResourceFlavor", pool_name, spec)
    spec["topologyName"] = TOPOLOGY
    digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:8]
    return _object("ResourceFlavor", f"{pool_name}-{digest}", spec)


def _priority(name: str, queues: Queues) -> Manifest:
    priority = queues.priorities[name]
    described = {"description": priority.description} if priority.description else {}
    return {**_head("WorkloadPriorityClass", name), "value": priority.value, **described}


def _cohort(name: str, cohort: Cohort) -> Manifest:
    parent = {} if cohort.parent is None else {"parentName": cohort.parent}
    return _object("Cohort", name, {**parent, **_weight(cohort.weight)})


def _cluster_queue(name: str, queue: ClusterQueue, quotas: Quotas, flavors: Mapping[str, str]) -> Manifest:
    pools = quotas.pools_of(name)
    resources = covered(pools)
    group = {
        "coveredResources": resources,
        "flavors": [
            {
                "name": flavors[pool],
                "resources": _quota(quotas.nominal(name, pool), resources, pools[pool], queue.pools[pool]),
            }
            for pool in pools
        ],
    }
    preemption = queue.preemption
    spec = {
        "resourceGroups": [group],
        **({} if queue.cohort is None else {"cohortName": queue.cohort}),
        "queueingStrategy": queue.strategy,
        # Without a selector no namespace at all would be admitted.
        "namespaceSelector": {
            "matchExpressions": [{"key": labels.NAMESPACE_NAME, "operator": "In", "values": list(queue.namespaces)}]
        },
        "preemption": {
            "withinClusterQueue": preemption.within_cluster_queue,
            "reclaimWithinCohort": preemption.reclaim_within_cohort,
            "borrowWithinCohort": {"policy": preemption.borrow_within_cohort},
        },
        "stopPolicy": queue.stop,
        **_weight(queue.weight),
    }
    return _awaited(_object("ClusterQueue", name, spec), queue)


def _quota(
    nominal: Mapping[str, int], resources: list[str], pool: GpuPool, declared: PoolQuota
) -> list[dict[str, str]]:
    limits = {
        field: amounts(pool, gpus)
        for field, gpus in (("borrowingLimit", declared.borrowing_gpus), ("lendingLimit", declared.lending_gpus))
        if gpus is not None
    }
    return [
        {
            "name": name,
            "nominalQuota": quantity(name, nominal[name]),
            **{field: quantity(name, limit[name]) for field, limit in limits.items()},
        }
        for name in resources
    ]


def _weight(weight: float | None) -> dict[str, Any]:
    return {} if weight is None else {"fairSharing": {"weight": f"{weight:.3f}".rstrip("0").removesuffix(".")}}


def _awaited(manifest: Manifest, queue: ClusterQueue) -> Manifest:
    """Let an update wait until Kueue has taken a queue up; one that is stopped is never active."""
    if queue.stop == "None":
        manifest["metadata"]["annotations"] = {labels.PULUMI_WAIT_FOR: "condition=Active"}
    return manifest


def _object(kind: str, name: str, spec: Mapping[str, Any], *, namespace: str | None = None) -> Manifest:
    return {**_head(kind, name, namespace=namespace), "spec": dict(spec)}


def _head(kind: str, name: str, *, namespace: str | None = None) -> Manifest:
    place = {} if namespace is None else {"namespace": namespace}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name, **place}}
