"""How the number of gateways follows the requests that wait behind them."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pulumi_lws.declarations import Declaration, DnsLabel, NamespaceName, ObjectName, PositiveCount
from pulumi_lws.planning.problems import invalid
from pulumi_lws.serving.scaling.settings import PROMETHEUS, HttpAddress, Pace, Query, Threshold

Percentage = Annotated[PositiveCount, Field(le=100)]
"""A whole number from 1 to 100."""

GatewayCount = Annotated[PositiveCount, Field(le=1000)]
"""A number of gateways: each takes thousands of requests at a time."""


class GatewayAutoscaling(Declaration):
    """An autoscaler of a Deployment without GPUs in front of models, such as a gateway, a proxy or a router of yours.

    Not for the llm-d router: what it knows of caches and load is not shared between its copies.
    """

    deployment: ObjectName
    """Name of the Deployment; it must leave ``replicas`` out."""
    namespace: NamespaceName
    """Its namespace."""
    models: tuple[DnsLabel, ...] = ()
    """Names of the deployments of models whose waiting requests count. Default: all."""
    query: Query | None = None
    """What piles up for all gateways together, instead of the waiting requests of models. Default none."""
    kind: Literal["keda", "hpa"] = "keda"
    """``keda``: a ScaledObject that asks Prometheus. ``hpa``: a HorizontalPodAutoscaler on an external metric of a
    Prometheus adapter, which cannot serve beside KEDA. Default keda."""
    min_replicas: GatewayCount = 2
    """Fewest gateways. Default 2: one may go with its node."""
    max_replicas: GatewayCount
    """Most gateways, at most 1000."""
    waiting_requests: Threshold = 5
    """Waiting requests for each gateway above which one is added. Default 5."""
    stabilization_seconds: Annotated[PositiveCount, Field(le=3600)] = 600
    """How long the load must stay low before gateways go, in seconds, at most 3600. Default 600."""
    scale_down_percent: Percentage = 25
    """Share of the gateways that may go in ``scaleDownSeconds``, in percent. Default 25."""
    scale_down_seconds: Pace = 60
    """Seconds in which so many may go, at most 1800. Default 60."""
    prometheus: HttpAddress = PROMETHEUS
    """Address of Prometheus for KEDA. Default: the service of the Prometheus operator in ``monitoring``."""

    @model_validator(mode="after")
    def _in_order(self) -> "GatewayAutoscaling":
        if self.min_replicas > self.max_replicas:
            raise invalid(
                f"at least minReplicas, which is {self.min_replicas}",
                "Raise it, or lower minReplicas.",
                field="maxReplicas",
                found=str(self.max_replicas),
            )
        if self.query is not None and self.kind == "hpa":
            raise invalid(
                "nothing with kind hpa: the adapter's rules know the metrics of models alone",
                "Remove it, or set kind to keda.",
                field="query",
                found=self.query,
            )
        return self
