"""Every metric that somebody names is in the table, with the labels that it is asked for."""

from typing import Any

import pytest

from pulumi_lws.monitoring.manifests import rule_groups
from pulumi_lws.monitoring.metrics import METRICS, metric_of
from pulumi_lws.monitoring.metrics.cluster import CUSTOM, PROMETHEUS
from pulumi_lws.monitoring.metrics.engines import EPP, SGLANG, VLLM
from pulumi_lws.monitoring.metrics.labels import SCRAPED
from pulumi_lws.monitoring.metrics.recorded import RECORDINGS
from pulumi_lws.monitoring.settings import Monitoring
from pulumi_lws.monitoring.state_metrics import CUSTOM_RESOURCES
from pulumi_lws.serving.scaling.manifests import METRICS as SCALED_BY
from tests.monitoring.queries import named
from tests.monitoring.test_alerts import SITE

RULES: list[dict[str, Any]] = [rule for group in rule_groups(Monitoring(), SITE) for rule in group["rules"]]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.get("alert") or rule["record"])
def test_rules_name_metrics_and_labels_that_somebody_exposes(rule: dict[str, Any]) -> None:
    query = named(rule["expr"])
    known = {metric: _labels_of(metric) for metric, _ in query.selectors}
    unknown = {metric: matched - known[metric] for metric, matched in query.selectors}
    assert {metric: labels for metric, labels in unknown.items() if labels} == {}
    assert query.labels - query.made - set().union(*known.values()) == set()


def test_recorded_metrics_are_those_that_rules_record() -> None:
    recorded = {rule["record"] for rule in RULES if "record" in rule}
    assert recorded == {name for name, metric in METRICS.items() if metric.source is RECORDINGS}


def test_metrics_of_custom_resources_are_those_that_kube_state_metrics_is_told_to_make() -> None:
    told = {name for resource in CUSTOM_RESOURCES for name in resource.metrics}
    assert told == {name for name, metric in METRICS.items() if metric.source is CUSTOM}


def test_autoscalers_look_at_gauges_of_the_table() -> None:
    wanted = {name for loads in SCALED_BY.values() for name in loads.values()}
    found = {name: METRICS[name].kind for name in wanted}
    assert found == dict.fromkeys(wanted, "gauge")


def test_series_of_a_histogram_belong_to_it_and_it_has_no_series_of_its_own() -> None:
    latency = METRICS["vllm:time_to_first_token_seconds"]
    assert [metric_of(f"{latency.name}{end}") for end in ("_bucket", "_sum", "_count", "")] == [latency] * 3 + [None]


def test_a_counter_is_called_a_total_where_its_library_adds_that() -> None:
    bare = {name for name, metric in METRICS.items() if metric.kind == "counter" and not name.endswith("_total")}
    assert {name.split("_")[0] for name in bare} == {"DCGM", "envoy"}


def _labels_of(series: str) -> frozenset[str]:
    metric = metric_of(series)
    assert metric is not None, f"{series} is not in the table"
    scraped = SCRAPED if metric.source in {VLLM, SGLANG, EPP, PROMETHEUS} else ()
    histogram = ("le",) if metric.kind == "histogram" else ()
    return frozenset({*metric.labels, *scraped, *histogram})
