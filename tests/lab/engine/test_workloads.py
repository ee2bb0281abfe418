"""The workload components on the real engine: what is updated, what is replaced, and what is left alone."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

pytestmark = pytest.mark.lab

PROGRAM = """
import json
from pathlib import Path

import pulumi
import pulumi_kubernetes
import pulumi_lws

provider = pulumi_kubernetes.Provider("lab", context="pulumi-lws-lab", enable_server_side_apply=True)
for kind, args in json.loads(Path("workloads.json").read_text()).items():
    getattr(pulumi_lws, kind)("llm", args, pulumi.ResourceOptions(providers=[provider]))
"""
SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
GROUPS = f"{SETS}/llm"
DISAGGREGATED = "/apis/disaggregatedset.x-k8s.io/v1/namespaces/default/disaggregatedsets"
SERVICES = "/api/v1/namespaces/default/services"
STATEFUL_SETS = "/apis/apps/v1/namespaces/default/statefulsets"
POD = {"spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]}}
MERGE = {"Content-Type": "application/merge-patch+json"}
UP = ("up", "--yes", "--skip-preview")


def groups(*, template: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A LeaderWorkerSet; nothing waits, since no group of it could run here."""
    template = {"size": 4, "restartPolicy": "RecreateGroupAfterStart", "workerTemplate": POD, **(template or {})}
    declared = {"name": "llm", "namespace": "default", "wait": "none", "spec": {"leaderWorkerTemplate": template}}
    return {"LeaderWorkerSet": declared | changes}


def roles(size: int) -> dict[str, Any]:
    template = {"size": size, "restartPolicy": "RecreateGroupAfterStart", "workerTemplate": POD}
    declared = [{"name": name, "spec": {"leaderWorkerTemplate": template}} for name in ("prefill", "decode")]
    ports = {"decode": {"http": 8000}}
    return {"DisaggregatedSet": {"name": "llm", "namespace": "default", "spec": {"roles": declared}, "ports": ports}}


@pytest.fixture
def workloads(project: Any) -> Any:
    """A project whose program registers what is declared in ``workloads.json``."""
    return project(PROGRAM)


def declare(workloads: Any, declared: Mapping[str, Any]) -> None:
    (workloads.folder / "workloads.json").write_text(json.dumps(declared))


STEPS: list[tuple[str, dict[str, Any], bool]] = [
    ("another size", groups(template={"size": 8}), False),
    ("subgroups are added", groups(template={"subGroupPolicy": {"subGroupSize": 2}}), True),
    ("subgroups are removed", groups(), True),
    # The first annotation of the object: the provider then names no single one as changed.
    ("an exclusive topology is added", groups(exclusiveTopology="rack"), True),
]
"""Changes one after the other, each with whether it replaces the object."""


def test_only_what_lws_cannot_change_in_place_replaces(lab: Any, workloads: Any) -> None:
    declare(workloads, groups())
    workloads.succeeds(*UP)
    workloads.succeeds("preview", "--expect-no-changes")
    before = lab.get(GROUPS)["metadata"]["uid"]
    for step, declared, replaces in STEPS:
        declare(workloads, declared)
        printed = workloads.succeeds(*UP)
        after = lab.get(GROUPS)["metadata"]["uid"]
        assert ("+-1 replaced" in printed, after != before) == (replaces, replaces), step
        before = after


def test_a_replacement_waits_until_the_old_stateful_sets_are_gone(
    lab: Any, workloads: Any, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    declare(workloads, groups())
    workloads.succeeds(*UP)
    old = lab.get(GROUPS)["metadata"]["uid"]
    stateful_set = a_slow_stateful_set(old)
    with lab.api() as api:
        api.post(STATEFUL_SETS, json=stateful_set).raise_for_status()
        declare(workloads, groups(exclusiveTopology="rack"))
        update = workloads.starts(*UP)
        try:
            name = f"{STATEFUL_SETS}/{stateful_set['metadata']['name']}"
            wait_until(lambda: "deletionTimestamp" in lab.get(name)["metadata"])
            assert lab.get(GROUPS)["metadata"]["uid"] == old
            assert update.poll() is None
        finally:
            api.patch(name, json={"metadata": {"finalizers": None}}, headers=MERGE).raise_for_status()
            printed, _ = update.communicate()
        assert update.returncode == 0, printed
        assert lab.get(GROUPS)["metadata"]["uid"] != old
        assert api.get(name).status_code == 404


def a_slow_stateful_set(owner: str) -> dict[str, Any]:
    """A StatefulSet as LWS makes it for the leaders, which takes its time to go."""
    reference = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "llm", "uid": owner}
    match = {"app": "slow"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {
            "name": "slow",
            "finalizers": ["example.com/slow"],
            "ownerReferences": [reference | {"controller": True, "blockOwnerDeletion": True}],
        },
        "spec": {
            "replicas": 0,
            "serviceName": "slow",
            "selector": {"matchLabels": match},
            "template": {"metadata": {"labels": match}, **POD},
        },
    }


def test_replicas_that_an_autoscaler_takes_over_are_left_alone(lab: Any, workloads: Any) -> None:
    declared = groups()
    declared["LeaderWorkerSet"]["spec"]["replicas"] = 3
    declare(workloads, declared)
    workloads.succeeds(*UP)
    declared["LeaderWorkerSet"]["scaledElsewhere"] = True
    declare(workloads, declared)
    workloads.succeeds(*UP)
    assert lab.get(GROUPS)["spec"]["replicas"] == 3

    with lab.api() as api:
        api.patch(f"{GROUPS}/scale", json={"spec": {"replicas": 5}}, headers=MERGE).raise_for_status()
    workloads.succeeds("preview", "--expect-no-changes")
    workloads.succeeds("refresh", "--yes", "--skip-preview")
    declare(workloads, groups(template={"size": 2}, scaledElsewhere=True))
    workloads.succeeds(*UP)
    spec = lab.get(GROUPS)["spec"]
    assert (spec["replicas"], spec["leaderWorkerTemplate"]["size"]) == (5, 2)


def test_a_disaggregated_set_through_its_life(lab: Any, workloads: Any) -> None:
    declare(workloads, roles(size=2))
    workloads.succeeds(*UP)
    [before] = lab.objects(DISAGGREGATED)
    assert "llm-decode-leader" in {service["metadata"]["name"] for service in lab.objects(SERVICES)}
    workloads.succeeds("preview", "--expect-no-changes")
    workloads.succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    declare(workloads, roles(size=4))
    assert "replaced" not in workloads.succeeds(*UP)
    [after] = lab.objects(DISAGGREGATED)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert [role["spec"]["leaderWorkerTemplate"]["size"] for role in after["spec"]["roles"]] == [4, 4]
    workloads.succeeds("destroy", "--yes", "--skip-preview")
    assert lab.objects(DISAGGREGATED) == []
    assert workloads.state() == {}
