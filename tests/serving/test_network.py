"""Who reaches the pods of a deployment, and under which name."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.checking.schemas import schemas_for
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.network import network_policy, network_problems
from pulumi_lws.serving.service import service, service_name
from pulumi_lws.serving.settings import Client, NetworkAccess

OWN = {"leaderworkerset.sigs.k8s.io/name": "glm-decode"}
OTHER = {"leaderworkerset.sigs.k8s.io/name": "glm-prefill"}
ROUTER = {"app": "router"}


def ingress(access: NetworkAccess, ports: list[int], **peers: Any) -> list[dict[str, Any]]:
    policy = network_policy("glm", "models", OWN, access, ports, **peers)
    schemas = schemas_for((1, 35))
    definition = schemas.definition_of(policy["apiVersion"], policy["kind"])
    assert definition
    assert schemas.problems(policy, definition) == []
    rules: list[dict[str, Any]] = policy["spec"]["ingress"]
    return rules


def pods(labels: dict[str, str]) -> dict[str, Any]:
    return {"podSelector": {"matchLabels": labels}}


def tcp(*ports: int) -> list[dict[str, Any]]:
    return [{"protocol": "TCP", "port": port} for port in ports]


def test_every_port_is_open_inside_a_deployment_and_only_the_api_outside() -> None:
    monitoring = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
    assert network_policy("glm", "models", OWN, NetworkAccess(), [8000]) == {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "glm", "namespace": "models"},
        "spec": {
            "podSelector": {"matchLabels": OWN},
            "policyTypes": ["Ingress"],
            "ingress": [
                {"from": [pods(OWN)]},
                {"from": [{"podSelector": {}}], "ports": tcp(8000)},
                {"from": [monitoring], "ports": tcp(8000)},
            ],
        },
    }


def test_clients_are_pods_of_a_namespace() -> None:
    gateway = Client(namespace="gateway", pod_labels={"app": "envoy"})
    access = NetworkAccess(clients=(gateway, Client(pod_labels={"app": "chat"})), monitoring=())
    envoy = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "gateway"}}, **pods({"app": "envoy"})}
    assert ingress(access, [8001, 8000]) == [
        {"from": [pods(OWN)]},
        {"from": [envoy, pods({"app": "chat"})], "ports": tcp(8000, 8001)},
    ]


def test_roles_reach_each_other_on_every_port_and_the_router_on_those_of_the_api() -> None:
    access = NetworkAccess(clients=(), monitoring=())
    assert ingress(access, [8000], peers=[OTHER], routers=[ROUTER], metrics_ports=[8200]) == [
        {"from": [pods(OWN), pods(OTHER)]},
        {"from": [pods(ROUTER)], "ports": tcp(8000)},
        {"from": [pods(ROUTER)], "ports": tcp(8200)},
    ]


CLIENTS = st.lists(
    st.builds(
        Client,
        namespace=st.sampled_from([None, "gateway"]),
        pod_labels=st.dictionaries(st.just("app"), st.sampled_from(["a", "b"])),
    ),
    max_size=2,
).map(tuple)


@given(st.builds(NetworkAccess, clients=CLIENTS, monitoring=CLIENTS), st.sets(st.integers(1, 65535), min_size=1))
def test_nobody_but_the_deployment_reaches_a_port_that_is_not_the_apis(access: NetworkAccess, ports: set[int]) -> None:
    inside, *outside = ingress(access, list(ports), peers=[OTHER])
    assert inside == {"from": [pods(OWN), pods(OTHER)]}
    for rule in outside:
        # A rule without peers would let everybody in, one without ports on every port.
        assert rule["from"]
        assert {port["port"] for port in rule["ports"]} == ports


@pytest.mark.parametrize(("access", "interface"), [(None, "enp71s0"), (NetworkAccess(), None), (None, None)])
def test_a_policy_or_the_hosts_network_alone_is_no_problem(access: NetworkAccess | None, interface: str | None) -> None:
    assert network_problems(access, interface) == []


def test_a_policy_does_not_hold_for_the_network_of_a_node() -> None:
    assert network_problems(NetworkAccess(), "enp71s0") == [
        Problem(
            "network",
            "a NetworkPolicy for pods on their node's interface enp71s0",
            "null with hostNetwork: a NetworkPolicy does not hold for the network of a node",
            "Set network to null, and let the security group of the nodes say who reaches them.",
            Severity.WARNING,
        )
    ]


def test_a_service_selects_who_serves_and_is_not_waited_for() -> None:
    leaders = {"leaderworkerset.sigs.k8s.io/name": "glm-5", "leaderworkerset.sigs.k8s.io/worker-index": "0"}
    assert service("glm-5", "models", leaders, {"http": 8000, "rank-1": 8001}) == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "glm-5-api",
            "namespace": "models",
            "annotations": {"pulumi.com/skipAwait": "true"},
        },
        "spec": {
            "selector": leaders,
            "ports": [
                {"name": "http", "port": 8000, "targetPort": 8000},
                {"name": "rank-1", "port": 8001, "targetPort": 8001},
            ],
        },
    }


@given(st.from_regex(r"[a-z]([-a-z0-9]{0,50}[a-z0-9])?", fullmatch=True))
def test_a_service_never_has_the_name_of_its_pods_owner(owner: str) -> None:
    assert service_name(owner) != owner
