"""A gateway sees of a deployment what that renders, whatever its kind."""

from typing import Any

import pytest

from pulumi_lws.edge.backends import Backend, admits, backend_of, gateway_client
from pulumi_lws.edge.checks import gateway_problems
from pulumi_lws.facts.api_paths import DEFAULT_APIS
from pulumi_lws.serving.render import render
from pulumi_lws.serving.settings import (
    Client,
    DeploymentArgs,
    DisaggregatedVllmArgs,
    MultiNodeVllmArgs,
    SingleNodeVllmArgs,
)
from tests.edge.gateways import args
from tests.serving.shapes import POOLS, SHAPES

KINDS: dict[str, type[MultiNodeVllmArgs] | type[SingleNodeVllmArgs] | type[DisaggregatedVllmArgs]] = {
    "multi-node-vllm": MultiNodeVllmArgs,
    "single-node-vllm": SingleNodeVllmArgs,
    "disaggregated-vllm": DisaggregatedVllmArgs,
}
PLACED = {"name": "gpt-oss", "namespace": "models", "pools": POOLS}
COMMON = {"namespace": "models", "contextTokens": 131072, "clients": [{}]}
EXPECTED: dict[str, dict[str, Any]] = {
    "single": {"name": "gpt-oss-api", "healthPath": "/health"},
    "groups": {"name": "gpt-oss-api", "healthPath": "/health"},
    "roles": {"name": "gpt-oss-api", "apis": DEFAULT_APIS},
    "roles as a set": {"name": "gpt-oss-api", "apis": DEFAULT_APIS},
    "roles behind a gateway": {
        "kind": "InferencePool",
        "name": "gpt-oss",
        "ownGateway": {"name": "inference", "namespace": "models"},
    },
    "roles as a set behind a gateway": {
        "kind": "InferencePool",
        "name": "gpt-oss",
        "ownGateway": {"name": "inference", "namespace": "models"},
    },
    "roles without a router": {"name": "gpt-oss-decode-api", "healthPath": "/health"},
    "roles as a set without a router": {"name": "gpt-oss-decode-api", "healthPath": "/health"},
}


def deployment(shape: str, **changes: Any) -> DeploymentArgs:
    declared = {**PLACED, **SHAPES[shape], **changes}
    return KINDS[declared["kind"]].model_validate(declared)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_deployment_is_reached_where_it_answers(shape: str) -> None:
    found = backend_of(deployment(shape))
    assert found == Backend.model_validate({**COMMON, **EXPECTED[shape]})
    rendered = render(deployment(shape)).manifests.values()
    (target,) = (one for one in rendered if (one["kind"], one["metadata"]["name"]) == (found.kind, found.name))
    ports = target["spec"].get("ports") or [{"port": one["number"]} for one in target["spec"]["targetPorts"]]
    assert found.port in [one["port"] for one in ports]


def test_a_router_without_a_gateway_makes_no_route() -> None:
    apart = deployment("roles behind a gateway", router={"kind": "gateway"})
    assert backend_of(apart) == Backend.model_validate({**COMMON, "kind": "InferencePool", "name": "gpt-oss"})
    kinds = [one["kind"] for one in render(apart).manifests.values()]
    assert "InferencePool" in kinds
    assert "HTTPRoute" not in kinds


def test_an_engine_of_ones_own_is_asked_at_its_own_path() -> None:
    engine = {"kind": "custom", "leaderCommand": ["serve"], "apiPort": 9000, "healthPath": "/alive"}
    found = backend_of(deployment("single", engine=engine, image="registry.example.com/engine:1"))
    assert found == Backend.model_validate({**COMMON, "name": "gpt-oss-api", "port": 9000, "healthPath": "/alive"})


def test_a_deployment_of_an_unknown_pool_is_no_backend() -> None:
    assert backend_of(deployment("single", pool="none")) is None


def test_the_client_to_add_is_enough() -> None:
    client = gateway_client("door", "edge")
    assert client == Client(
        namespace="envoy-gateway-system",
        pod_labels={
            "gateway.envoyproxy.io/owning-gateway-name": "door",
            "gateway.envoyproxy.io/owning-gateway-namespace": "edge",
        },
    )
    network = {"clients": [client.model_dump(by_alias=True)]}
    found = backend_of(deployment("groups", network=network))
    assert found is not None
    assert admits(found, client)
    assert not admits(found, gateway_client("other", "edge"))
    assert gateway_problems(args(backends={"glm-5": found})) == []


def test_a_deployment_without_a_policy_lets_everybody_in() -> None:
    found = backend_of(deployment("groups", network=None))
    assert found is not None
    assert found.clients is None
    assert admits(found, gateway_client("door", "edge"))
