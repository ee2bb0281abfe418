"""What Kueue refuses to change of a workload in a queue, so that a new value means a new object.

Source: the webhooks of Kueue 0.19 (``pkg/controller/jobs/{leaderworkerset,deployment}``, ``pkg/util/pod``).
"""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts import labels

_SHAPE = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "runtimeClassName",
    "priority",
    "topologySpreadConstraints",
    "overhead",
    "resourceClaims",
    "resources",
)
"""Fields of a pod that quota and flavors follow from, beside those of its containers."""


def membership(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the queue of a workload, and whether it names a priority.

    Kueue refuses another queue while a pod is ready, and none at all; a priority may change, but not go, and come only
    while no pod is ready.
    """
    declared = manifest["metadata"].get("labels", {})
    return {"queue": declared.get(labels.KUEUE_QUEUE), "hasPriority": labels.KUEUE_PRIORITY in declared}


def counted_groups(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Kueue counted the quota of a LeaderWorkerSet's groups by; nothing for one that is in no queue."""
    member = membership(manifest)
    if member["queue"] is None:
        return {}
    group = manifest["spec"]["leaderWorkerTemplate"]
    templates = {name: _shape(group[name]["spec"]) for name in ("leaderTemplate", "workerTemplate") if name in group}
    return {"kueue": {**member, "size": group["size"], **templates}}


def _shape(spec: Mapping[str, Any]) -> dict[str, Any]:
    containers = {
        kind: [{name: container.get(name) for name in ("resources", "ports")} for container in spec.get(kind) or ()]
        for kind in ("initContainers", "containers")
    }
    return containers | {name: spec.get(name) for name in _SHAPE}
