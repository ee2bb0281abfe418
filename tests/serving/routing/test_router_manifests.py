"""The objects of a router."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from pulumi_lws.checking.judging import check
from pulumi_lws.facts.api_paths import APIS, DEFAULT_APIS
from pulumi_lws.rules.rule import Target
from pulumi_lws.serving.routing import manifests
from pulumi_lws.serving.routing.pool import RoutedPool
from pulumi_lws.serving.routing.settings import Router

POOL = RoutedPool("glm-5", "models", {"pulumi-lws/deployment": "glm-5", "pulumi-lws/serves": "true"}, 8000, 120)
GATEWAY: dict[str, Any] = {
    "kind": "gateway",
    "gateway": "edge",
    "gatewayNamespace": "gateways",
    "hostnames": ["glm.example.com"],
}
STANDALONE: dict[str, Any] = {"kind": "standalone"}
ROUTERS = [STANDALONE, STANDALONE | {"replicas": 2}, GATEWAY, GATEWAY | {"replicas": 2}]

BASE = ["router-account", "router-rights", "router-binding", "router-configuration", "router"]


def objects(declared: dict[str, Any], pool: RoutedPool = POOL, image: str | None = None) -> dict[str, Any]:
    router: Router = TypeAdapter(Router).validate_python(declared)
    return manifests.router_objects(router, pool, 8000, image)


def pod(declared: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = objects(declared)["router"]["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("router", ROUTERS)
def test_the_api_server_takes_every_object_and_no_rule_has_a_word_to_say(
    router: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "router.yaml"
    path.write_text(yaml.safe_dump_all(objects(router).values()))
    report = check([str(path)], Target(lws=(0, 10), kubernetes=(1, 35)))
    assert [str(problem) for judged in report.objects for problem in judged.problems] == []
    assert not report.errors


def test_a_standalone_router_needs_no_gateway_and_no_pool() -> None:
    assert list(objects(STANDALONE)) == [*BASE, "api"]


def test_behind_a_gateway_it_has_a_pool_and_a_route() -> None:
    assert list(objects(GATEWAY)) == [*BASE, "router-picker", "inference-pool", "route"]


def test_only_several_routers_have_a_budget_and_keep_apart() -> None:
    several = STANDALONE | {"replicas": 2}
    assert list(objects(several)) == [*BASE, "router-budget", "api"]
    assert [term["topologyKey"] for term in pod(several)["topologySpreadConstraints"]] == [
        "topology.kubernetes.io/zone",
        "kubernetes.io/hostname",
    ]
    assert "topologySpreadConstraints" not in pod(STANDALONE)


def test_clients_reach_the_router_where_they_reach_any_deployment() -> None:
    service = objects(STANDALONE)["api"]
    assert (service["metadata"]["name"], service["spec"]) == (
        "glm-5-api",
        {
            "selector": {"pulumi-lws/router": "glm-5-router"},
            "ports": [{"name": "http", "port": 8000, "targetPort": 8000}],
        },
    )


def opened_by_envoy(declared: dict[str, Any]) -> list[tuple[str, str]]:
    """Methods and paths that the Envoy of a router sends to pods, as its configuration has them."""
    configuration = json.loads(objects(declared)["router-configuration"]["data"]["envoy.yaml"])
    manager = configuration["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    routes = manager["route_config"]["virtual_hosts"][0]["routes"]
    matches = [route["match"] for route in routes if "route" in route]
    return [(match["headers"][0]["string_match"]["exact"], match["path"]) for match in matches]


def test_envoy_opens_what_a_model_that_writes_text_is_asked_for() -> None:
    assert opened_by_envoy(STANDALONE) == [(APIS[name].method, APIS[name].path) for name in DEFAULT_APIS]


def test_envoy_opens_what_is_declared_each_once() -> None:
    assert opened_by_envoy(STANDALONE | {"apis": ["embeddings", "models", "embeddings"]}) == [
        ("POST", "/v1/embeddings"),
        ("GET", "/v1/models"),
    ]


def test_the_pool_has_the_pods_that_serve_and_fails_closed() -> None:
    assert objects(GATEWAY)["inference-pool"] == {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": {"name": "glm-5", "namespace": "models"},
        "spec": {
            "selector": {"matchLabels": {"pulumi-lws/deployment": "glm-5", "pulumi-lws/serves": "true"}},
            "targetPorts": [{"number": 8000}],
            "endpointPickerRef": {
                "kind": "Service",
                "name": "glm-5-router",
                "port": {"number": 9002},
                "failureMode": "FailClose",
            },
        },
    }


def test_the_route_leads_what_clients_may_ask_for_to_the_pool_and_nothing_else() -> None:
    assert objects(GATEWAY | {"apis": ["chat", "models", "chat"]})["route"]["spec"] == {
        "parentRefs": [
            {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge", "namespace": "gateways"}
        ],
        "hostnames": ["glm.example.com"],
        "rules": [
            {
                "matches": [
                    {"path": {"type": "Exact", "value": "/v1/chat/completions"}, "method": "POST"},
                    {"path": {"type": "Exact", "value": "/v1/models"}, "method": "GET"},
                ],
                "backendRefs": [{"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "glm-5"}],
                "timeouts": {"request": "0s", "backendRequest": "0s"},
            }
        ],
    }


def test_the_route_opens_what_a_model_that_writes_text_is_asked_for() -> None:
    (rule,) = objects(GATEWAY)["route"]["spec"]["rules"]
    opened = [(match["method"], match["path"]["type"], match["path"]["value"]) for match in rule["matches"]]
    assert opened == [(APIS[name].method, "Exact", APIS[name].path) for name in DEFAULT_APIS]


def test_a_router_may_read_pods_and_nothing_else() -> None:
    read = ["get", "list", "watch"]
    pods = {"apiGroups": [""], "resources": ["pods"], "verbs": read}
    own = ["inferenceobjectives", "inferencemodelrewrites"]
    assert objects(STANDALONE)["router-rights"]["rules"] == [pods]
    assert objects(GATEWAY)["router-rights"]["rules"] == [
        pods,
        {"apiGroups": ["inference.networking.k8s.io"], "resources": ["inferencepools"], "verbs": read},
        {"apiGroups": ["llm-d.ai"], "resources": own, "verbs": read},
        {"apiGroups": ["inference.networking.x-k8s.io"], "resources": own, "verbs": read},
    ]
    assert {made["kind"] for router in ROUTERS for made in objects(router).values()}.isdisjoint(
        {"ClusterRole", "ClusterRoleBinding"}
    )


@pytest.mark.parametrize("router", ROUTERS)
def test_every_container_is_restricted(router: dict[str, Any]) -> None:
    contexts = [container["securityContext"] for container in pod(router)["containers"]]
    assert all(
        context["runAsNonRoot"] and context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"]
        for context in contexts
    )


@pytest.mark.parametrize("router", ROUTERS)
def test_a_router_is_on_no_gpu_node(router: dict[str, Any]) -> None:
    assert "tolerations" not in pod(router)
    terms = pod(router)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms == {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "pulumi-lws/pool", "operator": "DoesNotExist"}]}]
    }


@pytest.mark.parametrize("router", ROUTERS)
def test_a_router_finishes_its_requests_before_it_goes(router: dict[str, Any]) -> None:
    waits = [container["lifecycle"]["preStop"]["sleep"]["seconds"] for container in pod(router)["containers"]]
    assert set(waits) == {120}
    assert pod(router)["terminationGracePeriodSeconds"] == 150
    rollout = objects(router)["router"]["spec"]["strategy"]["rollingUpdate"]
    assert rollout == {"maxUnavailable": 0, "maxSurge": 1}


def test_another_configuration_makes_new_routers() -> None:
    before = objects(STANDALONE)
    after = objects(STANDALONE, RoutedPool("glm-5", "models", {"pulumi-lws/deployment": "other"}, 8000, 120))
    names = [made["router-configuration"]["metadata"]["name"] for made in (before, after)]
    mounted = [
        made["router"]["spec"]["template"]["spec"]["volumes"][0]["configMap"]["name"] for made in (before, after)
    ]
    assert names == mounted
    assert names[0] != names[1]


def test_the_same_configuration_has_the_same_name() -> None:
    assert objects(STANDALONE) == objects(STANDALONE)


def test_images_are_those_of_the_pin_table_unless_declared() -> None:
    pinned = {container["name"]: container["image"] for container in pod(STANDALONE)["containers"]}
    assert pinned == {
        "envoy": "docker.io/envoyproxy/envoy:distroless-v1.39.6",
        "endpoint-picker": "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.10.0",
    }
    declared = objects(GATEWAY, image="example.com/picker:v1")["router"]["spec"]["template"]["spec"]["containers"]
    assert [container["image"] for container in declared] == ["example.com/picker:v1"]


def test_files_of_the_configuration_are_those_that_the_programs_open() -> None:
    data = objects(STANDALONE)["router-configuration"]["data"]
    opened = [
        part.rpartition("/")[2]
        for container in pod(STANDALONE)["containers"]
        for part in container["args"]
        if "/etc/router/" in part
    ]
    assert sorted(opened) == sorted(data)


@pytest.mark.parametrize("is_ours", [True, False])
def test_sidecars_may_read_pods_and_the_pool(is_ours: bool) -> None:
    rights = manifests.sidecar_rights("glm-5-decode", "models", "reader", is_ours=is_ours)
    assert list(rights) == [*(["sidecar-account"] if is_ours else []), "sidecar-rights", "sidecar-binding"]
    assert [rule["resources"] for rule in rights["sidecar-rights"]["rules"]] == [["pods"], ["inferencepools"]]
    assert rights["sidecar-binding"]["subjects"] == [
        {"kind": "ServiceAccount", "name": "reader", "namespace": "models"}
    ]
