"""Prometheus' own evaluator answers every query of every panel."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from pulumi_lws.monitoring.manifests import rule_groups
from pulumi_lws.monitoring.settings import Monitoring
from tests.monitoring.dashboard_series import TROUBLE
from tests.monitoring.test_alerts import SITE
from tests.monitoring.test_dashboards import PANELS, filled_in

pytestmark = pytest.mark.lab

QUERIES = [
    filled_in(query.expression).replace(" or vector(0)", "") for panel in PANELS.values() for query in panel.queries
]
"""All of them; a 0 that stands for nothing would hide it."""
MINUTE = 200
RULES = rule_groups(Monitoring(), SITE)


def asked(answers: Iterable[tuple[str, str, float]]) -> list[dict[str, Any]]:
    """Return a test of promtool: queries of the cluster in trouble, each with the one series that it finds."""
    series = [{"series": name, "values": values} for name, values in TROUBLE.items()]
    expected = [
        {"expr": query, "eval_time": f"{MINUTE}m", "exp_samples": [{"labels": labels, "value": value}]}
        for query, labels, value in answers
    ]
    return [{"interval": "1m", "input_series": series, "promql_expr_test": expected}]


def test_every_query_finds_something_in_a_cluster_in_trouble(evaluated: Callable[..., None]) -> None:
    evaluated(RULES, asked((f"vector(1) and on () ({query})", "{}", 1) for query in QUERIES))


NUMBERS = {
    "lws-serving: Running": 4,
    "lws-serving: Waiting": 2,
    "lws-serving: First token, p95": 1,
    "lws-serving: Fullest KV cache": 0.5,
    "lws-serving: Generated": 1,
    "lws-groups: Ready groups": 1,
    "lws-groups: Wanted groups": 2,
    "lws-groups: Groups not ready": 1,
    "lws-groups: Partly pending": 1,
    "lws-groups: Half islands": 1,
    "lws-groups: Pods without a node": 1,
    "lws-gpus: GPUs in use": 1,
    "lws-gpus: Busy": 60,
    "lws-gpus: GPUs with errors": 1,
    # One of a node that offers 31 of 32, and all of a node whose device plugin does not run.
    "lws-gpus: EFA interfaces missing": 1 + 32,
    "lws-queues: Waiting workloads": 2,
    "lws-queues: Admitted": 1,
    "lws-queues: GPUs": 16,
    "lws-queues: GPUs free": 8,
    "lws-queues: Pods without a node": 1,
    "lws-queues: Instances on their way": 1,
}
"""What stands at the top of dashboards of the cluster in trouble."""


def test_numbers_at_the_top_are_right(evaluated: Callable[..., None]) -> None:
    stats = {title: filled_in(panel.queries[0].expression) for title, panel in PANELS.items() if panel.kind == "stat"}
    assert {*stats} - {*NUMBERS} == {"lws-serving: Next token, p95"}
    evaluated(RULES, asked((stats[title], "{}", number) for title, number in NUMBERS.items()))


def test_answers_are_counted_for_each_gpu_of_a_role(evaluated: Callable[..., None]) -> None:
    (query,) = PANELS["lws-serving: Answers for each GPU"].queries
    role = '{namespace="team-a", deployment="chat", role="serve"}'
    evaluated(RULES, asked([(filled_in(query.expression), role, 1 / 8)]))
