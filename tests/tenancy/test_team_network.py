"""A team's network is closed, and opened for what its deployments need."""

from typing import Any

import pytest

from pulumi_lws.checking.schemas import schemas_for
from pulumi_lws.facts import labels
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.settings import Client
from pulumi_lws.tenancy.network import policies
from pulumi_lws.tenancy.settings import Destination, TeamNetwork
from pulumi_lws.tenancy.workloads import TeamWorkload, of_deployment
from tests.serving.stacks import PACKED, every_stack, stack
from tests.tenancy.residents import copies, pool, service, smoke

CLOSED = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
DNS = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
INSIDE: dict[str, Any] = {"to": [{"podSelector": {}}]}


def deployments(example: str, name: str = "", **changes: Any) -> list[TeamWorkload]:
    platform = PlatformArgs.model_validate(stack(example, name=name, **changes))
    return [of_deployment(args) for args in deployments_of(platform).values()]


def specs(network: TeamNetwork, own: list[TeamWorkload]) -> dict[str, dict[str, Any]]:
    found = policies("search", network, own)
    schemas = schemas_for((1, 35))
    for name, policy in found.items():
        assert policy["metadata"] == {"name": f"team-{name}", "namespace": "search"}
        definition = schemas.definition_of(policy["apiVersion"], policy["kind"])
        assert definition
        assert schemas.problems(policy, definition) == []
    return {name: policy["spec"] for name, policy in found.items()}


def egress(selector: dict[str, Any], *rules: dict[str, Any]) -> dict[str, Any]:
    return {"podSelector": selector, "policyTypes": ["Egress"], "egress": list(rules)}


def of(*names: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": labels.DEPLOYMENT, "operator": "In", "values": list(names)}]}


def tcp(*ports: int) -> dict[str, Any]:
    return {"ports": [{"protocol": "TCP", "port": port} for port in ports]}


def test_without_deployments_only_names_and_the_own_namespace_are_reached() -> None:
    assert specs(TeamNetwork(), []) == {"closed": CLOSED, "outward": egress({}, DNS, INSIDE)}


def test_pods_reach_where_their_weights_come_from() -> None:
    own = [
        *deployments("llama-3.3-70b", name="hub"),
        *deployments("llama-3.3-70b", name="bucket", source={"kind": "s3", "uri": "s3://my-models/llama"}),
        *deployments("llama-3.3-70b", name="disk", source={"kind": "node", "path": "/models"}),
        *deployments("llama-3.3-70b", name="image", model="/models/llama", architecture="llama-3.3-70b"),
    ]
    found = specs(TeamNetwork(), own)
    assert found["weights"] == egress(of("bucket", "hub"), tcp(443))
    agent = {"to": [{"ipBlock": {"cidr": "169.254.170.23/32"}}]}
    assert found["credentials"] == egress(of("bucket"), agent | tcp(80))
    assert set(found) == {"closed", "outward", "weights", "credentials"}
    to = {"to": [{"ipBlock": {"cidr": "10.8.0.0/16"}}]}
    near = specs(TeamNetwork(https_to=("10.8.0.0/16",)), own)
    assert near["weights"] == egress(of("bucket", "hub"), to | tcp(443))


def test_copies_of_weights_reach_where_these_come_from() -> None:
    def copied(*names: str) -> dict[str, Any]:
        return {"matchExpressions": [{"key": labels.CACHED, "operator": "In", "values": list(names)}]}

    found = specs(TeamNetwork(), [copies("hub"), copies("both", bucket=True)])
    assert found["copies-weights"] == egress(copied("both", "hub"), tcp(443))
    agent = {"to": [{"ipBlock": {"cidr": "169.254.170.23/32"}}]}
    assert found["copies-credentials"] == egress(copied("both"), agent | tcp(80))
    assert set(found) == {"closed", "outward", "copies-weights", "copies-credentials"}
    # The policy selects the pods of the Jobs by a label that they have.
    templates = [job["spec"]["template"]["metadata"]["labels"] for job in copies("both", bucket=True).manifests]
    assert [template[labels.CACHED] for template in templates] == ["both", "both"]


def test_ray_reaches_weights_the_kubernetes_api_and_the_state_of_its_head() -> None:
    redis = {"redisAddress": "redis.state.svc:6380", "password": {"secret": "redis", "key": "password"}}
    own = [
        service(name="llama", source={"kind": "hugging-face", "path": None}, faultTolerance=redis),
        service(name="bucket", source={"kind": "s3", "uri": "s3://my-models/llama"}, maxCopies=1),
        pool(),
    ]
    found = specs(TeamNetwork(), own)
    agent = {"to": [{"ipBlock": {"cidr": "169.254.170.23/32"}}]}

    def head(name: str) -> dict[str, Any]:
        return {"matchLabels": {labels.DEPLOYMENT: name, labels.ROLE: "head"}}

    assert {name: spec for name, spec in found.items() if name not in {"closed", "outward"}} == {
        "weights": egress(of("bucket", "llama"), tcp(443)),
        "credentials": egress(of("bucket"), agent | tcp(80)),
        "llama-head-api": egress(head("llama"), tcp(443, 6443)),
        "llama-head-redis": egress(head("llama"), tcp(6380)),
        "batch-head-api": egress(head("batch"), tcp(443, 6443)),
    }


def test_a_load_test_has_a_policy_of_its_own() -> None:
    assert specs(TeamNetwork(), [smoke()]) == specs(TeamNetwork(), [])
    (own,) = (one["spec"] for one in smoke().manifests if one["kind"] == "NetworkPolicy")
    assert own["podSelector"] == {"matchLabels": {labels.LOAD_TEST: "smoke"}}
    assert own["egress"] == [DNS, INSIDE, tcp(443)]


@pytest.mark.parametrize(
    ("router", "watching"),
    [
        (None, {}),
        ({"kind": "standalone"}, {"oss-router-api": {labels.ROUTER: "oss-router"}}),
        (
            {"kind": "gateway", "gateway": "public"},
            {
                "oss-router-api": {labels.ROUTER: "oss-router"},
                "oss-decode-api": {labels.DEPLOYMENT: "oss", labels.ROLE: "decode"},
            },
        ),
    ],
)
def test_who_watches_pods_reaches_the_kubernetes_api(router: Any, watching: dict[str, Any]) -> None:
    found = specs(TeamNetwork(), deployments(PACKED, name="oss", router=router))
    assert {name: spec for name, spec in found.items() if name.endswith("-api")} == {
        name: egress({"matchLabels": selector}, tcp(443, 6443)) for name, selector in watching.items()
    }


def test_what_is_declared_is_opened_and_no_deployment_with_it() -> None:
    network = TeamNetwork(
        clients=(Client(namespace="gateways"),),
        destinations=(Destination(cidr="10.8.0.0/16", ports=(5432,)), Destination(namespace="databases")),
    )
    found = specs(network, [])

    def place(name: str) -> dict[str, Any]:
        return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}

    assert found["outward"] == egress(
        {}, DNS, INSIDE, {"to": [{"ipBlock": {"cidr": "10.8.0.0/16"}}]} | tcp(5432), {"to": [place("databases")]}
    )
    assert found["clients"] == {
        "podSelector": {
            "matchExpressions": [
                {"key": labels.DEPLOYMENT, "operator": "DoesNotExist"},
                {"key": labels.ROUTER, "operator": "DoesNotExist"},
            ]
        },
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [place("gateways")]}],
    }


def test_nothing_opens_what_comes_in_for_the_pods_of_a_deployment() -> None:
    # Policies add up: one for all pods would undo those of the deployments.
    for settings in every_stack().values():
        own = [of_deployment(args) for args in deployments_of(PlatformArgs.model_validate(settings)).values()]
        inward = {name for name, spec in specs(TeamNetwork(), own).items() if spec.get("ingress")}
        assert inward == set()
