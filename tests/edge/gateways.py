"""Gateways for tests."""

from typing import Any

from pulumi_lws.edge.settings import InferenceGatewayArgs

GLM: dict[str, Any] = {"namespace": "models", "name": "glm-5-api", "healthPath": "/health", "contextTokens": 65536}
POOL: dict[str, Any] = {"namespace": "search", "kind": "InferencePool", "name": "gpt-oss"}
REASON = "Only the batch jobs of one namespace reach it."
TOKENS: dict[str, Any] = {
    "kind": "jwt",
    "issuer": "https://login.example.com/",
    "audiences": ["models"],
    "jwks": "https://login.example.com/jwks",
    "clientClaim": "azp",
}


def declaration(**changes: Any) -> dict[str, Any]:
    return {
        "name": "door",
        "namespace": "edge",
        "hosts": [{"hostname": "llm.example.com", "certificate": "llm-tls"}],
        "authentication": {"kind": "api-keys", "secrets": ["keys"]},
        "routes": {"glm": {"deployment": "glm-5"}},
        "backends": {"glm-5": GLM, "gpt-oss": POOL},
        **changes,
    }


def args(**changes: Any) -> InferenceGatewayArgs:
    return InferenceGatewayArgs.model_validate(declaration(**changes))


SHAPES: dict[str, dict[str, Any]] = {
    "keys": {},
    "tokens and cert-manager": {
        "hosts": [{"hostname": "llm.example.com"}, {"hostname": "*.models.example.com", "certificate": "models"}],
        "tls": {"kind": "cert-manager", "issuer": "public"},
        "authentication": TOKENS,
        "rateLimit": {"requestsPerMinute": 600, "counted": "redis"},
        "exposure": {"kind": "load-balancer", "internal": False, "sourceRanges": ["203.0.113.0/24"]},
        "mode": "auto",
    },
    "nobody asked": {
        "hosts": [{"hostname": "llm.example.com"}],
        "tls": {"kind": "none", "reason": REASON},
        "authentication": {"kind": "none", "reason": REASON},
        "exposure": {"kind": "cluster-ip"},
        "proxies": {"replicas": 1},
    },
    "prefixes, models and pools": {
        "routes": {
            "glm": {"deployment": "glm-5", "pathPrefix": "/team-a/glm", "hostnames": ["llm.example.com"]},
            "named": {"deployment": "glm-5", "model": "zai-org/GLM-5-FP8", "apis": ["chat", "models"]},
            "pool": {"deployment": "gpt-oss", "model": "openai/gpt-oss-120b"},
        },
        "inferencePools": True,
        "rateLimit": {"requestsPerMinute": 600},
    },
}
"""Gateways without problems, one of each kind."""
