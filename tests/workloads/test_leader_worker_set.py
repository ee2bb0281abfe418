"""LeaderWorkerSets: what is refused, what is rendered, what is registered."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pulumi_lws.component import DeclarationError
from pulumi_lws.planning.problems import Problem, problems_of
from pulumi_lws.testing.monitor import record
from pulumi_lws.workloads.component import LeaderWorkerSet
from pulumi_lws.workloads.manifests import leader_worker_set
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs, RollingUpdate, longest_name

POD = {"spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]}}


def a_set(**changes: Any) -> dict[str, Any]:
    return {"name": "llm", "namespace": "models", "workerTemplate": POD, **changes}


def problems_in(**changes: Any) -> list[Problem]:
    with pytest.raises(ValidationError) as raised:
        LeaderWorkerSetArgs.model_validate(a_set(**changes))
    return problems_of(raised.value, LeaderWorkerSetArgs)


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a name that starts with a digit": ({"name": "70b-vllm"}, "name", "'70b-vllm'"),
    "a name with a dot": ({"name": "vllm.prod"}, "name", "'vllm.prod'"),
    "an empty name": ({"name": ""}, "name", "''"),
    "a size of 0": ({"size": 0}, "size", "0"),
    "negative replicas": ({"replicas": -1}, "replicas", "-1"),
    "more than a million replicas": ({"replicas": 1_000_001}, "replicas", "1000001"),
    "a surge over 100%": ({"rollout": {"maxSurge": "150%"}}, "rollout.maxSurge", "'150%'"),
    "a surge in words": ({"rollout": {"maxSurge": "five"}}, "rollout.maxSurge", "'five'"),
    "a negative percentage": ({"rollout": {"maxSurge": "-5%"}}, "rollout.maxSurge", "'-5%'"),
    "a negative surge": ({"rollout": {"maxSurge": -1}}, "rollout.maxSurge", "-1"),
    "a negative partition": ({"rollout": {"partition": -1}}, "rollout.partition", "-1"),
    "an unknown restart policy": ({"restartPolicy": "Always"}, "restartPolicy", "'Always'"),
    "the restart policy that drifts": ({"restartPolicy": "Default"}, "restartPolicy", "'Default'"),
    "an unknown startup policy": ({"startupPolicy": "LeaderStarted"}, "startupPolicy", "'LeaderStarted'"),
    "a label value as topology": ({"exclusiveTopology": "rack=1"}, "exclusiveTopology", "'rack=1'"),
    "too many pods": (
        {"replicas": 1_000_000, "size": 3000},
        "replicas",
        "1000000 groups of 3000: 3000000000 pods",
    ),
    "a rollout that rounds down to nothing": (
        {"replicas": 4, "rollout": {"maxUnavailable": "10%"}},
        "rollout",
        "maxUnavailable 10% and maxSurge 0",
    ),
    "a reserved label": (
        {"workerTemplate": POD | {"labels": {"leaderworkerset.sigs.k8s.io/name": "x"}}},
        "workerTemplate.labels",
        "leaderworkerset.sigs.k8s.io/name",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str) -> None:
    changes, path, found = REFUSED[case]
    assert [(problem.path, problem.found) for problem in problems_in(**changes)] == [(path, found)]


def test_both_zero_is_fine_without_groups() -> None:
    LeaderWorkerSetArgs.model_validate(a_set(replicas=0, rollout={"maxUnavailable": 0}))


def test_a_surge_rounds_up() -> None:
    LeaderWorkerSetArgs.model_validate(a_set(replicas=4, rollout={"maxUnavailable": 0, "maxSurge": "10%"}))


@given(replicas=st.integers(0, 1_000), percentage=st.integers(0, 100))
def test_percentages_scale_as_the_controller_scales_them(replicas: int, percentage: int) -> None:
    out, top = RollingUpdate(max_unavailable=f"{percentage}%", max_surge=f"{percentage}%").scaled(replicas)
    assert out <= percentage * replicas / 100 <= top
    assert top - out <= 1


@given(replicas=st.integers(1, 1_000_000), size=st.integers(2, 2_000))
def test_the_longest_name_fills_the_label_of_the_last_group_exactly(replicas: int, size: int) -> None:
    longest = longest_name(replicas, size, RollingUpdate())
    assert len(f"{'a' * longest}-{replicas - 1}-{'0' * 10}") == 63


def test_a_name_one_longer_than_the_longest_is_refused() -> None:
    LeaderWorkerSetArgs.model_validate(a_set(name="a" * 50, size=2))
    [problem] = problems_in(name="a" * 51, size=2)
    assert str(problem) == (
        f"name: found {'a' * 51}, of 51 characters; allowed: at most 50 characters for 1 replicas of size 2:"
        " the controller makes labels of 63 characters from it. Shorten the name."
    )


def test_surge_groups_count_for_the_longest_name() -> None:
    assert longest_name(10, 2, RollingUpdate()) == 50
    assert longest_name(10, 2, RollingUpdate(max_surge=1)) == 49


def test_what_the_server_would_default_is_written() -> None:
    assert leader_worker_set(LeaderWorkerSetArgs.model_validate(a_set(wait="none"))) == {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "llm", "namespace": "models"},
        "spec": {
            "replicas": 1,
            "startupPolicy": "LeaderCreated",
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0, "partition": 0},
            },
            "leaderWorkerTemplate": {
                "size": 1,
                "restartPolicy": "RecreateGroupOnPodRestart",
                "workerTemplate": POD,
            },
        },
    }


def test_metadata_and_both_templates_are_rendered() -> None:
    leader = POD | {"labels": {"role": "leader"}, "annotations": {"note": "x"}}
    rendered = leader_worker_set(
        LeaderWorkerSetArgs.model_validate(
            a_set(
                labels={"team": "a"},
                annotations={"note": "y"},
                leaderTemplate=leader,
                exclusiveTopology="pulumi-lws/island",
            )
        )
    )
    assert rendered["metadata"] == {
        "name": "llm",
        "namespace": "models",
        "labels": {"team": "a"},
        "annotations": {
            "note": "y",
            "leaderworkerset.sigs.k8s.io/exclusive-topology": "pulumi-lws/island",
            "pulumi.com/waitFor": "condition=Available",
        },
    }
    assert rendered["spec"]["leaderWorkerTemplate"]["leaderTemplate"] == {
        "metadata": {"labels": {"role": "leader"}, "annotations": {"note": "x"}},
        "spec": POD["spec"],
    }


def test_nothing_waits_for_a_set_without_groups() -> None:
    rendered = leader_worker_set(LeaderWorkerSetArgs.model_validate(a_set(replicas=0)))
    assert "annotations" not in rendered["metadata"]


@pytest.mark.parametrize("preview", [True, False])
def test_the_component_registers_its_manifest_as_rendered(preview: bool) -> None:
    component, manifest = record(lambda: void(LeaderWorkerSet("x", a_set())), preview=preview)
    assert (component.type, component.name) == ("lws:index:LeaderWorkerSet", "x")
    assert manifest.type == "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
    assert manifest.inputs == leader_worker_set(LeaderWorkerSetArgs.model_validate(a_set()))


def test_the_component_refuses_with_every_problem() -> None:
    with pytest.raises(DeclarationError) as raised:
        record(lambda: void(LeaderWorkerSet("x", a_set(size=0, replicas=-1))))
    assert str(raised.value) == (
        "LeaderWorkerSet x has 2 problems:\n"
        "  - replicas: found -1; allowed: 0 or more. Change replicas.\n"
        "  - size: found 0; allowed: 1 or more. Change size."
    )


def void(_: object) -> None:
    """Drop a value: a program returns nothing."""
