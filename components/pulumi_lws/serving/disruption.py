"""How many groups a drain of nodes may take at a time: one.

Evicting any pod of a group makes LWS recreate the whole group, so a budget of one *pod* is a budget of one *group*: the
other pods of the group go by deletion, which no budget holds up, and until the group serves again its pods count as
missing. A budget of a group's size would let the second pod that is evicted be one of another group.
"""

from collections.abc import Mapping
from typing import Any


def disruption_budget(
    name: str, namespace: str, selector: Mapping[str, str], *, pods_per_group: int = 1, groups: int | None = None
) -> dict[str, Any]:
    """Render the PodDisruptionBudget of one role. A pod in two budgets cannot be evicted at all, so a role has one.

    Args:
        name: Name of the budget.
        namespace: Namespace of the pods.
        selector: Labels of all pods of the role, leaders and workers.
        pods_per_group: Pods of one copy; 1 for a Deployment.
        groups: Copies, all slices of a DisaggregatedSet counted. None where an autoscaler decides.
    """
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            **_bound(pods_per_group, groups),
            "selector": {"matchLabels": dict(selector)},
            # A group that loads, or hangs while loading, serves nobody: a drain need not wait for it.
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }


def _bound(pods_per_group: int, groups: int | None) -> dict[str, int]:
    """Count what must stay where that is known, else what may go.

    ``maxUnavailable`` counts from the scale of the StatefulSets whose pods there are. A group that is being made again
    has only its leader, which is ready for some seconds so that LWS makes the workers: in that time nothing seems to be
    missing, and a drain that waits takes the next group. A fixed number of pods does not fall for that. Where an
    autoscaler changes it there is none, so there drains must wait for one another.
    """
    if groups is None or pods_per_group == 1:
        return {"maxUnavailable": 1}
    return {"minAvailable": max(groups * pods_per_group - 1, 0)}
