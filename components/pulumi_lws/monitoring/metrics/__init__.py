"""Every metric that rules, dashboards and autoscalers name, with where it comes from.

A test holds each query to this table: a metric that nobody exposes makes an alert that never fires.
"""

from collections.abc import Mapping

from pulumi_lws.monitoring.metrics.cluster import CLUSTER
from pulumi_lws.monitoring.metrics.engines import ENGINES
from pulumi_lws.monitoring.metrics.gpus import GPUS
from pulumi_lws.monitoring.metrics.metric import Metric, Source
from pulumi_lws.monitoring.metrics.recorded import RECORDED

__all__ = ["METRICS", "Metric", "Source", "metric_of"]

METRICS: Mapping[str, Metric] = {metric.name: metric for metric in (*ENGINES, *GPUS, *CLUSTER, *RECORDED)}
"""Every metric by its name."""

_OF_HISTOGRAMS = ("_bucket", "_sum", "_count")


def metric_of(series: str) -> Metric | None:
    """Return the metric of a series, which may be one of the three of a histogram; None where nobody exposes it."""
    for end in _OF_HISTOGRAMS:
        metric = METRICS.get(series.removesuffix(end))
        if series.endswith(end) and metric is not None and metric.kind == "histogram":
            return metric
    metric = METRICS.get(series)
    return None if metric is None or metric.kind == "histogram" else metric
