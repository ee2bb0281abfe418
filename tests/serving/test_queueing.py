"""Deployments that join a queue carry its name where Kueue looks for it, and nothing of it without one."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Severity
from pulumi_lws.serving.checks import check
from pulumi_lws.serving.component import ModelDeployment, MultiNodeVllm, SingleNodeVllm
from pulumi_lws.serving.entries import DeploymentSettings, args_of
from pulumi_lws.serving.render import render
from pulumi_lws.testing.monitor import record
from tests.queues.fleets import GROUPS, ROLES, SINGLE, deployments, pools

Raw = dict[str, Any]

JOINED = {labels.KUEUE_QUEUE: "search", labels.KUEUE_PRIORITY: "urgent"}
TOGETHER = {labels.KUEUE_REQUIRED_TOPOLOGY: labels.ISLAND, labels.KUEUE_POD_SET_GROUP: "group"}
AWARE = GROUPS | {"pool": "static", "placement": "topology-aware"}
ISLAND_ROLES = ROLES | {
    "prefill": {"pool": "static", "parallelism": {"tensor": 8, "data": 2, "expert": True}},
    "decode": {"pool": "static", "parallelism": {"tensor": 8, "data": 2, "expert": True}},
}


def manifests(raw: Raw) -> list[Raw]:
    (args,) = deployments(llm=raw).values()
    return list(render(args).manifests.values())


def of_kind(kind: str, raw: Raw) -> list[Raw]:
    return [manifest for manifest in manifests(raw) if manifest["kind"] == kind]


def kueue_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield everything that Kueue reads, wherever it stands."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(key, str) and key.startswith(labels.KUEUE_PREFIX):
            yield key, part
        yield from kueue_in(part)


@pytest.mark.parametrize("shape", [GROUPS, SINGLE, ROLES, ROLES | {"backend": "disaggregated-set"}])
def test_without_a_queue_kueue_reads_nothing(shape: Raw) -> None:
    assert list(kueue_in(manifests(shape | {"queue": None}))) == []


@pytest.mark.parametrize(("shape", "kind", "count"), [(GROUPS, "LeaderWorkerSet", 1), (ROLES, "LeaderWorkerSet", 2)])
def test_groups_join_by_the_labels_of_their_set(shape: Raw, kind: str, count: int) -> None:
    found = of_kind(kind, shape | {"priority": "urgent"})
    assert len(found) == count
    for manifest in found:
        assert manifest["metadata"]["labels"].items() >= JOINED.items()
        # Kueue's webhook writes the rest into the templates.
        assert list(kueue_in(manifest["spec"])) == []


def test_a_deployment_joins_by_its_own_labels_and_its_router_not_at_all() -> None:
    (pods,) = of_kind("Deployment", SINGLE | {"priority": "urgent"})
    assert pods["metadata"]["labels"].items() >= JOINED.items()
    (router,) = of_kind("Deployment", ROLES)
    assert list(kueue_in(router)) == []


def test_a_new_queue_of_a_set_makes_a_new_revision() -> None:
    (roles,) = of_kind("DisaggregatedSet", ROLES | {"backend": "disaggregated-set", "priority": "urgent"})
    for role in roles["spec"]["roles"]:
        assert role["metadata"]["labels"].items() >= JOINED.items()
        template = role["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        assert template["metadata"]["labels"].items() >= JOINED.items()


def test_no_update_waits_for_quota_unless_it_is_told_to() -> None:
    def waits(raw: Raw) -> bool:
        (found,) = [one for one in manifests(raw) if one["kind"] in {"LeaderWorkerSet", "Deployment"}]
        annotations = found["metadata"].get("annotations", {})
        return labels.PULUMI_WAIT_FOR in annotations or (
            found["kind"] == "Deployment" and labels.PULUMI_SKIP_AWAIT not in annotations
        )

    for shape in (GROUPS, SINGLE):
        assert [waits(shape | change) for change in ({}, {"queue": None}, {"wait": "serving"}, {"wait": "none"})] == [
            False,
            True,
            True,
            False,
        ]


def test_kueue_puts_a_group_on_one_island_where_lws_does_not() -> None:
    (found,) = of_kind("LeaderWorkerSet", AWARE)
    assert labels.LWS_EXCLUSIVE_TOPOLOGY not in found["metadata"].get("annotations", {})
    template = found["spec"]["leaderWorkerTemplate"]
    for name in ("leaderTemplate", "workerTemplate"):
        assert template[name]["metadata"]["annotations"].items() >= TOGETHER.items()
        assert "affinity" not in template[name]["spec"]
    (other,) = of_kind("LeaderWorkerSet", GROUPS)
    assert other["metadata"]["annotations"][labels.LWS_EXCLUSIVE_TOPOLOGY] == labels.ISLAND
    assert "affinity" in other["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]


def test_kueue_places_the_groups_of_a_sets_roles_too() -> None:
    raw = ISLAND_ROLES | {"model": "zai-org/GLM-5-FP8", "maxModelLen": 65536, "backend": "disaggregated-set"}
    (found,) = of_kind("DisaggregatedSet", raw | {"placement": "topology-aware"})
    for role in found["spec"]["roles"]:
        assert "annotations" not in role["metadata"]
        for name in ("leaderTemplate", "workerTemplate"):
            assert role["spec"]["leaderWorkerTemplate"][name]["metadata"]["annotations"].items() >= TOGETHER.items()


def said(raw: Raw) -> list[str]:
    adapter: TypeAdapter[DeploymentSettings] = TypeAdapter(DeploymentSettings)
    found = check(args_of(raw.pop("name", "llm"), "models", adapter.validate_python(raw), pools()))
    return [str(problem) for problem in found if problem.severity is Severity.ERROR]


def test_a_priority_needs_a_queue() -> None:
    assert said(GROUPS | {"priority": "urgent"}) == []
    assert said(GROUPS | {"priority": "urgent", "queue": None}) == [
        "priority: found urgent; allowed: none: nothing waits without a queue. Name a queue, or remove priority."
    ]


def test_kueue_places_what_is_in_a_queue() -> None:
    assert said(dict(AWARE)) == []
    assert said(AWARE | {"queue": None}) == [
        (
            "placement: found topology-aware; allowed: exclusive, where there is no queue: Kueue places what it admits."
            " Name a queue, or remove placement."
        )
    ]


def test_kueue_places_groups_on_nodes_that_exist() -> None:
    assert said(AWARE | {"pool": "p5"}) == [
        (
            "placement: found topology-aware, on the dynamic pool p5; allowed: exclusive there: Kueue counts only nodes"
            " that exist, so nothing is admitted and no node is made. Remove placement, or set pools.p5.static to true,"
            " and pay for its nodes at all times."
        )
    ]


@pytest.mark.parametrize("shape", [SINGLE, ROLES])
def test_a_single_pod_needs_no_island(shape: Raw) -> None:
    assert said(shape | {"placement": "topology-aware"}) == [
        (
            "placement: found topology-aware; allowed: exclusive, where no group spans nodes: there is nothing to keep"
            " together. Remove placement."
        )
    ]


@pytest.mark.parametrize("kind", [SingleNodeVllm, MultiNodeVllm])
def test_every_object_of_a_deployment_in_a_queue_is_a_part_of_it(kind: type[ModelDeployment]) -> None:
    made: list[ModelDeployment] = []
    (args,) = deployments(llm=SINGLE if kind is SingleNodeVllm else GROUPS).values()
    found = record(lambda: made.append(kind("env-llm", args)))
    children = {child._name for child in made[0]._childResources}
    assert {one.name for one in found if one.type.startswith(("kubernetes:", "lws:"))} == children | {"env-llm"}
