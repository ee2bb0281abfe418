"""What an autoscaler aims at: the objects of LWS that have a scale."""

LEADER_WORKER_SET = "leaderworkerset.x-k8s.io/v1"
"""The one version of the LeaderWorkerSet API."""

DISAGGREGATED_SET = "disaggregatedset.x-k8s.io/v1"
"""The one version of the DisaggregatedSet API."""


def leader_worker_set(name: str) -> dict[str, str]:
    """Return the scale target of a LeaderWorkerSet: copies are groups."""
    return {"apiVersion": LEADER_WORKER_SET, "kind": "LeaderWorkerSet", "name": name}


def role_scaler(name: str, role: str) -> dict[str, str]:
    """Return the scale target of one role of the DisaggregatedSet ``name``, whose scaling mode is External."""
    return {"apiVersion": DISAGGREGATED_SET, "kind": "DisaggregatedSetRoleScaler", "name": f"{name}-{role}"}
