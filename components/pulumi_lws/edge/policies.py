"""What Envoy Gateway does with clients and their requests: policies on the gateway and on each route.

Source: the API and the translator of Envoy Gateway 1.9. Its own default gives up on an answer after 15 s and tries a
request again that an engine may have begun; every such field is said here.
"""

from typing import Any

from pulumi_lws.edge.backends import Backend
from pulumi_lws.edge.proxy import CLIENT_HEADER, ENVOY_GROUP, GATEWAY_GROUP, Manifest
from pulumi_lws.edge.settings import ApiKeys, InferenceGatewayArgs, Jwt
from pulumi_lws.serving.routing.envoy import INTERNAL_HEADERS

_RETRIES = 4
_RETRY_PERCENT = 20
"""Share of the running requests that may be tried again at a time: refused ones must not drown the rest."""

_PROBE_SECONDS = 5
"""Interval of the health checks. A leader that gathers its group is a ready endpoint for half a minute; a proxy sends
nothing to a new endpoint that has not yet answered."""


def security_policy(args: InferenceGatewayArgs) -> Manifest | None:
    """Render how clients are known; None where they are not. What is wrong with it closes all routes, with 500."""
    match args.authentication:
        case ApiKeys() as keys:
            how: Manifest = {
                "apiKeyAuth": {
                    "credentialRefs": [{"name": secret} for secret in keys.secrets],
                    "extractFrom": [{"headers": list(keys.headers)}],
                    "forwardClientIDHeader": CLIENT_HEADER,
                    "sanitize": True,
                }
            }
        case Jwt() as tokens:
            provider = {
                "name": "clients",
                "issuer": tokens.issuer,
                "audiences": list(tokens.audiences),
                "remoteJWKS": {"uri": tokens.jwks},
                "claimToHeaders": [{"claim": tokens.client_claim, "header": CLIENT_HEADER}],
            }
            how = {"jwt": {"providers": [provider]}}
        case _:
            return None
    return _policy("SecurityPolicy", args.name, args.namespace, _target("Gateway", args.name), how)


def client_traffic_policy(args: InferenceGatewayArgs) -> Manifest:
    """Render how connections and requests of clients are taken."""
    limits, idle = args.limits, f"{args.timeouts.idle_seconds}s"
    how: Manifest = {
        # An idle connection through a load balancer and NAT stays open while an engine thinks.
        "tcpKeepalive": {"idleTime": "60s", "interval": "30s", "probes": 3},
        "timeout": {
            "http": {
                "requestHeadersReceivedTimeout": "30s",
                "requestReceivedTimeout": "300s",
                "streamIdleTimeout": idle,
            }
        },
        # A request can only be tried again while all of it is held.
        "connection": {"connectionLimit": {"value": limits.connections}, "bufferLimit": f"{limits.body_mib}Mi"},
        "path": {"escapedSlashesAction": "RejectRequest"},
        "headers": {
            "withUnderscoresAction": "RejectRequest",
            "earlyRequestHeaders": {
                "remove": [CLIENT_HEADER, *INTERNAL_HEADERS],
                # A client in the network could ask Envoy itself for retries and time-outs.
                "removeOnMatch": [{"type": "Prefix", "value": "x-envoy-"}],
            },
        },
    }
    if args.tls.kind != "none":
        how["tls"] = {"minVersion": "1.2"}
    return _policy("ClientTrafficPolicy", args.name, args.namespace, _target("Gateway", args.name), how)


def backend_traffic_policy(args: InferenceGatewayArgs, route: str, backend: Backend) -> Manifest:
    """Render how requests of a route reach its deployment.

    Args:
        args: The gateway.
        route: Name of the HTTPRoute.
        backend: The deployment.
    """
    limits = args.limits
    how: Manifest = {
        "timeout": {
            "tcp": {"connectTimeout": "5s"},
            "http": {
                "requestTimeout": f"{args.timeouts.request_seconds}s",
                # Engines close an idle connection after 5 s. A request that meets that is lost.
                "connectionIdleTimeout": "4s",
            },
        },
        "requestBuffer": {"limit": f"{limits.body_mib}Mi"},
        # Only what no engine has begun: a second answer would cost GPUs for nothing.
        "retry": {
            "numRetries": _RETRIES,
            "retryOn": {"triggers": ["connect-failure", "refused-stream"]},
            "perRetry": {"backOff": {"baseInterval": "250ms", "maxInterval": "4s"}},
        },
        "circuitBreaker": {
            "maxConnections": limits.parallel_requests,
            "maxParallelRequests": limits.parallel_requests,
            "maxPendingRequests": limits.parallel_requests,
            "retryBudget": {"percent": {"numerator": _RETRY_PERCENT}, "minRetryConcurrency": 3},
        },
    }
    if backend.kind == "Service":
        # Of an InferencePool its picker chooses the pod.
        how["loadBalancer"] = {"type": "LeastRequest"}
    if backend.health_path is not None:
        how["healthCheck"] = _health_check(backend.health_path)
    if args.rate_limit is not None:
        how["rateLimit"] = _rate_limit(args)
    return _policy("BackendTrafficPolicy", route, backend.namespace, _target("HTTPRoute", route), how)


def _health_check(path: str) -> Manifest:
    http = {"path": path, "method": "GET", "expectedStatuses": [200]}
    return {
        "active": {
            "type": "HTTP",
            "http": http,
            "interval": f"{_PROBE_SECONDS}s",
            "timeout": f"{_PROBE_SECONDS}s",
            "unhealthyThreshold": 3,
            "healthyThreshold": 1,
        },
        # By default Envoy sends to all once half of them fail, those that load included.
        "panicThreshold": 0,
    }


def _rate_limit(args: InferenceGatewayArgs) -> Manifest:
    """Render the limit of each client, and one for all whose token does not name them."""
    limit = args.rate_limit
    if limit is None:
        raise AssertionError("only a gateway with a limit has one")
    together = limit.counted == "redis"
    requests = limit.requests_per_minute if together else max(limit.requests_per_minute // args.proxies.replicas, 1)
    named: Manifest = {"name": CLIENT_HEADER, "type": "Distinct"}
    unnamed = {"name": CLIENT_HEADER, "type": "RegularExpression", "value": ".+", "invert": True}
    rules = [
        {
            "clientSelectors": [{"headers": [header]}],
            "limit": {"requests": requests, "unit": "Minute"},
            # Else each path of a route counts for itself, as it must without Redis.
            **({"shared": True} if together else {}),
        }
        for header in ([named, unnamed] if isinstance(args.authentication, Jwt) else [named])
    ]
    return {"global" if together else "local": {"rules": rules}}


def _target(kind: str, name: str) -> dict[str, str]:
    return {"group": GATEWAY_GROUP, "kind": kind, "name": name}


def _policy(kind: str, name: str, namespace: str, target: dict[str, str], how: dict[str, Any]) -> Manifest:
    return {
        "apiVersion": f"{ENVOY_GROUP}/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"targetRefs": [target], **how},
    }
