from typing import Any

import pytest

from pulumi_lws.checking.schemas import CLAIM, POD_SPEC, nearest, published_versions, schemas_for
from pulumi_lws.planning.problems import Problem


def pod_problems(pod: dict[str, Any], *, in_custom: bool = False) -> list[Problem]:
    return schemas_for((1, 35), in_custom=in_custom).problems(pod, POD_SPEC, "spec")


def container(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "a", **fields}]}


@pytest.mark.parametrize(
    ("pod", "problem"),
    [
        ({}, Problem("spec.containers", "nothing", "List of containers belonging to the pod", "Add containers.")),
        (
            container(imagee="x"),
            Problem(
                "spec.containers[0].imagee",
                "an unknown field with the value 'x'",
                "a field of Container",
                "Write image instead.",
            ),
        ),
        (
            container(ports=[{"containerPort": "80"}]),
            Problem("spec.containers[0].ports[0].containerPort", "'80'", "a whole number", "Change containerPort."),
        ),
        (
            container(ports=[{"containerPort": 2**31}]),
            Problem(
                "spec.containers[0].ports[0].containerPort",
                "2147483648",
                "-2147483648 to 2147483647",
                "Change containerPort.",
            ),
        ),
        (
            container(resources={"limits": {"nvidia.com/gpu": "8GB"}}),
            Problem(
                "spec.containers[0].resources.limits['nvidia.com/gpu']",
                "'8GB'",
                "a quantity such as 500m, 8 or 16Gi",
                "Change nvidia.com/gpu.",
            ),
        ),
        (
            container(readinessProbe={"httpGet": {"port": 1.5}}),
            Problem("spec.containers[0].readinessProbe.httpGet.port", "1.5", "a whole number or text", "Change port."),
        ),
        (container(command="a"), Problem("spec.containers[0].command", "'a'", "a list", "Change command.")),
        (container(stdin="yes"), Problem("spec.containers[0].stdin", "'yes'", "true or false", "Change stdin.")),
        (
            {"containers": [], "nodeSelector": {"a": True}},
            Problem("spec.nodeSelector.a", "true", "text", "Change a."),
        ),
    ],
)
def test_a_pod_is_held_to_the_published_schema(pod: dict[str, Any], problem: Problem) -> None:
    assert pod_problems(pod) == [problem]


@pytest.mark.parametrize("quantity", [8, 0.5, "500m", "16Gi", "1e3", "+1.5k", ".5", None])
def test_quantities_are_taken_as_the_server_takes_them(quantity: Any) -> None:
    assert pod_problems(container(resources={"limits": {"cpu": quantity}})) == []


def test_a_list_with_keys_has_each_item_once_in_a_custom_resource() -> None:
    pod = container(
        env=[{"name": "A"}, {"name": "B"}, {"name": "A", "value": "1"}],
        ports=[{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}, {"containerPort": 1, "protocol": "TCP"}],
    )
    assert pod_problems(pod) == []
    assert pod_problems(pod, in_custom=True) == [
        Problem("spec.containers[0].env[2]", "another item with name A", "one item with name A", "Remove one of them."),
        Problem(
            "spec.containers[0].ports[2]",
            "another item with containerPort 1 and protocol TCP",
            "one item with containerPort 1 and protocol TCP",
            "Remove one of them.",
        ),
    ]


def test_a_custom_resource_has_no_null_in_a_list_and_no_fraction_as_quantity() -> None:
    pod = container(command=["a", None], resources={"limits": {"cpu": 0.5, "memory": None}})
    assert pod_problems(pod) == []
    assert pod_problems(pod, in_custom=True) == [
        Problem("spec.containers[0].command[1]", "nothing", "an item", "Remove it, or write what it should be."),
        Problem("spec.containers[0].resources.limits.cpu", "0.5", "a whole number or text", "Change cpu."),
    ]


def test_text_in_base64_and_times_are_judged() -> None:
    schemas = schemas_for((1, 35))
    secret = {"data": {"good": "aGk=\n", "bad": "h"}, "metadata": {"creationTimestamp": "now"}}
    definition = schemas.definition_of("v1", "Secret")
    assert definition is not None
    assert sorted((p.path, p.allowed) for p in schemas.problems(secret, definition)) == [
        ("data.bad", "text in base64"),
        ("metadata.creationTimestamp", "a time such as 2026-01-31T12:00:00Z"),
    ]


def test_fields_are_those_of_the_version() -> None:
    fields: dict[str, Any] = {"containers": [], "resources": {}}
    assert [p.path for p in schemas_for((1, 31)).problems(fields, POD_SPEC)] == ["resources"]
    assert schemas_for((1, 32)).problems(fields, POD_SPEC) == []


@pytest.mark.parametrize(
    ("asked", "taken"), [((1, 35), (1, 35)), ((2, 0), max(published_versions())), ((1, 4), (1, 25))]
)
def test_a_version_without_schemas_is_judged_by_the_nearest_older_one(
    asked: tuple[int, int], taken: tuple[int, int]
) -> None:
    assert nearest(asked) == taken


def test_kinds_are_known_by_their_version() -> None:
    schemas = schemas_for((1, 35))
    assert schemas.definition_of("apps/v1", "Deployment") == "io.k8s.api.apps.v1.Deployment"
    assert schemas.definition_of("apps.example.com/v1", "Deployment") is None
    assert [schemas.owns(version) for version in ("v1", "policy/v1beta1", "extensions/v1", "karpenter.sh/v1")] == [
        True,
        True,
        True,
        False,
    ]
    assert schemas.similar("autoscaling/v2beta2", "HorizontalPodAutoscaler") == [
        "autoscaling/v1 HorizontalPodAutoscaler",
        "autoscaling/v2 HorizontalPodAutoscaler",
    ]
    assert schemas.problems({}, CLAIM) == []
