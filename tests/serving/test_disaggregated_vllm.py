"""A model in two roles: what is rendered, by backend and router."""

from collections.abc import Mapping
from typing import Any

import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.serving.checks import check
from pulumi_lws.serving.component import DisaggregatedVllm
from pulumi_lws.serving.objects import DeploymentObjects
from pulumi_lws.serving.render import render
from pulumi_lws.testing.monitor import record
from pulumi_lws.workloads.manifests import disaggregated_set, leader_worker_set
from tests.serving.disaggregations import GLM_5, args, declaration, role

GATEWAY: dict[str, Any] = {"router": {"kind": "gateway", "gateway": "edge", "hostnames": ["llm.example.com"]}}
AS_SET: dict[str, Any] = {"backend": "disaggregated-set"}
ROUTER = ["router-account", "router-rights", "router-binding", "router-configuration", "router"]
BUDGETS = ["prefill-budget", "decode-budget"]
NETWORKS = ["prefill-network", "decode-network"]


def objects(**changes: Any) -> DeploymentObjects:
    return render(args(**changes))


def callers(policy: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return who reaches a role, by the ports: ``*`` are all."""
    found: dict[str, list[Any]] = {}
    for rule in policy["spec"]["ingress"]:
        ports = ",".join(str(port["port"]) for port in rule.get("ports", [])) or "*"
        found.setdefault(ports, []).extend(
            (peer.get("podSelector") or peer["namespaceSelector"])["matchLabels"]
            if peer != {"podSelector": {}}
            else "namespace"
            for peer in rule["from"]
        )
    return found


def test_the_declaration_has_no_problem() -> None:
    assert check(args()) == []


def test_paired_groups_are_a_leader_worker_set_for_each_role() -> None:
    rendered = objects()
    assert {name: (groups.name, groups.spec.replicas) for name, groups in rendered.groups.items()} == {
        "prefill": ("gpt-oss-prefill", 4),
        "decode": ("gpt-oss-decode", 2),
    }
    assert rendered.disaggregated_set is None
    assert list(rendered.before) == [*NETWORKS, "router-network"]
    assert list(rendered.beside) == [*BUDGETS, *ROUTER, "api"]
    assert rendered.url == "http://gpt-oss-api.models.svc:8000/v1"


def test_as_a_set_both_roles_are_one_object_and_rolled_by_its_controller() -> None:
    rendered = objects(**GLM_5, **AS_SET)
    assert rendered.groups == {}
    assert rendered.disaggregated_set is not None
    manifest = disaggregated_set(rendered.disaggregated_set)
    assert (manifest["kind"], manifest["metadata"]["name"]) == ("DisaggregatedSet", "glm-5")
    assert [(one["name"], one["spec"]["startupPolicy"], one["metadata"]) for one in manifest["spec"]["roles"]] == [
        (
            name,
            "LeaderReady",
            {
                "labels": {"pulumi-lws/deployment": "glm-5", "pulumi-lws/role": name},
                "annotations": {"leaderworkerset.sigs.k8s.io/exclusive-topology": "pulumi-lws/island"},
            },
        )
        for name in ("prefill", "decode")
    ]


def test_both_backends_run_the_same_pods() -> None:
    pairs, as_set = objects(), objects(**AS_SET)
    assert as_set.disaggregated_set is not None
    templates = {one.name: one.spec.leader_worker_template for one in as_set.disaggregated_set.spec.roles}
    assert templates == {name: groups.spec.leader_worker_template for name, groups in pairs.groups.items()}


def test_a_scaled_role_of_a_set_is_left_to_its_scaler() -> None:
    scaled = objects(**AS_SET, decode={**role(tensor=4), "autoscaling": {"maxReplicas": 3}})
    assert scaled.disaggregated_set is not None
    assert [one.is_external for one in scaled.disaggregated_set.spec.roles] == [False, True]
    assert scaled.beside["decode-autoscaler"]["spec"]["scaleTargetRef"] == {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSetRoleScaler",
        "name": "gpt-oss-decode",
    }


def test_behind_a_gateway_the_sidecars_may_read_the_pool_before_pods_are_made() -> None:
    rendered = objects(**GATEWAY)
    assert list(rendered.before) == [
        *NETWORKS,
        "router-network",
        "sidecar-account",
        "sidecar-rights",
        "sidecar-binding",
    ]
    assert list(rendered.beside) == [*BUDGETS, *ROUTER, "router-picker", "inference-pool", "route"]
    assert rendered.url == "http://llm.example.com/v1"


def test_a_router_of_ones_own_finds_each_role_by_a_service() -> None:
    rendered = objects(router=None)
    assert list(rendered.beside) == [*BUDGETS, "prefill-api", "decode-api"]
    port = {"name": "http", "port": 8000, "targetPort": 8000}
    assert rendered.beside["decode-api"]["spec"] == {
        "selector": {
            "pulumi-lws/deployment": "gpt-oss",
            "pulumi-lws/serves": "true",
            "pulumi-lws/role": "decode",
        },
        "ports": [port],
    }
    assert rendered.url == "http://gpt-oss-decode-api.models.svc:8000/v1"


def test_clients_reach_the_router_and_only_the_router_reaches_the_pods() -> None:
    before = objects().before
    prefill, decode = ({"leaderworkerset.sigs.k8s.io/name": f"gpt-oss-{name}"} for name in ("prefill", "decode"))
    router, monitoring = {"pulumi-lws/router": "gpt-oss-router"}, {"kubernetes.io/metadata.name": "monitoring"}
    assert {name: callers(policy) for name, policy in before.items()} == {
        "prefill-network": {"*": [prefill, decode], "8000": [router, monitoring, router]},
        "decode-network": {"*": [decode, prefill], "8000": [router], "8000,8200": [monitoring, router]},
        "router-network": {"*": [router], "8000": ["namespace"], "9090,19001": [monitoring]},
    }


def test_a_gateway_reaches_decode_pods_and_the_picker() -> None:
    before = objects(**GATEWAY, network={"clients": [{"namespace": "gateways"}]}).before
    gateways = {"kubernetes.io/metadata.name": "gateways"}
    reached = {
        name: [ports for ports, peers in callers(before[name]).items() if gateways in peers]
        for name in (*NETWORKS, "router-network")
    }
    assert reached == {"prefill-network": [], "decode-network": ["8000"], "router-network": ["9002"]}


def test_without_network_policies_there_are_none() -> None:
    assert objects(network=None).before == {}


def test_groups_over_nodes_have_their_probe() -> None:
    assert "probe" in objects(**GLM_5).before


def test_an_update_waits_as_long_as_the_slower_role_may_take() -> None:
    assert objects(startBudgetMinutes=90).update_minutes == 99


@pytest.mark.parametrize("changes", [{}, AS_SET, GATEWAY, GATEWAY | AS_SET, {"router": None}, GLM_5, GLM_5 | AS_SET])
def test_names_of_objects_are_distinct(changes: dict[str, Any]) -> None:
    rendered = objects(**changes)
    manifests = [*rendered.before.values(), *rendered.beside.values()]
    manifests += [leader_worker_set(groups) for groups in rendered.groups.values()]
    names = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests]
    assert len(names) == len(set(names))
    assert {manifest["metadata"]["namespace"] for manifest in manifests} == {"models"}


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("backend", ["leader-worker-sets", "disaggregated-set"])
def test_the_component_registers_what_is_rendered(backend: str, *, preview: bool) -> None:
    declared = declaration(backend=backend)
    registrations = record(lambda: void(DisaggregatedVllm("gpt-oss", declared)), preview=preview)
    expected = render(args(backend=backend))
    manifests = {**expected.before, **expected.beside}
    manifests |= {key: leader_worker_set(groups) for key, groups in expected.groups.items()}
    if expected.disaggregated_set is not None:
        manifests["roles"] = disaggregated_set(expected.disaggregated_set)
    assert {r.name: r.inputs for r in registrations if r.type.startswith("kubernetes:")} == {
        f"gpt-oss-{key}": manifest for key, manifest in manifests.items()
    }


def test_a_pair_that_cannot_hand_over_is_one_clean_error() -> None:
    wrong = declaration(prefill=role(replicas=4, tensor=4), decode=role(tensor=2))
    with pytest.raises(DeclarationError) as raised:
        record(lambda: void(DisaggregatedVllm("gpt-oss", wrong)))
    assert str(raised.value).startswith(
        "DisaggregatedVllm gpt-oss has 1 problem:\n  - prefill.parallelism.tensor: found 4; allowed: 1, 2:"
    )


def void(_: object) -> None:
    """Drop a value: a program returns nothing."""
