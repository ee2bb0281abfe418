"""What a gateway must not be, each with what would do."""

from typing import Any

import pytest

from pulumi_lws.edge.checks import gateway_problems
from pulumi_lws.planning.problems import Problem
from tests.edge.gateways import GLM, POOL, REASON, SHAPES, args

LLM = {"hostname": "llm.example.com", "certificate": "llm-tls"}
OPEN = {"kind": "load-balancer", "internal": False}
NOBODY = {"kind": "none", "reason": REASON}
PLAIN = {"tls": {"kind": "none", "reason": REASON}, "hosts": [{"hostname": "llm.example.com"}]}
DOOR = {
    "gateway.envoyproxy.io/owning-gateway-name": "door",
    "gateway.envoyproxy.io/owning-gateway-namespace": "edge",
}
PROXIES = {"namespace": "envoy-gateway-system"}


def problem(**changes: Any) -> Problem:
    (found,) = gateway_problems(args(**changes))
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_a_gateway_of_each_kind_has_no_problem(shape: str) -> None:
    assert gateway_problems(args(**SHAPES[shape])) == []


def test_a_route_leads_to_a_known_deployment() -> None:
    assert problem(routes={"glm": {"deployment": "glm"}}) == Problem(
        "routes.glm.deployment", "glm", "glm-5, gpt-oss", "Name a deployment of this stack, or declare it."
    )


def test_two_routes_never_match_the_same() -> None:
    first = {"deployment": "glm-5", "model": "glm"}
    assert problem(routes={"a": first, "b": {**first, "hostnames": ["llm.example.com"]}}) == Problem(
        "routes.b",
        "llm.example.com for the model glm",
        "what no other route matches; the route a does",
        "Give one of them another host name, pathPrefix or model.",
    )
    for other in ({"model": "other"}, {"model": None}, {"pathPrefix": "/glm"}):
        assert gateway_problems(args(routes={"a": first, "b": {**first, **other}})) == []


def test_a_route_has_only_host_names_that_a_certificate_covers() -> None:
    hosts = [LLM, {"hostname": "*.models.example.com", "certificate": "models-tls"}]

    def found(hostname: str) -> list[Problem]:
        return gateway_problems(args(hosts=hosts, routes={"glm": {"deployment": "glm-5", "hostnames": [hostname]}}))

    for covered in ("llm.example.com", "*.models.example.com", "glm.models.example.com"):
        assert found(covered) == []
    for bare in ("example.com", "*.example.com", "a.glm.models.example.com"):
        assert found(bare) == [
            Problem(
                "routes.glm.hostnames[0]",
                bare,
                "llm.example.com, *.models.example.com",
                "Add it to hosts, with a certificate for it, or choose one of these.",
            )
        ]


@pytest.mark.parametrize("again", ["*.example.com", "wildcard.example.com"])
def test_a_host_stands_once(again: str) -> None:
    hosts = [{"hostname": "*.example.com", "certificate": "a"}, {"hostname": again, "certificate": "b"}]
    assert problem(hosts=hosts) == Problem(
        "hosts[1].hostname",
        again,
        "each once; *.example.com stands before, and objects of both would have one name",
        "Take one of them away.",
    )


def test_a_host_with_tls_names_its_certificate() -> None:
    assert problem(hosts=[{"hostname": "llm.example.com"}]) == Problem(
        "hosts[0].certificate",
        "nothing",
        "a Secret of type kubernetes.io/tls in the namespace edge: tls is certificates",
        "Name the Secret with the certificate of llm.example.com, or let cert-manager get one: set tls.",
    )


def test_a_certificate_without_tls_is_a_mistake() -> None:
    assert problem(**{**PLAIN, "hosts": [LLM]}) == Problem(
        "hosts[0].certificate",
        "llm-tls",
        "nothing: tls is none",
        "Take tls away, so that the certificate is used, or take the certificate away.",
    )


def test_keys_never_cross_the_internet_in_plain() -> None:
    assert gateway_problems(args(**PLAIN)) == []
    assert problem(**PLAIN, exposure=OPEN) == Problem(
        "tls.kind",
        "none",
        "certificates or cert-manager: the load balancer is reached from the internet",
        "Give it certificates, or set exposure.internal to true.",
    )


@pytest.mark.parametrize("ranges", [[], ["203.0.113.0/24", "0.0.0.0/0"]])
def test_the_internet_does_not_come_in_unasked(ranges: list[str]) -> None:
    exposure = {**OPEN, "sourceRanges": ranges}
    assert gateway_problems(args(exposure=exposure)) == []
    assert gateway_problems(args(exposure={**OPEN, "sourceRanges": ["203.0.113.0/24"]}, authentication=NOBODY)) == []
    assert problem(exposure=exposure, authentication=NOBODY) == Problem(
        "authentication.kind",
        "none",
        "api-keys or jwt, or sourceRanges that leave most of the internet out",
        "Let clients show who they are, name the networks that may come in, or set exposure.internal to true.",
    )


def test_a_limit_per_client_needs_to_know_clients() -> None:
    assert problem(authentication=NOBODY, rateLimit={"requestsPerMinute": 60}) == Problem(
        "rateLimit",
        "a limit per client",
        "nothing: authentication is none, so nobody knows one client from another",
        "Let clients show who they are, or take it away.",
    )


def test_each_proxy_has_a_share_of_the_limit() -> None:
    proxies = {"replicas": 3}
    assert gateway_problems(args(proxies=proxies, rateLimit={"requestsPerMinute": 3})) == []
    assert gateway_problems(args(proxies=proxies, rateLimit={"requestsPerMinute": 2, "counted": "redis"})) == []
    assert problem(proxies=proxies, rateLimit={"requestsPerMinute": 2}) == Problem(
        "rateLimit.requestsPerMinute",
        "2",
        "at least 3: each of 3 proxies takes its share, which is a whole number",
        "Raise it to 3, lower proxies.replicas to 2, or count in redis.",
    )


def test_a_silent_answer_is_not_cut_off() -> None:
    # 16384 tokens at 10 in a second.
    assert gateway_problems(args(timeouts={"idleSeconds": 1639})) == []
    assert problem(timeouts={"idleSeconds": 1638}) == Problem(
        "timeouts.idleSeconds",
        "1638 s",
        "at least 1639 s, the longest answer: 16384 tokens at 10 in a second",
        "Raise it to 1639, or set answerTokens to 16380 if clients ask for no more.",
    )


def test_the_longest_answer_is_not_cut_off() -> None:
    pace = {"answerTokens": 100_000, "tokensPerSecond": 20}
    # The context of the model has 65536 tokens.
    assert gateway_problems(args(timeouts={**pace, "requestSeconds": 3277})) == []
    assert problem(timeouts={**pace, "requestSeconds": 3276}) == Problem(
        "timeouts.requestSeconds",
        "3276 s",
        "0 for none, or at least 3277 s, the longest answer: 65536 tokens at 20 in a second",
        "Raise it to 3277, or set answerTokens to 65520 if clients ask for no more.",
    )


def test_a_route_opens_what_the_router_of_its_deployment_opens() -> None:
    routes = {"glm": {"deployment": "glm-5", "apis": ["chat", "rerank", "score"]}}
    assert gateway_problems(args(routes=routes)) == []
    assert problem(routes=routes, backends={"glm-5": GLM | {"apis": ["chat", "models", "score"]}}) == Problem(
        "routes.glm.apis",
        "rerank",
        "chat, models, score: the router of glm-5 answers everything else with 404",
        "Add it to router.apis of the deployment, or leave it out here.",
    )


def test_envoy_gateway_alone_does_not_know_inference_pools() -> None:
    routes = {"gpt-oss": {"deployment": "gpt-oss"}}
    assert gateway_problems(args(routes=routes, inferencePools=True)) == []
    assert problem(routes=routes) == Problem(
        "routes.gpt-oss.deployment",
        "gpt-oss, whose router is behind an InferencePool",
        "a deployment behind a Service: Envoy Gateway alone answers 500 for an InferencePool",
        "Set its router to standalone, or install Envoy AI Gateway and set inferencePools to true.",
    )


def test_a_deployment_has_no_open_route_of_its_own_here() -> None:
    def with_own(namespace: str) -> dict[str, Any]:
        own = {"ownGateway": {"name": "door", "namespace": namespace}}
        routes = {"gpt-oss": {"deployment": "gpt-oss"}}
        return {"routes": routes, "backends": {"gpt-oss": POOL | own}, "inferencePools": True}

    assert gateway_problems(args(**with_own("elsewhere"))) == []
    assert problem(**with_own("edge")) == Problem(
        "routes.gpt-oss.deployment",
        "gpt-oss, which has a route of its own here",
        "only this route: time-outs and limits of this gateway do not hold for its own one",
        "Set router.gateway of the deployment to null.",
    )


@pytest.mark.parametrize(
    ("clients", "lets_in"),
    [
        (None, True),
        ([PROXIES], True),
        ([{}, {**PROXIES, "podLabels": DOOR}], True),
        ([{**PROXIES, "podLabels": {"app.kubernetes.io/managed-by": "envoy-gateway"}}], True),
        ([{}], False),
        ([], False),
        ([{**PROXIES, "podLabels": {**DOOR, "gateway.envoyproxy.io/owning-gateway-name": "other"}}], False),
    ],
)
def test_a_deployment_lets_the_proxies_in(clients: list[dict[str, Any]] | None, lets_in: bool) -> None:
    expected = Problem(
        "routes.glm.deployment",
        "glm-5, whose network.clients leave the gateway out",
        "the proxies in the namespace envoy-gateway-system",
        "Add {namespace: envoy-gateway-system, podLabels: {gateway.envoyproxy.io/owning-gateway-name: door,"
        " gateway.envoyproxy.io/owning-gateway-namespace: edge}} to its network.clients.",
    )
    found = gateway_problems(args(backends={"glm-5": {**GLM, "clients": clients}}))
    assert found == ([] if lets_in else [expected])


def test_clients_of_the_namespace_are_the_proxies_where_they_run_there() -> None:
    backends = {"glm-5": {**GLM, "clients": [{}]}}
    assert gateway_problems(args(backends=backends, proxies={"namespace": "models"})) == []


def test_everything_wrong_is_said_at_once() -> None:
    found = gateway_problems(
        args(
            **{**PLAIN, "hosts": [LLM]},
            exposure=OPEN,
            routes={"a": {"deployment": "none", "hostnames": ["other.example.com"]}, "b": {"deployment": "gpt-oss"}},
            timeouts={"idleSeconds": 1},
        )
    )
    assert [one.path for one in found] == [
        "hosts[0].certificate",
        "tls.kind",
        "routes.a.hostnames[0]",
        "routes.a.deployment",
        "routes.b.deployment",
        "timeouts.idleSeconds",
    ]
