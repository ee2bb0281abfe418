"""What monitoring refuses, and why."""

import pytest

from pulumi_lws.monitoring.checks import monitoring_problems
from pulumi_lws.monitoring.rules import alert_names, alerts
from pulumi_lws.monitoring.settings import Monitoring, Thresholds
from pulumi_lws.monitoring.site import MonitoredSite
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem, Severity

KNOWN = ", ".join(alert_names())
SITE = MonitoredSite(start_budget_minutes=90)


def _impatient(field: str, found: int) -> Problem:
    return Problem(
        f"thresholds.{field}",
        str(found),
        "90 or more: a group may take that long to start",
        "Set it to 90, remove it, or lower startBudgetMinutes.",
        Severity.WARNING,
    )


@pytest.mark.parametrize(
    ("declared", "problems"),
    [
        ({}, []),
        (
            {"disabled": {"LwsGpuIdel": "cheap"}},
            [Problem("disabled.LwsGpuIdel", "no such alert", KNOWN, "Write LwsGpuIdle, or remove it.")],
        ),
        (
            {"severities": {"gpuIdle": "info"}},
            [Problem("severities.gpuIdle", "no such alert", KNOWN, "Write LwsGpuIdle, or remove it.")],
        ),
        (
            {"severities": {"LwsGpuIdle": "info"}, "disabled": {"LwsGpuIdle": "cheap"}},
            [
                Problem(
                    "severities.LwsGpuIdle",
                    "a severity of an alert that is off",
                    "alerts that are on",
                    "Remove one of the two.",
                )
            ],
        ),
        (
            {"labels": {"severity": "page"}},
            [
                Problem(
                    "labels.severity",
                    "'page'",
                    "labels that alerts do not have yet",
                    "Set severities for single alerts.",
                )
            ],
        ),
        ({"thresholds": {"groupStartMinutes": 89}}, [_impatient("groupStartMinutes", 89)]),
        ({"thresholds": {"rolloutMinutes": 89}}, [_impatient("rolloutMinutes", 89)]),
        ({"thresholds": {"groupStartMinutes": 90, "rolloutMinutes": 90}}, []),
    ],
)
def test_it_finds(declared: dict[str, object], problems: list[Problem]) -> None:
    assert monitoring_problems(Monitoring.model_validate(declared), SITE) == problems


@pytest.mark.parametrize(
    ("thresholds", "start_budget", "expected"),
    [
        (Thresholds(), 30, (60, 90)),
        (Thresholds(), 120, (120, 180)),
        (Thresholds(group_start_minutes=150), 120, (150, 225)),
        (Thresholds(rollout_minutes=300), 120, (120, 300)),
    ],
)
def test_nobody_is_called_while_a_group_may_still_start(
    thresholds: Thresholds, start_budget: int, expected: tuple[int, int]
) -> None:
    site = MonitoredSite(start_budget_minutes=start_budget)
    by_name = {alert.name: alert for alert in alerts(Monitoring(thresholds=thresholds), site)["groups"]}
    assert (by_name["LwsGroupNotReady"].minutes, by_name["LwsRolloutStuck"].minutes) == expected


def test_nodes_are_known_by_their_pools() -> None:
    pools = {
        "p5": GpuPool(instance_type="p5.48xlarge", islands=1, nodes_per_island=2),
        "tcp": GpuPool.model_validate(
            {"instanceType": "g6e.48xlarge", "nodes": 1, "efa": "none", "disruption": {"expireAfterHours": 48}}
        ),
    }
    auto, own, reached = (MonitoredSite(pools, mode) for mode in ("auto", "karpenter", None))
    assert auto.efa_expected == {"p5": 32}
    # Auto Mode counts the 24 hours of the drain in.
    assert auto.lifetime_seconds == {"p5": 20 * 24 * 3600, "tcp": 48 * 3600}
    assert own.lifetime_seconds == {"tcp": 48 * 3600}
    assert reached.lifetime_seconds == {}
