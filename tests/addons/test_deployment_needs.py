"""The add-ons that deployments need follow from what they become."""

from collections.abc import Mapping
from typing import Any

import pytest

from pulumi_lws.addons.addon import Site
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.needs import autoscaling_by_path, deployment_needs, misplaced_prometheus, missing_add_ons
from pulumi_lws.addons.settings import AddOnName
from pulumi_lws.facts import labels
from pulumi_lws.serving.render import render
from pulumi_lws.serving.settings import DeploymentArgs
from tests.addons.sites import add_ons
from tests.queues.fleets import GROUPS, ROLES, SINGLE, deployments

ALONE = {"queue": None}
KEDA = {"autoscaling": {"maxReplicas": 2}}
HPA = {"autoscaling": {"kind": "hpa", "maxReplicas": 2}}
DECODE_SCALED = ROLES | {"decode": ROLES["decode"] | KEDA}
GATEWAY = {"router": {"kind": "gateway"}}
OWN_ROUTE = {"router": {"kind": "gateway", "gateway": "public"}}

SHAPES: Mapping[str, tuple[dict[str, Any], dict[AddOnName, str]]] = {
    "groups": (GROUPS | ALONE, {"lws": "kind"}),
    "groups in a queue": (GROUPS, {"lws": "kind", "kueue": "queue"}),
    "one node": (SINGLE | ALONE, {}),
    "one node scaled by KEDA": (SINGLE | ALONE | KEDA, {"keda": "autoscaling"}),
    "groups scaled by the adapter": (GROUPS | ALONE | HPA, {"lws": "kind", "prometheus_adapter": "autoscaling"}),
    "roles": (ROLES | ALONE, {"lws": "kind"}),
    "a role that is scaled": (DECODE_SCALED | ALONE, {"lws": "kind", "keda": "decode.autoscaling"}),
    "roles of a DisaggregatedSet": (ROLES | ALONE | {"backend": "disaggregated-set"}, {"lws": "kind"}),
    "roles behind a gateway": (ROLES | ALONE | GATEWAY, {"lws": "kind", "inference_pools": "router"}),
    "roles with a route of their own": (
        ROLES | ALONE | OWN_ROUTE,
        {"lws": "kind", "inference_pools": "router", "envoy_gateway": "router.gateway"},
    ),
}
EACH = pytest.mark.parametrize(("shape", "needed"), SHAPES.values(), ids=SHAPES)


@EACH
def test_a_deployment_says_what_it_needs_and_where(shape: dict[str, Any], needed: dict[AddOnName, str]) -> None:
    assert deployment_needs(deployments(llm=shape)) == {
        name: [f"deployments.llm.{path}"] for name, path in needed.items()
    }


@EACH
def test_what_it_needs_is_what_its_objects_need(shape: dict[str, Any], needed: dict[AddOnName, str]) -> None:
    (args,) = deployments(llm=shape).values()
    assert _needed_by_objects(args) == set(needed)


def test_each_deployment_and_role_is_named() -> None:
    both = ROLES | ALONE | {"prefill": ROLES["prefill"] | KEDA, "decode": ROLES["decode"] | KEDA}
    assert deployment_needs(deployments(one=GROUPS, two=both)) == {
        "lws": ["deployments.one.kind", "deployments.two.kind"],
        "kueue": ["deployments.one.queue"],
        "keda": ["deployments.two.prefill.autoscaling", "deployments.two.decode.autoscaling"],
    }


PATHS = [f"deployments.{letter}.queue" for letter in "abcde"]


@pytest.mark.parametrize(
    ("paths", "declared", "is_new", "shown"),
    [
        (PATHS[:1], {}, True, "deployments.a.queue"),
        (PATHS[:3], {}, True, "deployments.a.queue, deployments.b.queue, deployments.c.queue"),
        (PATHS, {}, True, "deployments.a.queue, deployments.b.queue, deployments.c.queue and 2 more"),
        (PATHS, {"kueue": {}}, True, None),
        ([], {}, True, None),
        # It may be there already.
        (PATHS, {}, False, None),
    ],
)
def test_what_is_needed_and_not_installed_is_missed_on_a_new_cluster(
    paths: list[str], declared: dict[str, Any], is_new: bool, shown: str | None
) -> None:
    problems = missing_add_ons({"kueue": paths}, add_ons(**declared), Site(is_new=is_new))
    assert [str(problem) for problem in problems] == (shown is not None) * [
        (
            f"addOns.kueue: found nothing; allowed: Kueue, without which these do not work: {shown}."
            " Add kueue: {} to addOns."
        )
    ]


ELSEWHERE = {"kubePrometheusStack": {"namespace": "metrics"}}
OWN_ADDRESS = "http://prometheus-operated.metrics.svc:9090"


@pytest.mark.parametrize(
    ("declared", "autoscaling", "asking"),
    [
        (ELSEWHERE, KEDA["autoscaling"], "deployments.llm.autoscaling"),
        (ELSEWHERE, KEDA["autoscaling"] | {"prometheus": OWN_ADDRESS}, None),
        # A HorizontalPodAutoscaler asks the adapter, and that asks Prometheus.
        (ELSEWHERE, HPA["autoscaling"], None),
        (ELSEWHERE | {"prometheusAdapter": {}}, HPA["autoscaling"], "addOns.prometheusAdapter.values"),
        (
            ELSEWHERE | {"prometheusAdapter": {"values": {"prometheus": {"url": OWN_ADDRESS}}}},
            HPA["autoscaling"],
            None,
        ),
        (
            ELSEWHERE | {"prometheusAdapter": {}},
            KEDA["autoscaling"],
            "deployments.llm.autoscaling, addOns.prometheusAdapter.values",
        ),
        (ELSEWHERE, None, None),
        ({"kubePrometheusStack": {"namespace": "monitoring"}}, KEDA["autoscaling"], None),
        ({"kubePrometheusStack": {}}, KEDA["autoscaling"], None),
        ({}, KEDA["autoscaling"], None),
    ],
)
def test_prometheus_is_where_autoscalers_look_for_it(
    declared: dict[str, Any], autoscaling: dict[str, Any] | None, asking: str | None
) -> None:
    scaled = autoscaling_by_path(deployments(llm=SINGLE | ALONE | {"autoscaling": autoscaling}))
    problems = misplaced_prometheus(add_ons(**declared), scaled)
    assert [f"{one.severity}: {one}" for one in problems] == (asking is not None) * [
        (
            "warning: addOns.kubePrometheusStack.namespace: found metrics; allowed: monitoring, where these look for"
            f" Prometheus (http://prometheus-operated.monitoring.svc:9090): {asking}. Remove it, or set prometheus of"
            " these."
        )
    ]


def _needed_by_objects(args: DeploymentArgs) -> set[str]:
    """Find the add-ons whose kinds, labels and metrics the objects of a deployment are made of."""
    groups = {crd.partition(".")[2]: name for name, facts in ADD_ONS.items() for crd in facts.crds}
    found: set[str] = set()
    for made in render(args).manifests.values():
        group = made["apiVersion"].rpartition("/")[0]
        found |= {groups[group]} if group in groups else set()
        found |= {"kueue"} if labels.KUEUE_QUEUE in made["metadata"].get("labels", {}) else set()
        if made["kind"] == "HorizontalPodAutoscaler":
            found.add("prometheus_adapter")
    return found
