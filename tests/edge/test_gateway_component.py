"""The component registers what the pure functions say, who may come in before the door."""

from typing import Any

import pulumi
import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.edge.component import InferenceGateway
from pulumi_lws.edge.manifests import edge_objects
from pulumi_lws.edge.settings import InferenceGatewayArgs
from pulumi_lws.testing.monitor import Registration, record
from tests.edge.gateways import SHAPES, args, declaration


def registered(given: InferenceGatewayArgs | dict[str, Any], *, preview: bool = False) -> list[Registration]:
    def program() -> None:
        unknown = pulumi.Output.from_input(pulumi.UNKNOWN) if preview else "cluster-id"
        before = pulumi.ComponentResource("tests:index:EnvoyGateway", "envoy-gateway", {"cluster": unknown})
        InferenceGateway("env-door", given, pulumi.ResourceOptions(depends_on=[before]))

    return record(program, preview=preview)


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_component_is_its_objects(shape: str, preview: bool) -> None:
    found = registered(args(**SHAPES[shape]), preview=preview)
    assert {one.name: dict(one.inputs) for one in found if one.type.startswith("kubernetes:")} == {
        f"env-door-{key}": manifest for key, manifest in edge_objects(args(**SHAPES[shape])).items()
    }


def test_a_mapping_will_do() -> None:
    (component,) = (one for one in registered(declaration()) if one.type == "lws:index:InferenceGateway")
    assert component.name == "env-door"
    assert component.inputs["routes"]["glm"]["deployment"] == "glm-5"


def test_a_gateway_must_say_how_clients_are_known() -> None:
    silent = declaration()
    del silent["authentication"]
    with pytest.raises(DeclarationError) as caught:
        registered(silent)
    assert [one.path for one in caught.value.problems] == ["authentication"]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"authentication": {"kind": "none"}}, "authentication.reason"),
        ({"tls": {"kind": "none"}}, "tls.reason"),
        ({"authentication": {"kind": "api-keys", "secrets": []}}, "authentication.secrets"),
        ({"authentication": {"kind": "api-keys"}}, "authentication.secrets"),
        ({"routes": {"glm": {"deployment": "glm-5", "apis": ["chat", "tokenize"]}}}, "routes.glm.apis[1]"),
        ({"routes": {"glm": {"deployment": "glm-5", "apis": []}}}, "routes.glm.apis"),
        ({"routes": {"glm": {"deployment": "glm-5", "pathPrefix": "/v1/../pause"}}}, "routes.glm.pathPrefix"),
        ({"routes": {}}, "routes"),
        ({"hosts": []}, "hosts"),
    ],
)
def test_what_makes_it_unsafe_cannot_be_declared(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        registered(declaration(**changes))
    assert [one.path for one in caught.value.problems] == [path]


def test_a_wrong_gateway_stops_the_program_before_it_registers_anything() -> None:
    with pytest.raises(DeclarationError) as caught:
        registered(declaration(routes={"glm": {"deployment": "none"}}, timeouts={"idleSeconds": 1}))
    assert str(caught.value).splitlines()[0] == "InferenceGateway env-door has 2 problems:"
