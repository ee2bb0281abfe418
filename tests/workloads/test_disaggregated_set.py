"""DisaggregatedSets: what is refused, what is rendered, what is registered, and at what autoscalers aim."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pulumi_lws.component import DeclarationError
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.rules.judging import judge
from pulumi_lws.testing.monitor import record
from pulumi_lws.workloads.component import DisaggregatedSet, LeaderWorkerSet
from pulumi_lws.workloads.disaggregated_set import DisaggregatedSetArgs
from pulumi_lws.workloads.manifests import disaggregated_set, leader_services

POD = {"spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]}}


def a_role(name: str, size: int = 1, spec: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "spec": {"leaderWorkerTemplate": {"size": size, "workerTemplate": POD}, **(spec or {})},
    } | changes


def a_set(*roles: dict[str, Any], name: str = "llm", **spec: Any) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": "models",
        "spec": {"roles": list(roles) or [a_role("prefill"), a_role("decode")], **spec},
    }


def rendered(args: dict[str, Any]) -> dict[str, Any]:
    return disaggregated_set(DisaggregatedSetArgs.model_validate(args))


def problems_in(args: dict[str, Any]) -> list[Problem]:
    with pytest.raises(ValidationError) as raised:
        DisaggregatedSetArgs.model_validate(args)
    return problems_of(raised.value, DisaggregatedSetArgs)


REFUSED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "one role": (a_set(a_role("decode")), "spec.roles", "a list of 1", "2 to 10 roles"),
    "eleven roles": (
        a_set(*(a_role(f"role-{index}") for index in range(11))),
        "spec.roles",
        "a list of 11",
        "2 to 10 roles",
    ),
    "two roles of one name": (
        a_set(a_role("decode"), a_role("decode")),
        "spec.roles",
        "a list of 2",
        "roles with names of their own",
    ),
    "a role name that is no label": (
        a_set(a_role("prefill"), a_role("Decode_1")),
        "spec.roles[1].name",
        "'Decode_1'",
        "text such as prefill",
    ),
    "a role name of 64": (
        a_set(a_role("prefill"), a_role("a" * 64)),
        "spec.roles[1].name",
        f"'{'a' * 64}'",
        "at most 63 characters",
    ),
    "an empty role name": (a_set(a_role("prefill"), a_role("")), "spec.roles[1].name", "''", "at least 1 characters"),
    "an unknown scaling mode": (
        a_set(a_role("prefill"), a_role("decode", scaling={"mode": "Auto"})),
        "spec.roles[1].scaling.mode",
        "'Auto'",
        "Static or External",
    ),
    "no slice": (a_set(slices=0), "spec.slices", "0", "1 or more"),
    "a hundred and one slices": (a_set(slices=101), "spec.slices", "101", "100 or less"),
    "an unknown placement": (
        a_set(placementPolicy={"type": "Spread"}),
        "spec.placementPolicy.type",
        "'Spread'",
        "None, ExclusiveSlice or ExclusiveTopology",
    ),
    "a rollout of another type": (
        a_set(a_role("prefill"), a_role("decode", spec={"rolloutStrategy": {"type": "Recreate"}})),
        "spec.roles[1].spec.rolloutStrategy.type",
        "'Recreate'",
        "RollingUpdate",
    ),
    "replicas one level too high": (
        a_set(a_role("prefill"), a_role("decode", replicas=2)),
        "spec.roles[1].replicas",
        "an unknown field with the value 2",
        "name, scaling, metadata, spec",
    ),
    "ports of a role that is none": (
        a_set() | {"ports": {"router": {"http": 8000}}},
        "ports",
        "router",
        "prefill, decode",
    ),
    "a port that is none": (
        a_set() | {"ports": {"decode": {"http": 65536}}},
        "ports.decode.http",
        "65536",
        "65535 or less",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str) -> None:
    args, *wanted = REFUSED[case]
    assert [(problem.path, problem.found, problem.allowed) for problem in problems_in(args)] == [tuple(wanted)]


@pytest.mark.parametrize("slices", [1, 100])
@pytest.mark.parametrize("roles", [2, 10])
def test_takes_what_is_at_the_bound(slices: int, roles: int) -> None:
    args = a_set(*(a_role(f"r{index}") for index in range(roles)), slices=slices)
    assert rendered(args)["spec"]["slices"] == slices


def test_what_server_and_controller_would_default_is_written() -> None:
    spec = {
        "replicas": 1,
        "leaderWorkerTemplate": {"size": 1, "restartPolicy": "RecreateGroupOnPodRestart", "workerTemplate": POD},
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"maxUnavailable": 0, "maxSurge": 1, "partition": 0},
        },
        "startupPolicy": "LeaderCreated",
    }
    assert rendered(a_set()) == {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": {"name": "llm", "namespace": "models"},
        "spec": {"slices": 1, "roles": [{"name": "prefill", "spec": spec}, {"name": "decode", "spec": spec}]},
    }


def test_bounds_left_out_of_a_rollout_are_those_of_the_server_not_of_the_controller() -> None:
    role = a_role("decode", spec={"rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": 2}}})
    [_, decode] = rendered(a_set(a_role("prefill"), role))["spec"]["roles"]
    assert decode["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"] == {
        "maxUnavailable": 1,
        "maxSurge": 2,
        "partition": 0,
    }


def test_an_older_lws_gets_no_field_that_it_does_not_know() -> None:
    assert set(rendered(a_set() | {"lwsVersion": "0.9"})["spec"]) == {"roles"}


@pytest.mark.parametrize(
    ("newer", "paths"),
    [
        (a_set(slices=2), ["spec.slices"]),
        (a_set(placementPolicy={"type": "None"}), ["spec.placementPolicy"]),
        (a_set(a_role("prefill"), a_role("decode", scaling={"mode": "Static"})), ["spec.roles[1].scaling"]),
    ],
)
def test_an_older_lws_has_no_slices_placement_or_scaling(newer: dict[str, Any], paths: list[str]) -> None:
    args = DisaggregatedSetArgs.model_validate(newer | {"lwsVersion": "0.9"})
    problems = judge(disaggregated_set(args), args.target)
    assert [(problem.rule, problem.path) for problem in problems] == [("needs-newer-lws", path) for path in paths]


def test_metadata_of_set_and_roles_is_rendered() -> None:
    role = a_role("decode", metadata={"labels": {"team": "a"}, "annotations": {"note": "x"}, "finalizers": ["b.c/d"]})
    manifest = rendered(a_set(a_role("prefill"), role) | {"labels": {"team": "b"}, "annotations": {"note": "y"}})
    assert manifest["metadata"] == {
        "name": "llm",
        "namespace": "models",
        "labels": {"team": "b"},
        "annotations": {"note": "y"},
    }
    assert manifest["spec"]["roles"][1]["metadata"] == {
        "labels": {"team": "a"},
        "annotations": {"note": "x"},
        "finalizers": ["b.c/d"],
    }


def test_a_role_with_ports_gets_a_service_over_its_leaders() -> None:
    args = DisaggregatedSetArgs.model_validate(
        a_set() | {"ports": {"decode": {"http": 8000, "kv": 5600}, "prefill": {}}}
    )
    assert leader_services(args) == {
        "decode": {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": "llm-decode-leader",
                "namespace": "models",
                "annotations": {"pulumi.com/skipAwait": "true"},
            },
            "spec": {
                "selector": {
                    "disaggregatedset.x-k8s.io/name": "llm",
                    "disaggregatedset.x-k8s.io/role": "decode",
                    "leaderworkerset.sigs.k8s.io/worker-index": "0",
                },
                "ports": [
                    {"name": "http", "port": 8000, "targetPort": 8000},
                    {"name": "kv", "port": 5600, "targetPort": 5600},
                ],
            },
        }
    }


def child_name_problems(name: str, role: str, size: int, replicas: int, slices: int) -> list[Problem]:
    """What the rule says of names that the model would not all take."""
    spec = {"replicas": replicas, "leaderWorkerTemplate": {"size": size}}
    manifest = {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": {"name": name},
        "spec": {"slices": slices, "roles": [{"name": role, "spec": spec}]},
    }
    return [p for p in judge(manifest, DisaggregatedSetArgs.model_validate(a_set()).target) if p.rule == "child-name"]


@given(role=st.integers(1, 30), size=st.integers(1, 20), replicas=st.integers(1, 2_000), slices=st.integers(1, 100))
def test_the_longest_name_fills_the_label_of_the_last_group_exactly(
    role: int, size: int, replicas: int, slices: int
) -> None:
    child = f"-{slices - 1}-{'0' * 8}-{'r' * role}"
    longest = 52 - len(child) if size == 1 else 63 - len(f"{child}-{replicas - 1}-{'0' * 10}")
    assert child_name_problems("a" * longest, "r" * role, size, replicas, slices) == []
    assert len(child_name_problems("a" * (longest + 1), "r" * role, size, replicas, slices)) == 1


@pytest.mark.parametrize("preview", [True, False])
def test_the_component_registers_its_manifests_as_rendered(preview: bool) -> None:
    declared = a_set() | {"ports": {"decode": {"http": 8000}}}
    args = DisaggregatedSetArgs.model_validate(declared)
    component, manifest, service = record(lambda: void(DisaggregatedSet("x", declared)), preview=preview)
    assert (component.type, component.name) == ("lws:index:DisaggregatedSet", "x")
    assert (manifest.type, manifest.name) == ("kubernetes:disaggregatedset.x-k8s.io/v1:DisaggregatedSet", "x")
    assert manifest.inputs == disaggregated_set(args)
    assert (service.type, service.name) == ("kubernetes:core/v1:Service", "x-decode-leader")
    assert service.inputs == leader_services(args)["decode"]


def test_the_component_refuses_with_every_problem() -> None:
    partition = {"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 1}}}
    roles = (a_role("prefill", spec={"replicas": 0}), a_role("decode", spec=partition))
    with pytest.raises(DeclarationError) as raised:
        record(lambda: void(DisaggregatedSet("x", a_set(*roles, placementPolicy={"type": "ExclusiveSlice"}))))
    assert sorted(problem.rule for problem in raised.value.problems) == [
        "placement-topology",
        "role-partition",
        "role-replicas",
    ]
    assert str(raised.value).startswith("DisaggregatedSet x has 3 problems:\n")


def test_groups_of_a_role_are_judged_like_those_of_a_leader_worker_set() -> None:
    role = a_role("decode")
    role["spec"]["leaderWorkerTemplate"] |= {"size": 8, "subGroupPolicy": {"subGroupSize": 3}}
    with pytest.raises(DeclarationError) as raised:
        record(lambda: void(DisaggregatedSet("x", a_set(a_role("prefill"), role))))
    assert [problem.path for problem in raised.value.problems] == [
        "spec.roles[1].spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize"
    ]


@pytest.mark.parametrize(("version", "refused"), [("0.9", False), ("0.10", True)])
def test_a_rollout_that_moves_nothing_is_refused_of_a_role_since_lws_0_10(version: str, refused: bool) -> None:
    still = {"rolloutStrategy": {"rollingUpdateConfiguration": {"maxUnavailable": 0}}}
    args = DisaggregatedSetArgs.model_validate(
        a_set(a_role("prefill"), a_role("decode", spec=still)) | {"lwsVersion": version}
    )
    problems = judge(disaggregated_set(args), args.target)
    assert [(problem.rule, problem.refused) for problem in problems] == [("rollout-moves", refused)]


def test_an_autoscaler_aims_at_the_scaler_of_an_external_role() -> None:
    targets: list[Any] = []

    def program() -> None:
        roles = (a_role("prefill"), a_role("decode", scaling={"mode": "External"}))
        targets.append(DisaggregatedSet("x", a_set(*roles)).scaler("decode"))

    record(program)
    assert targets == [
        {
            "apiVersion": "disaggregatedset.x-k8s.io/v1",
            "kind": "DisaggregatedSetRoleScaler",
            "name": "llm-decode",
        }
    ]


def test_a_static_role_has_no_scaler() -> None:
    roles = (a_role("prefill"), a_role("decode", scaling={"mode": "External"}))
    with pytest.raises(DeclarationError) as raised:
        record(lambda: void(DisaggregatedSet("x", a_set(*roles)).scaler("prefill")))
    assert str(raised.value) == (
        "DisaggregatedSet x has 1 problem:\n"
        "  - spec.roles: found no role prefill with scaling.mode External; allowed: one of decode."
        " Set scaling.mode of prefill to External: the controller makes a scaler only for such a role."
    )


def test_an_autoscaler_aims_at_a_leader_worker_set_that_leaves_replicas_to_it() -> None:
    targets: list[Any] = []
    args = {"name": "llm", "namespace": "models", "spec": a_role("any")["spec"]}

    def program() -> None:
        targets.append(LeaderWorkerSet("x", args | {"scaledElsewhere": True}).scale_target)

    record(program)
    assert targets == [{"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "llm"}]
    with pytest.raises(DeclarationError, match=r"scaledElsewhere: found false; allowed: true, where an autoscaler"):
        record(lambda: void(LeaderWorkerSet("x", args).scale_target))


def void(_: object) -> None:
    """Drop a value: a program returns nothing."""
