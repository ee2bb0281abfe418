"""What monitoring cannot do as it was declared."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from pulumi_lws.monitoring.rules import DEFAULT_SITE, alert_names
from pulumi_lws.monitoring.settings import Monitoring
from pulumi_lws.monitoring.site import MonitoredSite
from pulumi_lws.planning.problems import Problem, Severity


def monitoring_problems(settings: Monitoring, site: MonitoredSite = DEFAULT_SITE) -> list[Problem]:
    """Return every problem; paths start at the settings."""
    return [
        *_unknown("severities", settings.severities),
        *_unknown("disabled", settings.disabled),
        *_severities_of_what_is_off(settings),
        *_taken_labels(settings),
        *_impatient(settings, site),
    ]


def _unknown(field: str, names: Iterable[str]) -> Iterator[Problem]:
    known = alert_names()
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0)[0]
            yield Problem(f"{field}.{name}", "no such alert", ", ".join(known), f"Write {near}, or remove it.")


def _severities_of_what_is_off(settings: Monitoring) -> Iterator[Problem]:
    for name in settings.severities:
        if name in settings.disabled:
            fix = "Remove one of the two."
            yield Problem(f"severities.{name}", "a severity of an alert that is off", "alerts that are on", fix)


def _taken_labels(settings: Monitoring) -> Iterator[Problem]:
    for name in ("severity", "alertname"):
        if name in settings.labels:
            fix = "Set severities for single alerts." if name == "severity" else "Choose another name."
            yield Problem(f"labels.{name}", repr(settings.labels[name]), "labels that alerts do not have yet", fix)


def _impatient(settings: Monitoring, site: MonitoredSite) -> Iterator[Problem]:
    """Judge whether every start of a group would call somebody."""
    start = site.start_budget_minutes
    declared = {
        "groupStartMinutes": settings.thresholds.group_start_minutes,
        "rolloutMinutes": settings.thresholds.rollout_minutes,
    }
    for field, minutes in declared.items():
        if minutes is not None and minutes < start:
            yield Problem(
                f"thresholds.{field}",
                str(minutes),
                f"{start} or more: a group may take that long to start",
                f"Set it to {start}, remove it, or lower startBudgetMinutes.",
                Severity.WARNING,
            )
