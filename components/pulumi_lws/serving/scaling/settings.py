"""How the number of copies follows the load."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pulumi_lws.declarations import Declaration, PositiveCount
from pulumi_lws.planning.problems import invalid

Threshold = Annotated[float, Field(ge=0.001)]
"""A threshold for each copy, from 0.001: Kubernetes counts in thousandths."""

Pace = Annotated[PositiveCount, Field(le=1800)]
"""Seconds between two changes, from 1 to 1800, which is all that a HorizontalPodAutoscaler takes."""


class Autoscaling(Declaration):
    """An autoscaler that owns the number of copies. Thresholds are averages for each copy, never totals."""

    kind: Literal["keda", "hpa"] = "keda"
    """``keda``: a ScaledObject that asks Prometheus. ``hpa``: a HorizontalPodAutoscaler on the metrics of pods that a
    Prometheus adapter serves. Default keda."""
    min_replicas: PositiveCount = 1
    """Fewest copies, from 1: with none nothing reports a load. Default 1."""
    max_replicas: PositiveCount
    """Most copies; the pool must hold them all."""
    waiting_requests: Threshold | None = 5
    """Waiting requests for each copy above which copies are added. Default 5. None: not looked at."""
    kv_cache_usage: Annotated[Threshold, Field(le=1)] | None = 0.8
    """Used share of the KV cache, at most 1, above which copies are added. Default 0.8. None: not looked at."""
    prometheus: str = "http://prometheus-operated.monitoring.svc:9090"
    """Address of Prometheus for KEDA. Default: the service of the Prometheus operator in ``monitoring``."""
    scale_up_seconds: Pace = 180
    """Least time between two added copies, in seconds, at most 1800. Default 180."""
    scale_down_seconds: Pace = 300
    """Least time between two removed copies, in seconds, at most 1800. Default 300."""
    stabilization_minutes: Annotated[PositiveCount, Field(le=60)] | None = None
    """How long the load must stay low before a copy goes, in minutes, at most 60. Default: the start budget, since a
    copy takes that long to come back, or 60."""

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
        return self
