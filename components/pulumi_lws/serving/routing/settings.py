"""How requests find the pods of a disaggregated deployment."""

from typing import Annotated, Literal

from pydantic import Field

from pulumi_lws.declarations import Declaration, DnsLabel, PositiveCount


class StandaloneRouter(Declaration):
    """The llm-d router beside an Envoy of its own, behind one Service; needs no Gateway."""

    kind: Literal["standalone"] = "standalone"
    """``standalone``."""
    replicas: PositiveCount = 1
    """Routers. Default 1: their view of caches and load is not shared."""


class GatewayRouter(Declaration):
    """The llm-d router behind a Gateway of the cluster, by an HTTPRoute and an InferencePool."""

    kind: Literal["gateway"]
    """``gateway``."""
    gateway: DnsLabel
    """Name of the Gateway."""
    gateway_namespace: DnsLabel | None = None
    """Namespace of the Gateway. Default: that of the deployment."""
    hostnames: tuple[str, ...] = ()
    """Host names of the route. Default: all of the Gateway."""
    replicas: PositiveCount = 1
    """Routers. Default 1: their view of caches and load is not shared."""


Router = Annotated[StandaloneRouter | GatewayRouter, Field(discriminator="kind")]
"""A router, chosen by ``kind``."""
