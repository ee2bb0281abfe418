"""A gateway is rendered to exactly what Envoy Gateway must be told."""

from typing import Any

import pytest

from pulumi_lws.edge.manifests import edge_objects, urls
from tests.edge.gateways import SHAPES, TOKENS, args

GATEWAY = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "door"}
NLB = "service.beta.kubernetes.io/aws-load-balancer-"


def rendered(**changes: Any) -> dict[str, dict[str, Any]]:
    return edge_objects(args(**changes))


def test_what_lets_clients_in_comes_before_the_door_and_the_door_before_what_lies_behind() -> None:
    objects = rendered(**SHAPES["prefixes, models and pools"])
    assert {key: (one["kind"], one["metadata"].get("namespace")) for key, one in objects.items()} == {
        "proxy": ("EnvoyProxy", "edge"),
        "class": ("GatewayClass", None),
        "security": ("SecurityPolicy", "edge"),
        "clients": ("ClientTrafficPolicy", "edge"),
        "gateway": ("Gateway", "edge"),
        "glm-traffic": ("BackendTrafficPolicy", "models"),
        "named-traffic": ("BackendTrafficPolicy", "models"),
        "pool-traffic": ("BackendTrafficPolicy", "search"),
        "glm-route": ("HTTPRoute", "models"),
        "named-route": ("HTTPRoute", "models"),
        "pool-route": ("HTTPRoute", "search"),
    }
    assert list(objects)[4] == "gateway"


def test_the_door_has_a_listener_for_each_host_and_takes_routes_where_ours_lie() -> None:
    changes = SHAPES["tokens and cert-manager"]
    allowed = {
        "kinds": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}],
        "namespaces": {
            "from": "Selector",
            "selector": {
                "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["models"]}]
            },
        },
    }

    def listener(name: str, hostname: str, secret: str) -> dict[str, Any]:
        certificate = {"kind": "Secret", "name": secret}
        return {
            "name": name,
            "hostname": hostname,
            "port": 443,
            "protocol": "HTTPS",
            "tls": {"mode": "Terminate", "certificateRefs": [certificate]},
            "allowedRoutes": allowed,
        }

    assert rendered(**changes)["gateway"] == {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {
            "name": "door",
            "namespace": "edge",
            "annotations": {"pulumi.com/waitFor": "condition=Programmed", "cert-manager.io/cluster-issuer": "public"},
        },
        "spec": {
            "gatewayClassName": "edge-door",
            "infrastructure": {
                "parametersRef": {"group": "gateway.envoyproxy.io", "kind": "EnvoyProxy", "name": "door"}
            },
            "listeners": [
                listener("llm.example.com", "llm.example.com", "llm.example.com-tls"),
                listener("wildcard.models.example.com", "*.models.example.com", "models"),
            ],
        },
    }


def test_plain_http_has_no_certificate() -> None:
    (listener,) = rendered(**SHAPES["nobody asked"])["gateway"]["spec"]["listeners"]
    del listener["allowedRoutes"]
    assert listener == {"name": "llm.example.com", "hostname": "llm.example.com", "port": 80, "protocol": "HTTP"}


def test_a_route_names_its_paths_and_nothing_else() -> None:
    route = rendered(routes={"glm": {"deployment": "glm-5", "apis": ["chat", "models"], "model": "glm"}})["glm-route"]
    headers = [{"type": "Exact", "name": "x-model", "value": "glm"}]
    assert route == {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "door-glm", "namespace": "models"},
        "spec": {
            "parentRefs": [{**GATEWAY, "namespace": "edge"}],
            "rules": [
                {
                    "matches": [
                        {
                            "path": {"type": "Exact", "value": "/v1/chat/completions"},
                            "method": "POST",
                            "headers": headers,
                        },
                        {"path": {"type": "Exact", "value": "/v1/models"}, "method": "GET", "headers": headers},
                    ],
                    "backendRefs": [{"kind": "Service", "name": "glm-5-api", "port": 8000}],
                }
            ],
        },
    }


def test_a_prefix_is_taken_away_and_so_is_a_token() -> None:
    route = {"deployment": "glm-5", "apis": ["models"], "pathPrefix": "/glm", "hostnames": ["llm.example.com"]}
    spec = rendered(authentication=TOKENS, routes={"glm": route})["glm-route"]["spec"]
    assert spec["hostnames"] == ["llm.example.com"]
    assert spec["rules"] == [
        {
            "matches": [{"path": {"type": "Exact", "value": "/glm/v1/models"}, "method": "GET"}],
            "filters": [
                {"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": ["Authorization"]}},
                {
                    "type": "URLRewrite",
                    "urlRewrite": {"path": {"type": "ReplaceFullPath", "replaceFullPath": "/v1/models"}},
                },
            ],
            "backendRefs": [{"kind": "Service", "name": "glm-5-api", "port": 8000}],
        }
    ]


def test_a_pool_is_referred_to_and_its_picker_chooses() -> None:
    objects = rendered(**SHAPES["prefixes, models and pools"])
    (rule,) = objects["pool-route"]["spec"]["rules"]
    assert rule["backendRefs"] == [{"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "gpt-oss"}]
    assert {"loadBalancer", "healthCheck"}.isdisjoint(objects["pool-traffic"]["spec"])


def test_clients_are_known_by_their_keys_which_engines_never_see() -> None:
    assert rendered()["security"]["spec"] == {
        "targetRefs": [GATEWAY],
        "apiKeyAuth": {
            "credentialRefs": [{"name": "keys"}],
            "extractFrom": [{"headers": ["Authorization"]}],
            "forwardClientIDHeader": "x-gateway-client",
            "sanitize": True,
        },
    }


def test_clients_are_known_by_their_tokens() -> None:
    assert rendered(authentication=TOKENS)["security"]["spec"] == {
        "targetRefs": [GATEWAY],
        "jwt": {
            "providers": [
                {
                    "name": "clients",
                    "issuer": "https://login.example.com/",
                    "audiences": ["models"],
                    "remoteJWKS": {"uri": "https://login.example.com/jwks"},
                    "claimToHeaders": [{"claim": "azp", "header": "x-gateway-client"}],
                }
            ]
        },
    }


def test_without_authentication_there_is_no_policy_of_it() -> None:
    assert "security" not in rendered(**SHAPES["nobody asked"])


def test_no_client_says_who_it_is_or_where_its_request_goes() -> None:
    assert rendered(limits={"bodyMib": 8, "connections": 100})["clients"]["spec"] == {
        "targetRefs": [GATEWAY],
        "tcpKeepalive": {"idleTime": "60s", "interval": "30s", "probes": 3},
        "timeout": {
            "http": {
                "requestHeadersReceivedTimeout": "30s",
                "requestReceivedTimeout": "300s",
                "streamIdleTimeout": "3600s",
            }
        },
        "connection": {"connectionLimit": {"value": 100}, "bufferLimit": "8Mi"},
        "path": {"escapedSlashesAction": "RejectRequest"},
        "headers": {
            "withUnderscoresAction": "RejectRequest",
            "earlyRequestHeaders": {
                "remove": [
                    "x-gateway-client",
                    "x-gateway-destination-endpoint",
                    "x-prefiller-host-port",
                    "x-encoder-hosts-ports",
                    "x-data-parallel-host-port",
                    "x-kv-cache-source-host-port",
                ],
                "removeOnMatch": [{"type": "Prefix", "value": "x-envoy-"}],
            },
        },
        "tls": {"minVersion": "1.2"},
    }


def test_requests_are_tried_again_only_where_no_engine_began_and_pods_that_load_get_none() -> None:
    changes = {"limits": {"parallelRequests": 500}, "timeouts": {"requestSeconds": 7200}}
    assert rendered(**changes)["glm-traffic"] == {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "BackendTrafficPolicy",
        "metadata": {"name": "door-glm", "namespace": "models"},
        "spec": {
            "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "door-glm"}],
            "timeout": {
                "tcp": {"connectTimeout": "5s"},
                "http": {"requestTimeout": "7200s", "connectionIdleTimeout": "4s"},
            },
            "requestBuffer": {"limit": "16Mi"},
            "retry": {
                "numRetries": 4,
                "retryOn": {"triggers": ["connect-failure", "refused-stream"]},
                "perRetry": {"backOff": {"baseInterval": "250ms", "maxInterval": "4s"}},
            },
            "circuitBreaker": {
                "maxConnections": 500,
                "maxParallelRequests": 500,
                "maxPendingRequests": 500,
                "retryBudget": {"percent": {"numerator": 20}, "minRetryConcurrency": 3},
            },
            "loadBalancer": {"type": "LeastRequest"},
            "healthCheck": {
                "active": {
                    "type": "HTTP",
                    "http": {"path": "/health", "method": "GET", "expectedStatuses": [200]},
                    "interval": "5s",
                    "timeout": "5s",
                    "unhealthyThreshold": 3,
                    "healthyThreshold": 1,
                },
                "panicThreshold": 0,
            },
        },
    }


DISTINCT = {"name": "x-gateway-client", "type": "Distinct"}
NAMELESS = {"name": "x-gateway-client", "type": "RegularExpression", "value": ".+", "invert": True}


def rule(header: dict[str, Any], requests: int, **shared: bool) -> dict[str, Any]:
    limit = {"requests": requests, "unit": "Minute"}
    return {"clientSelectors": [{"headers": [header]}], "limit": limit, **shared}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"local": {"rules": [rule(DISTINCT, 33)]}}),
        ({"authentication": TOKENS}, {"local": {"rules": [rule(DISTINCT, 33), rule(NAMELESS, 33)]}}),
        (
            {"rateLimit": {"requestsPerMinute": 100, "counted": "redis"}},
            {"global": {"rules": [rule(DISTINCT, 100, shared=True)]}},
        ),
    ],
)
def test_a_client_never_has_more_than_its_limit(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    limited = {"rateLimit": {"requestsPerMinute": 100}, "proxies": {"replicas": 3}, **changes}
    assert rendered(**limited)["glm-traffic"]["spec"]["rateLimit"] == expected


def test_a_load_balancer_stays_inside_and_waits_as_long_as_the_proxies() -> None:
    assert rendered()["proxy"]["spec"]["provider"]["kubernetes"]["envoyService"] == {
        "type": "LoadBalancer",
        "annotations": {
            f"{NLB}type": "external",
            f"{NLB}scheme": "internal",
            f"{NLB}nlb-target-type": "ip",
            f"{NLB}listener-attributes.TCP-443": "tcp.idle_timeout.seconds=3600",
            f"{NLB}target-group-attributes": (
                "deregistration_delay.timeout_seconds=600,preserve_client_ip.enabled=true"
            ),
        },
    }


@pytest.mark.parametrize(("mode", "made_by"), [("auto", "eks.amazonaws.com/nlb"), ("karpenter", "service.k8s.aws/nlb")])
def test_a_public_one_says_whom_it_lets_in_and_who_makes_it(mode: str, made_by: str) -> None:
    exposure = {"kind": "load-balancer", "internal": False, "sourceRanges": ["203.0.113.0/24"]}
    timeouts = {"idleSeconds": 7200}
    objects = rendered(mode=mode, exposure=exposure, timeouts=timeouts, proxies={"drainSeconds": 7200})
    service = objects["proxy"]["spec"]["provider"]["kubernetes"]["envoyService"]
    assert service["loadBalancerClass"] == made_by
    assert service["loadBalancerSourceRanges"] == ["203.0.113.0/24"]
    assert service["annotations"][f"{NLB}scheme"] == "internet-facing"
    # What AWS takes at most.
    assert service["annotations"][f"{NLB}listener-attributes.TCP-443"] == "tcp.idle_timeout.seconds=6000"
    assert "deregistration_delay.timeout_seconds=3600," in service["annotations"][f"{NLB}target-group-attributes"]


def test_inside_the_cluster_there_is_no_load_balancer() -> None:
    kubernetes = rendered(**SHAPES["nobody asked"])["proxy"]["spec"]["provider"]["kubernetes"]
    assert kubernetes["envoyService"] == {"type": "ClusterIP"}
    # A budget for a single proxy would only hold up the drain of its node.
    assert "envoyPDB" not in kubernetes


def test_the_log_has_no_prompt_no_key_and_no_query() -> None:
    ((setting,),) = (one["settings"] for one in [rendered()["proxy"]["spec"]["telemetry"]["accessLog"]])
    assert setting["sinks"] == [{"type": "File", "file": {"path": "/dev/stdout"}}]
    assert setting["format"]["type"] == "JSON"
    written = setting["format"]["json"]
    assert written["path"] == "%REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH)%"
    assert {text for text in written.values() if text.startswith("%REQ(")} == {
        "%REQ(x-gateway-client)%",
        "%REQ(:AUTHORITY)%",
        "%REQ(:METHOD)%",
        "%REQ(X-REQUEST-ID)%",
    }


def test_the_addresses_of_each_route_are_told() -> None:
    assert urls(args(**SHAPES["prefixes, models and pools"])) == {
        "glm": ["https://llm.example.com/team-a/glm/v1"],
        "named": ["https://llm.example.com/v1"],
        "pool": ["https://llm.example.com/v1"],
    }
    assert urls(args(**SHAPES["nobody asked"])) == {"glm": ["http://llm.example.com/v1"]}
