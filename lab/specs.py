"""Objects around every bound of the workload APIs, for comparing our verdicts with the API server's.

The same seed makes the same objects with every version of Python: only ``randrange`` is asked.
"""

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Manifest = dict[str, Any]
Choices = Sequence[Any]


class _Absent:
    """A field that is left out; the same after a copy."""


ABSENT = _Absent()

_POD = {"spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]}}

_NAMES: Choices = ["llm", "a", "a" * 52, "a" * 63, "a" * 64, "70b-vllm", "vllm.prod", "Vllm", "llm-", "-llm", "l_m", ""]
_AMOUNTS: Choices = [
    0,
    1,
    2,
    3,
    5,
    "0%",
    "1%",
    "10%",
    "25%",
    "50%",
    "99%",
    "100%",
    "101%",
    "-5%",
    "5",
    "five",
    "%",
    "",
    -1,
]
_STRANGE: Choices = [None, "1", 1.5, True, [], {}]
_REPLICAS: Choices = [ABSENT, 0, 1, 2, 3, 4, 7, 10, 100, 1_000_000, 1_000_001, -1, 2**31, *_STRANGE]
_SIZES: Choices = [ABSENT, 0, 1, 2, 3, 4, 5, 8, 9, 16, 2147, 2148, 3000, 2**31 - 1, -1, *_STRANGE]
_SUBGROUP_SIZES: Choices = [ABSENT, 0, 1, 2, 3, 4, 5, 8, 9, -1, "2"]

_TEMPLATES: Choices = [
    _POD,
    {"metadata": {"labels": {"role": "x"}, "annotations": {"a": "b"}}, **_POD},
    {"metadata": {"name": "x", "namespace": "y"}, **_POD},
    {"metadata": {"generateName": "x"}, **_POD},
    {"metadata": {"labels": {"role": 1}}, **_POD},
    {"spec": {}},
    {},
    {"spec": None},
]

_LEADER_WORKER_TEMPLATE: dict[str, Choices] = {
    "size": _SIZES,
    "leaderTemplate": [ABSENT, None, *_TEMPLATES],
    "workerTemplate": [ABSENT, None, *_TEMPLATES],
    "restartPolicy": [
        "RecreateGroupOnPodRestart",
        "RecreateGroupAfterStart",
        "None",
        "Default",
        "Always",
        "",
        None,
    ],
    "subGroupPolicy": [
        None,
        *({"subGroupSize": size} if size is not ABSENT else {} for size in _SUBGROUP_SIZES),
        *(
            {"subGroupSize": size, "subGroupPolicyType": kind}
            for size in (1, 2, 3, 4)
            for kind in ("LeaderWorker", "LeaderExcluded", "LeaderOnly")
        ),
    ],
    "volumeClaimTemplates": [
        [],
        [{"metadata": {"name": "cache"}, "spec": {"accessModes": ["ReadWriteOnce"]}}],
        {},
        None,
    ],
    "persistentVolumeClaimRetentionPolicy": [
        {},
        {"whenDeleted": "Retain", "whenScaled": "Delete"},
        {"whenDeleted": "Keep"},
        {"whenDeleted": 1},
        None,
    ],
    "unknownField": [1],
}

_ROLLOUT: dict[str, Choices] = {
    "maxUnavailable": [ABSENT, *_AMOUNTS, *_STRANGE],
    "maxSurge": [ABSENT, *_AMOUNTS, *_STRANGE],
    "partition": [ABSENT, 0, 1, 9, -1, *_STRANGE],
}

_SPEC: dict[str, Choices] = {
    "replicas": _REPLICAS,
    "startupPolicy": ["LeaderCreated", "LeaderReady", "LeaderStarted", "", None],
    "networkConfig": [
        {"subdomainPolicy": "Shared"},
        {"subdomainPolicy": "UniquePerReplica"},
        {"subdomainPolicy": "PerGroup"},
        {},
        None,
    ],
    "unknownField": [1],
}

_ANNOTATIONS: Choices = [
    {"leaderworkerset.sigs.k8s.io/exclusive-topology": "zone"},
    {"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology": "zone"},
    {"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology": ""},
    {"note": 1},
    {"note": None},
]

_ROLE_NAMES: Choices = ["prefill", "decode", "Prefill_1", "a" * 63, "a" * 64, "1", "-a", "", "a.b"]
_ROLE_COUNTS: Choices = [1, 2, 2, 2, 3, 10, 11]
_SCALINGS: Choices = [ABSENT, {"mode": "Static"}, {"mode": "External"}, {"mode": "Auto"}, {}]
_SLICES: Choices = [ABSENT, 1, 2, 100, 101, 0, -1]
_PLACEMENTS: Choices = [
    ABSENT,
    {},
    *(
        {"type": kind, **extra}
        for kind in ("None", "ExclusiveSlice", "ExclusiveTopology", "Near")
        for extra in ({}, {"topology": "zone"}, {"topology": ""})
    ),
]


def leader_worker_sets(seed: int, count: int) -> list[Manifest]:
    """Return LeaderWorkerSets of which a good part is valid, and most others have one thing wrong."""
    picker = _Picker(seed)
    return [_leader_worker_set(picker) for _ in range(count)]


def disaggregated_sets(seed: int, count: int) -> list[Manifest]:
    """Return DisaggregatedSets of which a good part is valid, and most others have one thing wrong."""
    picker = _Picker(seed)
    return [_disaggregated_set(picker) for _ in range(count)]


class _Picker:
    """Picks from choices, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - it shall be reproducible

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def one(self, choices: Choices) -> Any:
        return copy.deepcopy(choices[self.below(len(choices))])

    def happens(self, percent: int) -> bool:
        return self.below(100) < percent

    def change(self, target: Manifest, choices: dict[str, Choices]) -> None:
        """Give one field of the target another value, or take it away."""
        field = list(choices)[self.below(len(choices))]
        value = self.one(choices[field])
        if isinstance(value, _Absent):
            target.pop(field, None)
        else:
            target[field] = value


def _leader_worker_set(picker: _Picker) -> Manifest:
    metadata: Manifest = {"name": "llm", "namespace": "default"}
    spec = _valid_spec(picker)
    changes: list[Callable[[], None]] = [
        lambda: picker.change(spec, _SPEC),
        lambda: picker.change(spec["leaderWorkerTemplate"], _LEADER_WORKER_TEMPLATE),
        lambda: picker.change(spec["leaderWorkerTemplate"], _LEADER_WORKER_TEMPLATE),
        lambda: _change_rollout(picker, spec),
        lambda: _change_rollout(picker, spec),
        lambda: metadata.update(name=picker.one(_NAMES)),
        lambda: metadata.update(annotations=picker.one(_ANNOTATIONS)),
    ]
    for _ in range(picker.below(4)):
        changes[picker.below(len(changes))]()
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": metadata,
        "spec": spec,
    }


def _valid_spec(picker: _Picker) -> Manifest:
    template: Manifest = {"size": picker.one([1, 2, 4, 5, 8]), "workerTemplate": copy.deepcopy(_POD)}
    if picker.happens(30):
        template["leaderTemplate"] = copy.deepcopy(_POD)
    if picker.happens(30):
        template["subGroupPolicy"] = {"subGroupSize": picker.one([1, 2, 4])}
    return {"replicas": picker.one([0, 1, 2, 4, 10]), "leaderWorkerTemplate": template}


def _change_rollout(picker: _Picker, spec: Manifest) -> None:
    if picker.happens(10):
        spec["rolloutStrategy"] = picker.one([{}, None, {"type": "Recreate"}, {"type": "RollingUpdate"}])
        return
    strategy = spec.get("rolloutStrategy") or {}
    configuration = strategy.get("rollingUpdateConfiguration", {})
    picker.change(configuration, _ROLLOUT)
    spec["rolloutStrategy"] = {"type": "RollingUpdate", "rollingUpdateConfiguration": configuration}


def _disaggregated_set(picker: _Picker) -> Manifest:
    roles = list(_roles(picker))
    spec: Manifest = {"roles": roles}
    changes: list[Callable[[], None]] = [
        lambda: picker.change(spec, {"slices": _SLICES}),
        lambda: picker.change(spec, {"placementPolicy": _PLACEMENTS}),
        lambda: picker.change(_any(picker, roles), {"name": _ROLE_NAMES}),
        lambda: picker.change(_any(picker, roles), {"scaling": _SCALINGS}),
        lambda: picker.change(_any(picker, roles)["spec"], _SPEC),
        lambda: _change_rollout(picker, _any(picker, roles)["spec"]),
        lambda: _any(picker, roles).update(metadata={"annotations": picker.one(_ANNOTATIONS)}),
    ]
    for _ in range(picker.below(4)):
        changes[picker.below(len(changes))]()
    return {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": {"name": "llm", "namespace": "default"},
        "spec": spec,
    }


def _roles(picker: _Picker) -> Iterator[Manifest]:
    for number in range(picker.one(_ROLE_COUNTS)):
        template = {"size": picker.one([1, 2]), "workerTemplate": copy.deepcopy(_POD)}
        yield {"name": f"role-{number}", "spec": {"replicas": 1, "leaderWorkerTemplate": template}}


def _any(picker: _Picker, roles: list[Manifest]) -> Manifest:
    return roles[picker.below(len(roles))]
