"""Half an island: a leader holds its node, and a worker of its group waits for another one that does not come.

Nobody gets such a group out by itself. LWS binds the workers to their leader's island and never picks again; Karpenter
asks for the missing node again and again, and prefers that island for the next leader too as long as its NodePool may
grow. What to do about it stands in ``docs/troubleshooting.md``; it was tried with real Karpenter.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pulumi_lws.facts import labels

PATIENCE_MINUTES = 15
"""How long a worker may wait for its node: as long as Karpenter gives an instance to join the cluster."""


@dataclass(frozen=True)
class HalfIsland:
    """A group that has only a part of its island.

    Attributes:
        namespace: Its namespace.
        leader: Its leader, which holds a node.
        island: The island.
        waiting: Its workers that have waited too long, by name.
    """

    namespace: str
    leader: str
    island: str
    waiting: tuple[str, ...]


def half_islands(pods: Iterable[Mapping[str, Any]], now: datetime) -> list[HalfIsland]:
    """Return the groups on half an island.

    Args:
        pods: Pods of any namespaces, as the Kubernetes API has them.
        now: The time, with its zone.
    """
    leaders: dict[tuple[str, str], str] = {}
    waiting: dict[tuple[str, str, str], list[str]] = {}
    for pod in pods:
        metadata, spec = pod["metadata"], pod["spec"]
        key = metadata.get("labels", {}).get(labels.LWS_GROUP_KEY)
        if key is None or "deletionTimestamp" in metadata:
            continue
        group, has_node = (metadata["namespace"], key), bool(spec.get("nodeName"))
        if metadata["labels"].get(labels.LWS_WORKER_INDEX) == "0":
            if has_node:
                leaders[group] = metadata["name"]
        # LWS writes the leader's island into its workers.
        elif (island := spec.get("nodeSelector", {}).get(labels.ISLAND)) and not has_node:
            age = now - datetime.fromisoformat(metadata["creationTimestamp"])
            if age >= timedelta(minutes=PATIENCE_MINUTES):
                waiting.setdefault((*group, island), []).append(metadata["name"])
    return [
        HalfIsland(namespace, leader, island, tuple(sorted(workers)))
        for (namespace, key, island), workers in sorted(waiting.items())
        if (leader := leaders.get((namespace, key)))
    ]
