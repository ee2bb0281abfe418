"""Every alert fires on what it is for, and stays silent beside it. Prometheus' own evaluator says so."""

from collections.abc import Callable
from typing import Any

import pytest

from pulumi_lws.monitoring.manifests import rule_groups
from pulumi_lws.monitoring.rules import alert_names, all_alerts
from pulumi_lws.monitoring.settings import Monitoring
from pulumi_lws.monitoring.site import MonitoredSite
from pulumi_lws.nodes.settings import GpuPool
from tests.monitoring import group_cases, node_cases, serving_cases
from tests.monitoring.case import Case, Firing, Silent
from tests.monitoring.series import Series, always, engine, gpu, group, leader_worker_set, named, node

SITE = MonitoredSite(
    pools={
        "p5": GpuPool(instance_type="p5.48xlarge", islands=2, nodes_per_island=2),
        "tcp": GpuPool(instance_type="g6e.48xlarge", nodes=4, efa="none"),
    },
    mode="auto",
)
CASES: dict[str, Case] = {**group_cases.CASES, **serving_cases.CASES, **node_cases.CASES}
SEVERITIES = {alert.name: alert.severity for group in all_alerts(Monitoring()).values() for alert in group}
GROUPS = rule_groups(Monitoring(), SITE)

HEALTHY: Series = {
    **group(),
    **leader_worker_set(),
    **node(),
    **node("node-0-1"),
    **gpu("GPU_UTIL", always(60)),
    **gpu("GPU_UTIL", always(60), node="node-0-1", pod="chat-0-1"),
    **gpu("XID_ERRORS", always(0)),
    **engine("num_requests_running", always(4)),
    **engine("num_requests_waiting", always(0)),
    **engine("kv_cache_usage_perc", always(0.5)),
    **engine("prompt_tokens_total", "0+900x300"),
    **engine("generation_tokens_total", "0+600x300"),
    named("up", namespace="team-a", pod="chat-0", deployment="chat"): always(1),
}


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    kinds = {name: {type(each) for each in case} for name, case in CASES.items()}
    assert kinds == {name: {Firing, Silent} for name in alert_names()}


@pytest.mark.lab
def test_alerts_fire_and_stay_silent_as_their_cases_say(evaluated: Callable[..., None]) -> None:
    evaluated(GROUPS, [_test(name, each) for name, case in CASES.items() for each in case])


@pytest.mark.lab
def test_while_all_is_well_no_alert_fires(evaluated: Callable[..., None]) -> None:
    silent = [
        {"eval_time": f"{at}m", "alertname": name, "exp_alerts": []} for name in alert_names() for at in (70, 250)
    ]
    evaluated(GROUPS, [{"interval": "1m", "input_series": _written(HEALTHY), "alert_rule_test": silent}])


@pytest.mark.lab
def test_prometheus_takes_the_rules(promtool: Callable[..., str]) -> None:
    said = promtool(
        "check", "rules", "--lint=all", "--lint-fatal", "rules.json", documents={"rules.json": {"groups": GROUPS}}
    )
    assert "SUCCESS" in said


def _written(series: Series) -> list[dict[str, str]]:
    return [{"series": name, "values": values} for name, values in series.items()]


def _test(name: str, case: Firing | Silent) -> dict[str, Any]:
    expected: list[dict[str, Any]] = []
    title = f"{name} fires"
    if isinstance(case, Firing):
        annotations = {
            "summary": case.summary,
            "description": case.description,
            "runbook_url": f"docs/runbooks.md#{name.lower()}",
        }
        labels = {**case.labels, "severity": SEVERITIES[name]}
        expected = [{"exp_labels": labels, "exp_annotations": annotations}]
    else:
        title = f"{name} is silent: {case.why}"
    looked = {"eval_time": f"{case.at}m", "alertname": name, "exp_alerts": expected}
    return {"name": title, "interval": "1m", "input_series": _written(case.series), "alert_rule_test": [looked]}
