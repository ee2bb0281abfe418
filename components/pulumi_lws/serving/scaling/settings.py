"""How the number of copies follows the load."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from pulumi_lws.declarations import Count, Declaration, PositiveCount
from pulumi_lws.planning.problems import invalid

Threshold = Annotated[float, Field(ge=0.001, le=1_000_000, allow_inf_nan=False)]
"""A threshold for each copy, from 0.001, since Kubernetes counts in thousandths, to a million."""

CopyCount = Annotated[Count, Field(le=80_000)]
"""A number of copies: a stack has 10,000 nodes of 8 GPUs at most, and no copy has less than a GPU."""


def _address(address: str) -> str:
    try:
        parts = urlsplit(address)
        is_one = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, is_one = urlsplit(""), False
    if not is_one or not address.isprintable() or " " in address:
        raise invalid("an address such as http://prometheus.monitoring.svc:9090", "Write http or https, host and port.")
    if parts.username is not None or parts.password is not None:
        raise invalid(
            "an address without a password: whoever reads the ScaledObject reads this",
            "Remove it, and let KEDA sign in by a TriggerAuthentication of your own ScaledObject.",
            found="an address with a password",
        )
    return address


HttpAddress = Annotated[
    str,
    AfterValidator(_address),
    WithJsonSchema({"type": "string", "pattern": "^https?://", "examples": ["http://prometheus.monitoring.svc:9090"]}),
]
"""An address of HTTP without credentials."""

Pace = Annotated[PositiveCount, Field(le=1800)]
"""Seconds between two changes, from 1 to 1800, which is all that a HorizontalPodAutoscaler takes."""


Query = Annotated[
    str,
    Field(min_length=1, max_length=4096, examples=["sum(increase(envoy_http_downstream_rq_total[2m]))"]),
]
"""A query of Prometheus with one number as its answer."""

PROMETHEUS = "http://prometheus-operated.monitoring.svc:9090"
"""Address of the service that the Prometheus operator makes, in the namespace ``monitoring``."""


class ScaleToZero(Declaration):
    """No copy while nobody asks. The first requests are turned away until a copy serves, as long as a start takes."""

    accept_cold_start_minutes: Annotated[PositiveCount, Field(le=1440)]
    """Minutes, at most a day, that clients bear without an answer while the first copy starts; at least as many as the
    plan estimates for a first start, or the start budget where it cannot."""
    requests: Query | None = None
    """Query that is above 0 while somebody asks, also where no copy runs: engines report nothing then. Default: the
    requests at the Envoy of a standalone router; required where there is none."""


class Autoscaling(Declaration):
    """An autoscaler that owns the number of copies. Thresholds are averages for each copy, never totals."""

    kind: Literal["keda", "hpa"] = "keda"
    """``keda``: a ScaledObject that asks Prometheus. ``hpa``: a HorizontalPodAutoscaler on the metrics of pods that a
    Prometheus adapter serves. Default keda."""
    min_replicas: PositiveCount = 1
    """Fewest copies, from 1: with none nothing reports a load. Default 1."""
    max_replicas: Annotated[CopyCount, Field(ge=1)]
    """Most copies, at most 80000; the pool must hold them all."""
    waiting_requests: Threshold | None = 5
    """Waiting requests for each copy above which copies are added. Default 5. None: not looked at."""
    kv_cache_usage: Annotated[Threshold, Field(le=1)] | None = 0.8
    """Used share of the KV cache, at most 1, above which copies are added. Default 0.8. None: not looked at."""
    prometheus: HttpAddress = PROMETHEUS
    """Address of Prometheus for KEDA. Default: the service of the Prometheus operator in ``monitoring``."""
    scale_up_seconds: Pace = 180
    """Least time between two added copies, in seconds, at most 1800. Default 180."""
    scale_down_seconds: Pace = 300
    """Least time between two removed copies, in seconds, at most 1800. Default 300."""
    stabilization_minutes: Annotated[PositiveCount, Field(le=60)] | None = None
    """How long the load must stay low before a copy goes, in minutes, at most 60. Default: the start budget, since a
    copy takes that long to come back, or 60."""
    scale_to_zero: ScaleToZero | None = None
    """Whether all copies go once nobody has asked for as long as the start budget; with the next request
    ``minReplicas`` come back. Default: some stay."""

    @model_validator(mode="after")
    def _in_order(self) -> "Autoscaling":
        if self.min_replicas > self.max_replicas:
            raise invalid(
                f"at least minReplicas, which is {self.min_replicas}",
                "Raise it, or lower minReplicas.",
                field="maxReplicas",
                found=str(self.max_replicas),
            )
        if self.waiting_requests is None and self.kv_cache_usage is None:
            raise invalid("at least one trigger", "Set waitingRequests or kvCacheUsage.", found="no trigger")
        if self.scale_to_zero is not None and self.kind == "hpa":
            raise invalid(
                "keda with scaleToZero: a HorizontalPodAutoscaler keeps one copy at least",
                "Set kind to keda, or scaleToZero to null.",
                field="kind",
                found="'hpa'",
            )
        return self
