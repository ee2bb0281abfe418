from typing import Any

from lab.cluster.kinds import KINDS, Kind, with_status_writer
from lab.cluster.statuses import wanted_status

BY_KIND = {kind.kind: kind for kind in KINDS}
NOW = "2026-01-02T03:04:05Z"
LATER = "2026-01-02T09:09:09Z"


def _object(generation: int = 1, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "one", "generation": generation}, "spec": spec}


def _status(kind: Kind, subject: dict[str, Any], now: str = NOW) -> dict[str, Any]:
    status = wanted_status(kind, subject, now)
    assert status is not None
    return status


def test_a_leader_worker_set_is_available_with_all_its_replicas() -> None:
    assert _status(BY_KIND["LeaderWorkerSet"], _object(generation=3, replicas=2)) == {
        "conditions": [
            {
                "type": "Available",
                "status": "True",
                "reason": "AllGroupsReady",
                "message": "All replicas are ready",
                "lastTransitionTime": NOW,
            },
            {
                "type": "Progressing",
                "status": "False",
                "reason": "AllGroupsReady",
                "message": "",
                "lastTransitionTime": NOW,
            },
            {
                "type": "UpdateInProgress",
                "status": "False",
                "reason": "AllGroupsReady",
                "message": "",
                "lastTransitionTime": NOW,
            },
        ],
        "hpaPodSelector": "leaderworkerset.sigs.k8s.io/name=one,leaderworkerset.sigs.k8s.io/worker-index=0",
        "observedGeneration": 3,
        "readyReplicas": 2,
        "replicas": 2,
        "updatedReplicas": 2,
    }


def test_an_object_that_has_its_status_is_left_alone() -> None:
    for kind in with_status_writer(frozenset()):
        subject = _object(parentRefs=[{"name": "gateway"}])
        subject["status"] = _status(kind, subject)
        assert wanted_status(kind, subject, LATER) is None, kind.name


def test_a_new_generation_is_observed_and_conditions_that_stay_keep_their_time() -> None:
    kind = BY_KIND["NodePool"]
    subject = _object(generation=1)
    subject["status"] = _status(kind, subject)
    subject["metadata"]["generation"] = 2
    assert _status(kind, subject, LATER) == {
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "Ready",
                "message": "",
                "observedGeneration": 2,
                "lastTransitionTime": NOW,
            }
        ]
    }


def test_a_condition_that_changes_gets_a_new_time() -> None:
    kind = BY_KIND["NodePool"]
    subject = _object()
    subject["status"] = _status(kind, subject)
    subject["status"]["conditions"][0]["status"] = "False"
    assert _status(kind, subject, LATER)["conditions"][0]["lastTransitionTime"] == LATER


def test_an_object_that_is_being_deleted_is_left_alone() -> None:
    subject = _object()
    subject["metadata"]["deletionTimestamp"] = NOW
    assert wanted_status(BY_KIND["NodePool"], subject, NOW) is None


def test_a_route_is_accepted_by_each_parent_it_names() -> None:
    status = _status(BY_KIND["HTTPRoute"], _object(parentRefs=[{"name": "a"}, {"name": "b"}]))
    assert [parent["parentRef"] for parent in status["parents"]] == [{"name": "a"}, {"name": "b"}]


def test_a_disaggregated_set_never_gets_a_status() -> None:
    assert wanted_status(BY_KIND["DisaggregatedSet"], _object(), NOW) is None


def test_kinds_of_a_real_controller_are_left_to_it() -> None:
    covered = {kind.kind for kind in with_status_writer(frozenset({"karpenter", "karpenter-kwok"}))}
    assert covered & {"NodePool", "KWOKNodeClass", "NodeClass", "LeaderWorkerSet"} == {"NodeClass", "LeaderWorkerSet"}
