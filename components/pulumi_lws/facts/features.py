"""What a version of LWS brought to its APIs: fields and values that an older server does not have.

Sources: the CRDs of LWS 0.9.0 and 0.10.0, and its release notes for what 0.7 and 0.8 brought.
"""

from dataclasses import dataclass

_LEADER_WORKER_SET = "leaderworkerset.x-k8s.io/LeaderWorkerSet"
_DISAGGREGATED_SET = "disaggregatedset.x-k8s.io/DisaggregatedSet"
_ROLE_SCALER = "disaggregatedset.x-k8s.io/DisaggregatedSetRoleScaler"


@dataclass(frozen=True)
class Feature:
    """A kind, a field or a value that exists since some version.

    Attributes:
        kind: Kind with its group.
        path: Path of the field; ``[]`` steps through a list; empty for the kind itself.
        since: First version of LWS that has it.
        older: What an older server does with it.
        instead: What to do without it.
        value: The value that is new; None where the field itself is.
    """

    kind: str
    path: tuple[str, ...]
    since: tuple[int, int]
    older: str
    instead: str
    value: str | None = None


_PRUNED = "refuses the field, or silently drops it where the client does not ask for strict validation"
_NO_KIND = "has no such kind"

FEATURES: tuple[Feature, ...] = (
    Feature(
        _LEADER_WORKER_SET,
        ("spec", "leaderWorkerTemplate", "restartPolicy"),
        (0, 9),
        "refuses the value",
        "write RecreateGroupOnPodRestart and pull images before the pods start",
        value="RecreateGroupAfterStart",
    ),
    Feature(
        _LEADER_WORKER_SET,
        ("spec", "leaderWorkerTemplate", "volumeClaimTemplates"),
        (0, 8),
        _PRUNED,
        "mount a claim that exists already",
    ),
    Feature(
        _LEADER_WORKER_SET,
        ("spec", "leaderWorkerTemplate", "persistentVolumeClaimRetentionPolicy"),
        (0, 8),
        _PRUNED,
        "remove it",
    ),
    Feature(
        _LEADER_WORKER_SET,
        ("spec", "rolloutStrategy", "rollingUpdateConfiguration", "partition"),
        (0, 7),
        _PRUNED,
        "remove it",
    ),
    Feature(_DISAGGREGATED_SET, (), (0, 9), _NO_KIND, "write one LeaderWorkerSet for each role"),
    Feature(_DISAGGREGATED_SET, ("spec", "slices"), (0, 10), _PRUNED, "write one DisaggregatedSet for each slice"),
    Feature(_DISAGGREGATED_SET, ("spec", "placementPolicy"), (0, 10), _PRUNED, "remove it"),
    Feature(_DISAGGREGATED_SET, ("spec", "roles", "[]", "scaling"), (0, 10), _PRUNED, "remove it and set replicas"),
    Feature(_ROLE_SCALER, (), (0, 10), _NO_KIND, "remove it: the controller makes it"),
)
"""Every one that our rules check, by kind."""
