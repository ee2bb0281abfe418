"""How requests find the pods of a disaggregated deployment."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from pulumi_lws.declarations import SUBDOMAIN, Declaration, NamespaceName, ObjectName, PositiveCount
from pulumi_lws.facts.api_paths import DEFAULT_APIS, ApiName
from pulumi_lws.planning.problems import invalid

_HOST_NAME = rf"^(\*\.)?{SUBDOMAIN}$"


def _host_name(name: str) -> str:
    if len(name) > 253 or not re.fullmatch(_HOST_NAME, name):
        raise invalid(
            "a host name such as llm.example.com or *.example.com, in lower-case letters, digits, '-' and '.'",
            "Write it without a port and in lower case.",
        )
    return name


HostName = Annotated[
    str,
    AfterValidator(_host_name),
    WithJsonSchema({"type": "string", "maxLength": 253, "pattern": _HOST_NAME, "examples": ["llm.example.com"]}),
]
"""A host name, as the Gateway API takes it."""


RouterCount = Annotated[PositiveCount, Field(le=100)]
"""A number of routers: each takes tens of thousands of requests."""


OpenApis = Annotated[tuple[ApiName, ...], Field(min_length=1)]
"""What clients may ask for."""


class StandaloneRouter(Declaration):
    """The llm-d router beside an Envoy of its own, behind one Service; needs no Gateway."""

    kind: Literal["standalone"] = "standalone"
    """``standalone``."""
    apis: OpenApis = DEFAULT_APIS
    """What clients may ask for; Envoy answers everything else with 404. Default: chat, completions, responses,
    messages, count-tokens and models."""
    replicas: RouterCount = 1
    """Routers, at most 100. Default 1: their view of caches and load is not shared."""


class GatewayRouter(Declaration):
    """The llm-d router behind a Gateway of the cluster, by an InferencePool and an HTTPRoute."""

    kind: Literal["gateway"] = "gateway"
    """``gateway``."""
    gateway: Annotated[ObjectName, Field(examples=["public"])] | None = None
    """Name of the Gateway, to which an HTTPRoute of the deployment's own is added. Default: no HTTPRoute is made, since
    an ``InferenceGateway`` routes to the pool."""
    gateway_namespace: NamespaceName | None = None
    """Namespace of the Gateway. Default: that of the deployment."""
    hostnames: Annotated[tuple[HostName, ...], Field(max_length=16)] = ()
    """Host names of the route, at most 16. Default: all of the Gateway."""
    apis: OpenApis = DEFAULT_APIS
    """What clients may ask for by the route; nothing else of the engine can be reached. Default: chat, completions,
    responses, messages, count-tokens and models."""
    replicas: RouterCount = 1
    """Routers, at most 100. Default 1: their view of caches and load is not shared."""


Router = Annotated[StandaloneRouter | GatewayRouter, Field(discriminator="kind")]
"""A router, chosen by ``kind``."""
