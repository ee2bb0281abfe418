"""All rules: what is recorded, and which alerts there are after what was declared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pulumi_lws.monitoring.alerts.alert import Alert
from pulumi_lws.monitoring.alerts.groups import group_alerts
from pulumi_lws.monitoring.alerts.missing import missing_alerts
from pulumi_lws.monitoring.alerts.nodes import node_alerts
from pulumi_lws.monitoring.alerts.queues import queue_alerts
from pulumi_lws.monitoring.alerts.serving import serving_alerts
from pulumi_lws.monitoring.settings import Monitoring
from pulumi_lws.monitoring.site import MonitoredSite

DEFAULT_SITE = MonitoredSite()


def all_alerts(settings: Monitoring, site: MonitoredSite = DEFAULT_SITE) -> Mapping[str, Sequence[Alert]]:
    """Return every alert by what it watches, also those that are off."""
    return {
        "groups": tuple(group_alerts(settings, site)),
        "serving": tuple(serving_alerts(settings)),
        "nodes": tuple(node_alerts(settings)),
        "queues": tuple(queue_alerts(settings)),
        "missing": tuple(missing_alerts(settings)),
    }


def alerts(settings: Monitoring, site: MonitoredSite = DEFAULT_SITE) -> Mapping[str, Sequence[Alert]]:
    """Return the alerts that are on, each with the severity that was declared for it."""
    return {
        watched: tuple(
            replace(alert, severity=settings.severities.get(alert.name, alert.severity))
            for alert in group
            if alert.name not in settings.disabled
        )
        for watched, group in all_alerts(settings, site).items()
    }


def alert_names() -> list[str]:
    """Return the names of all alerts."""
    return [alert.name for group in all_alerts(Monitoring()).values() for alert in group]
