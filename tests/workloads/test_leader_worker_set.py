"""LeaderWorkerSets: what the model refuses, what is rendered, what is registered."""

from typing import Any

import pytest
from pydantic import ValidationError

from pulumi_lws.component import DeclarationError
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.testing.monitor import record
from pulumi_lws.workloads.component import LeaderWorkerSet
from pulumi_lws.workloads.manifests import leader_worker_set
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs

POD = {"spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]}}


def a_set(*, spec: dict[str, Any] | None = None, template: dict[str, Any] | None = None, **fields: Any) -> Any:
    """A declaration of the smallest set, with other fields of its own, of its spec and of its groups."""
    groups = {"workerTemplate": POD, **(template or {})}
    return {"name": "llm", "namespace": "models", "spec": {"leaderWorkerTemplate": groups, **(spec or {})}, **fields}


def rollout(**configuration: Any) -> dict[str, Any]:
    return {"rolloutStrategy": {"rollingUpdateConfiguration": configuration}}


def args(**changes: Any) -> LeaderWorkerSetArgs:
    return LeaderWorkerSetArgs.model_validate(a_set(**changes))


def problems_in(**changes: Any) -> list[Problem]:
    with pytest.raises(ValidationError) as raised:
        args(**changes)
    return problems_of(raised.value, LeaderWorkerSetArgs)


ROLLOUT = "spec.rolloutStrategy.rollingUpdateConfiguration"
GROUP = "spec.leaderWorkerTemplate"
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a name that starts with a digit": ({"name": "70b-vllm"}, "name", "'70b-vllm'"),
    "a name with a dot": ({"name": "vllm.prod"}, "name", "'vllm.prod'"),
    "an empty name": ({"name": ""}, "name", "''"),
    "a name of 64 characters": ({"name": "a" * 64}, "name", repr("a" * 64)),
    "a size of 0": ({"template": {"size": 0}}, f"{GROUP}.size", "0"),
    "negative replicas": ({"spec": {"replicas": -1}}, "spec.replicas", "-1"),
    "a surge over 100%": ({"spec": rollout(maxSurge="150%")}, f"{ROLLOUT}.maxSurge", "'150%'"),
    "a surge in words": ({"spec": rollout(maxSurge="five")}, f"{ROLLOUT}.maxSurge", "'five'"),
    "a negative percentage": ({"spec": rollout(maxSurge="-5%")}, f"{ROLLOUT}.maxSurge", "'-5%'"),
    "a negative surge": ({"spec": rollout(maxSurge=-1)}, f"{ROLLOUT}.maxSurge", "-1"),
    "a negative partition": ({"spec": rollout(partition=-1)}, f"{ROLLOUT}.partition", "-1"),
    "an unknown restart policy": ({"template": {"restartPolicy": "Always"}}, f"{GROUP}.restartPolicy", "'Always'"),
    "an unknown startup policy": (
        {"spec": {"startupPolicy": "LeaderStarted"}},
        "spec.startupPolicy",
        "'LeaderStarted'",
    ),
    "an unknown strategy": (
        {"spec": {"rolloutStrategy": {"type": "Recreate"}}},
        "spec.rolloutStrategy.type",
        "'Recreate'",
    ),
    "an unknown subdomain policy": (
        {"spec": {"networkConfig": {"subdomainPolicy": "PerGroup"}}},
        "spec.networkConfig.subdomainPolicy",
        "'PerGroup'",
    ),
    "no subdomain policy": ({"spec": {"networkConfig": {}}}, "spec.networkConfig.subdomainPolicy", "nothing"),
    "no subgroup size": (
        {"template": {"subGroupPolicy": {}}},
        f"{GROUP}.subGroupPolicy.subGroupSize",
        "nothing",
    ),
    "a subgroup size of 0": (
        {"template": {"subGroupPolicy": {"subGroupSize": 0}}},
        f"{GROUP}.subGroupPolicy.subGroupSize",
        "0",
    ),
    "a label value as topology": ({"exclusiveTopology": "rack=1"}, "exclusiveTopology", "'rack=1'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str) -> None:
    changes, path, found = REFUSED[case]
    assert [(problem.path, problem.found) for problem in problems_in(**changes)] == [(path, found)]


def test_what_the_server_would_default_is_written() -> None:
    assert leader_worker_set(args(wait="none")) == {
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
    leader = POD | {"metadata": {"labels": {"role": "leader"}, "annotations": {"note": "x"}}}
    rendered = leader_worker_set(
        args(
            labels={"team": "a"},
            annotations={"note": "y"},
            template={"leaderTemplate": leader},
            exclusiveTopology="pulumi-lws/island",
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
    assert rendered["spec"]["leaderWorkerTemplate"]["leaderTemplate"] == leader


EVERY_FIELD: dict[str, Any] = {
    "replicas": 4,
    "startupPolicy": "LeaderReady",
    "networkConfig": {"subdomainPolicy": "UniquePerReplica"},
    "rolloutStrategy": {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"maxUnavailable": "25%", "maxSurge": 1, "partition": 2},
    },
    "leaderWorkerTemplate": {
        "size": 5,
        "restartPolicy": "None",
        "leaderTemplate": {"metadata": {"labels": {"role": "leader"}, "finalizers": ["a/b"]}, **POD},
        "workerTemplate": {"metadata": {"annotations": {"note": "x"}}, **POD},
        "subGroupPolicy": {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 2},
        "volumeClaimTemplates": [{"metadata": {"name": "cache"}, "spec": {"accessModes": ["ReadWriteOnce"]}}],
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
    },
}


def test_a_spec_with_every_field_is_rendered_as_it_was_written() -> None:
    assert leader_worker_set(args(spec=EVERY_FIELD))["spec"] == EVERY_FIELD


def test_nothing_waits_for_a_set_without_groups() -> None:
    assert "annotations" not in leader_worker_set(args(spec={"replicas": 0}))["metadata"]


def test_nothing_waits_for_a_set_in_a_queue() -> None:
    rendered = leader_worker_set(args(labels={"kueue.x-k8s.io/queue-name": "team-a"}))
    assert "annotations" not in rendered["metadata"]


def test_replicas_that_an_autoscaler_owns_are_left_out() -> None:
    assert "replicas" not in leader_worker_set(args(scaledElsewhere=True))["spec"]


@pytest.mark.parametrize("preview", [True, False])
def test_the_component_registers_its_manifest_as_rendered(preview: bool) -> None:
    component, manifest = record(lambda: void(LeaderWorkerSet("x", a_set())), preview=preview)
    assert (component.type, component.name) == ("lws:index:LeaderWorkerSet", "x")
    assert manifest.type == "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
    assert manifest.inputs == leader_worker_set(args())


def test_the_component_refuses_with_every_problem_of_a_field() -> None:
    assert refusal(spec={"replicas": -1}, template={"size": 0}) == (
        "LeaderWorkerSet x has 2 problems:\n"
        "  - spec.replicas: found -1; allowed: 0 or more. Change replicas.\n"
        f"  - {GROUP}.size: found 0; allowed: 1 or more. Change size."
    )


def test_the_component_refuses_with_every_problem_that_a_rule_finds() -> None:
    spec = {"replicas": 4, **rollout(maxUnavailable="10%")}
    assert refusal(spec=spec, template={"size": 8, "subGroupPolicy": {"subGroupSize": 3}}) == (
        "LeaderWorkerSet x has 2 problems:\n"
        f"  - {ROLLOUT}.maxUnavailable: found 10%, and maxSurge 0: no group of 4; allowed: at least one group that may"
        " be out or on top during a rollout. Set maxUnavailable or maxSurge to 1 or more; a percentage of"
        " maxUnavailable is rounded down.\n"
        f"  - {GROUP}.subGroupPolicy.subGroupSize: found 3; allowed: a divisor of 8, or of 7 without the leader."
        " Choose a subGroupSize that divides the pods of a group, with or without its leader."
    )


def test_the_declared_version_counts() -> None:
    template = {"size": 2, "restartPolicy": "RecreateGroupAfterStart"}
    assert refusal(template=template, lwsVersion="0.8.0") == (
        "LeaderWorkerSet x has 1 problem:\n"
        f"  - {GROUP}.restartPolicy: found RecreateGroupAfterStart of LWS 0.9; allowed: what LWS 0.8 knows; it refuses"
        " the value. Upgrade LWS to 0.9 or later, or write RecreateGroupOnPodRestart and pull images before the pods"
        " start."
    )


def refusal(**changes: Any) -> str:
    with pytest.raises(DeclarationError) as raised:
        record(lambda: void(LeaderWorkerSet("x", a_set(**changes))))
    return str(raised.value)


def void(_: object) -> None:
    """Drop a value: a program returns nothing."""
