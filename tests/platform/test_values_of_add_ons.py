"""What gateways ask of add-ons is on in their values."""

from typing import Any

import pytest

from pulumi_lws.platform.checks import read
from tests.conftest import platform_of

Raw = dict[str, Any]

BACKEND = {"type": "Redis", "redis": {"url": "redis.edge.svc:6379"}}


def problems(add_ons: Raw, **gateway: Any) -> list[tuple[str, str, str]]:
    raw = platform_of("staging")
    raw["addOns"] |= {"envoyGateway": {}, **add_ons}
    raw["gateways"] = {
        "door": {
            "namespace": "edge",
            "hosts": [{"hostname": "llm.example.com", "certificate": "llm"}],
            "authentication": {"kind": "api-keys", "secrets": ["keys"]},
            "routes": {"gpt-oss": {"deployment": "gpt-oss"}},
            **gateway,
        }
    }
    return [(problem.path, problem.found, problem.allowed) for problem in read(raw)[1]]


REDIS = {"rateLimit": {"requestsPerMinute": 600, "counted": "redis"}}
ISSUED = {"tls": {"kind": "cert-manager", "issuer": "public"}, "hosts": [{"hostname": "llm.example.com"}]}


@pytest.mark.parametrize("backend", [None, {"type": "Memory"}])
def test_a_limit_that_all_proxies_count_together_needs_a_redis(backend: Raw | None) -> None:
    values = {"config": {"envoyGateway": {"rateLimit": {"backend": backend}}}} if backend else {}
    assert problems({"envoyGateway": {"values": values}}, **REDIS) == [
        (
            "addOns.envoyGateway.values.config.envoyGateway.rateLimit.backend.type",
            "'Memory'" if backend else "nothing",
            (
                "'Redis', since gateways.door.rateLimit.counted asks for it: Envoy Gateway refuses the policy of every"
                " route without one"
            ),
        )
    ]


def test_with_its_redis_or_without_a_common_count_nothing_is_missing() -> None:
    values = {"config": {"envoyGateway": {"rateLimit": {"backend": BACKEND}}}}
    assert problems({"envoyGateway": {"values": values}}, **REDIS) == []
    assert problems({}, rateLimit={"requestsPerMinute": 600}) == []


@pytest.mark.parametrize("config", [None, {"enableGatewayAPI": False}])
def test_certificates_of_gateways_need_a_cert_manager_that_looks_at_them(config: Raw | None) -> None:
    ((path, found, allowed),) = problems({"certManager": {"values": {"config": config}}}, **ISSUED)
    assert (path, found) == ("addOns.certManager.values.config.enableGatewayAPI", "False" if config else "nothing")
    assert allowed.startswith("True, since gateways.door.tls asks for it")


def test_a_cert_manager_of_ours_looks_at_gateways() -> None:
    assert problems({"certManager": {}}, **ISSUED) == []
    told = {"config": None, "extraArgs": ["--enable-gateway-api=true"]}
    assert problems({"certManager": {"values": told}}, **ISSUED) == []
    # Nobody asks it for certificates.
    assert problems({"certManager": {"values": {"config": None}}}) == []
