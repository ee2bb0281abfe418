"""A real API server with the schemas of the Gateway API and of Envoy Gateway takes every object of a gateway."""

from collections.abc import Callable
from typing import Any

import pytest

from pulumi_lws.edge.manifests import edge_objects
from pulumi_lws.facts.api_paths import APIS
from tests.edge.gateways import SHAPES, args

pytestmark = pytest.mark.lab


@pytest.mark.parametrize("shape", SHAPES)
def test_a_gateway_of_each_kind_is_taken(shape: str, taken: Callable[[list[dict[str, Any]]], list[str]]) -> None:
    assert taken(list(edge_objects(args(**SHAPES[shape])).values())) == []


def test_a_gateway_at_its_bounds_is_taken(taken: Callable[[list[dict[str, Any]]], list[str]]) -> None:
    names = [f"h{index}.{'a' * 60}.{'b' * 60}.{'c' * 60}.{'d' * 40}.example.com" for index in range(64)]
    widest = {
        "name": "g" * 63,
        "hosts": [{"hostname": name[:240], "certificate": "c" * 253} for name in names],
        "authentication": {"kind": "api-keys", "secrets": [f"keys-{index}" for index in range(64)]},
        "routes": {
            "r" * 63: {
                "deployment": "glm-5",
                "pathPrefix": "/" + "p" * 199,
                "model": "m" * 4096,
                "apis": list(APIS),
                "hostnames": names[:16],
            }
        },
        "rateLimit": {"requestsPerMinute": 1_000_000},
        "limits": {"bodyMib": 256, "connections": 1_000_000, "parallelRequests": 1_000_000},
        "timeouts": {"requestSeconds": 86_400, "idleSeconds": 86_400},
        "proxies": {"replicas": 100, "drainSeconds": 86_400},
        "modelHeader": "x" * 100,
    }
    assert taken(list(edge_objects(args(**widest)).values())) == []


def test_a_field_that_envoy_gateway_does_not_know_is_not_taken(
    taken: Callable[[list[dict[str, Any]]], list[str]],
) -> None:
    policy = edge_objects(args())["glm-traffic"]
    policy["spec"]["retry"]["retryOn"]["triggers"] = ["sometimes"]
    (said,) = taken([policy])
    assert said.startswith("BackendTrafficPolicy door-glm: ")
    assert 'spec.retry.retryOn.triggers[0]: Unsupported value: "sometimes"' in said
