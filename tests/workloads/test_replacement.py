"""What makes a new LeaderWorkerSet out of a change."""

from typing import Any

import pytest

from pulumi_lws.facts import labels
from pulumi_lws.workloads.manifests import leader_worker_set, unchangeable
from pulumi_lws.workloads.queued import membership
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs

POD = {"spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]}}
CLAIM = {"metadata": {"name": "cache"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}


def a_set(template: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    template = {"size": 4, "workerTemplate": POD, **(template or {})}
    spec = {"leaderWorkerTemplate": template, **changes.pop("spec", {})}
    declared = {"name": "llm", "namespace": "models", "spec": spec, **changes}
    return leader_worker_set(LeaderWorkerSetArgs.model_validate(declared))


REPLACING = {
    "subgroups": a_set({"subGroupPolicy": {"subGroupSize": 2}}),
    "subgroups of another size": a_set({"subGroupPolicy": {"subGroupSize": 4}}),
    "claims": a_set({"volumeClaimTemplates": [CLAIM]}),
    "other claims": a_set({"volumeClaimTemplates": [CLAIM | {"spec": {"storageClassName": "gp3"}}]}),
    "an exclusive topology": a_set(exclusiveTopology="rack"),
    "another exclusive topology": a_set(exclusiveTopology="zone"),
    "an exclusive topology as an annotation": a_set(annotations={labels.LWS_EXCLUSIVE_TOPOLOGY: "host"}),
    "an exclusive topology of subgroups": a_set(subgroupExclusiveTopology="rack"),
}


def test_each_of_these_is_another_object() -> None:
    every = [unchangeable(manifest) for manifest in (a_set(), *REPLACING.values())]
    assert all(every.count(one) == 1 for one in every)


@pytest.mark.parametrize(
    "manifest",
    [
        a_set({"size": 8, "restartPolicy": "None"}),
        a_set(spec={"replicas": 9, "startupPolicy": "LeaderReady", "networkConfig": {"subdomainPolicy": "Shared"}}),
        a_set(labels={"team": "search"}, annotations={"note": "text"}),
    ],
)
def test_everything_else_is_an_update(manifest: dict[str, Any]) -> None:
    assert unchangeable(manifest) == unchangeable(a_set())


def test_another_type_of_subgroups_of_the_same_size_is_an_update() -> None:
    excluded = a_set({"subGroupPolicy": {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 2}})
    assert unchangeable(excluded) == unchangeable(REPLACING["subgroups"])


QUEUED = {"labels": {labels.KUEUE_QUEUE: "search"}}


def a_pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", "image": "example.com/main:1", **(container or {})}], **spec}}


COUNTED = {
    "no queue": a_set(),
    "another queue": a_set(labels={labels.KUEUE_QUEUE: "batch"}),
    "a priority": a_set(labels={**QUEUED["labels"], labels.KUEUE_PRIORITY: "urgent"}),
    "another size": a_set({"size": 8}, **QUEUED),
    "a template of leaders": a_set({"leaderTemplate": POD}, **QUEUED),
    "other requests": a_set({"workerTemplate": a_pod({"resources": {"limits": {"cpu": "2"}}})}, **QUEUED),
    "another port": a_set({"workerTemplate": a_pod({"ports": [{"containerPort": 80}]})}, **QUEUED),
    "another container": a_set(
        {"workerTemplate": a_pod(initContainers=[{"name": "first", "image": "example.com/first:1"}])}, **QUEUED
    ),
    "other nodes": a_set({"workerTemplate": a_pod(nodeSelector={"pool": "p5"})}, **QUEUED),
    "other tolerations": a_set({"workerTemplate": a_pod(tolerations=[{"operator": "Exists"}])}, **QUEUED),
}


def test_in_a_queue_each_of_these_is_another_object_too() -> None:
    every = [unchangeable(manifest) for manifest in (a_set(**QUEUED), *COUNTED.values())]
    assert all(every.count(one) == 1 for one in every)


@pytest.mark.parametrize(
    "manifest",
    [
        a_set(spec={"replicas": 9}, **QUEUED),
        a_set(
            {"workerTemplate": a_pod({"image": "example.com/main:2", "env": [{"name": "A", "value": "b"}]})}, **QUEUED
        ),
        a_set(labels={**QUEUED["labels"], "team": "search"}),
    ],
)
def test_in_a_queue_a_rollout_is_still_an_update(manifest: dict[str, Any]) -> None:
    assert unchangeable(manifest) == unchangeable(a_set(**QUEUED))


def test_a_workload_moves_between_priorities_as_an_update() -> None:
    urgent, night = (
        a_set(labels={**QUEUED["labels"], labels.KUEUE_PRIORITY: priority}) for priority in ("urgent", "night")
    )
    assert unchangeable(urgent) == unchangeable(night)


def test_a_deployment_that_joins_leaves_or_changes_its_queue_is_another_one() -> None:
    def deployment(**labelled: str) -> dict[str, Any]:
        return {"metadata": {"labels": labelled}}

    every = [
        membership(deployment(**labelled))
        for labelled in (
            {},
            {labels.KUEUE_QUEUE: "search"},
            {labels.KUEUE_QUEUE: "batch"},
            {labels.KUEUE_QUEUE: "search", labels.KUEUE_PRIORITY: "urgent"},
        )
    ]
    assert all(every.count(one) == 1 for one in every)
    assert membership({"metadata": {}}) == membership(deployment(team="search")) == every[0]
