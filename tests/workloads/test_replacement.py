"""What makes a new LeaderWorkerSet out of a change."""

from typing import Any

import pytest

from pulumi_lws.facts import labels
from pulumi_lws.workloads.manifests import leader_worker_set, unchangeable
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
