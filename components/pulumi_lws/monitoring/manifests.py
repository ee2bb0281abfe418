"""Rules and monitors as objects of the Prometheus operator."""

from typing import Any

from pulumi_lws.monitoring.alerts.alert import Alert
from pulumi_lws.monitoring.monitors import MONITORS, Manifest, monitoring_object
from pulumi_lws.monitoring.recordings import Recording, recordings
from pulumi_lws.monitoring.rules import DEFAULT_SITE, alerts
from pulumi_lws.monitoring.settings import Monitoring
from pulumi_lws.monitoring.site import MonitoredSite


def monitoring_objects(settings: Monitoring, site: MonitoredSite = DEFAULT_SITE) -> dict[str, Manifest]:
    """Return every object by a key of each.

    Args:
        settings: What was declared.
        site: What is watched.
    """
    rules = {"groups": rule_groups(settings, site)}
    objects = [monitoring_object("PrometheusRule", "pulumi-lws", settings, rules)]
    objects += [monitor(settings) for monitor in MONITORS]
    return {f"{each['kind']}-{each['metadata']['name']}".lower(): each for each in objects}


def rule_groups(settings: Monitoring, site: MonitoredSite = DEFAULT_SITE) -> list[dict[str, Any]]:
    """Return the groups of rules, as files of Prometheus and PrometheusRules have them."""
    # Rules of one group see what those before them recorded.
    recorded = {"name": "pulumi-lws.recordings", "rules": [_recording(each) for each in recordings(site)]}
    watched = [
        {"name": f"pulumi-lws.{name}", "rules": [_alert(alert, settings) for alert in group]}
        for name, group in alerts(settings, site).items()
        if group
    ]
    return [recorded, *watched]


def _recording(recording: Recording) -> dict[str, Any]:
    more = {"labels": dict(recording.labels)} if recording.labels else {}
    return {"record": recording.record, "expr": recording.expression, **more}


def _alert(alert: Alert, settings: Monitoring) -> dict[str, Any]:
    times = {"for": alert.minutes, "keep_firing_for": alert.keep_minutes}
    return {
        "alert": alert.name,
        "expr": alert.expression,
        **{name: f"{minutes}m" for name, minutes in times.items() if minutes},
        "labels": {**settings.labels, "severity": alert.severity},
        "annotations": {
            "summary": alert.summary,
            "description": alert.description,
            "runbook_url": f"{settings.runbook_base}#{alert.anchor}",
        },
    }
