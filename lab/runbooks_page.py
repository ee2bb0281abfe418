"""The page of what to do about each alert."""

from collections.abc import Iterable

from pulumi_lws.monitoring.alerts.alert import Alert
from pulumi_lws.monitoring.rules import all_alerts
from pulumi_lws.monitoring.settings import Monitoring

_PAGE = """\
# Runbooks

What to do when an alert calls. Generated from `pulumi_lws/monitoring/alerts/` by `make docs`; how alerts are set up is
in [monitoring](monitoring.md). Numbers are the defaults. Words in capitals stand for what the alert's labels say, such
as NAMESPACE, SET (`leader_worker_set`), GROUP and POD.

*Critical*: requests fail or GPUs are lost, somebody gets up. *Warning*: somebody looks in the morning. *Info*: it only
stands there.

{table}

{sections}
"""

_WATCHED = {
    "groups": "Groups",
    "serving": "Serving",
    "nodes": "Nodes and GPUs",
    "queues": "Queues",
    "missing": "Blind spots",
}


def runbooks_page() -> str:
    """Return the page."""
    watched = all_alerts(Monitoring())
    rows = [
        f"| {_WATCHED[name]} | [{alert.name}](#{alert.anchor}) | {alert.severity} | {alert.meaning} |"
        for name, alerts in watched.items()
        for alert in alerts
    ]
    table = "\n".join(["| watches | alert | severity | what it says |", "|---|---|---|---|", *rows])
    sections = "\n\n".join(_section(alert) for alerts in watched.values() for alert in alerts)
    return _PAGE.format(table=table, sections=sections)


def _section(alert: Alert) -> str:
    return "\n\n".join(
        [
            f"## {alert.name}",
            f"*{alert.severity.capitalize()}, {_patience(alert)}.* {alert.meaning}",
            "Look:",
            _commands(alert.look),
            "\n".join(["| cause | what to do |", "|---|---|", *(f"| {cause} | {fix} |" for cause, fix in alert.fixes)]),
        ]
    )


def _patience(alert: Alert) -> str:
    return f"after {alert.minutes} minutes" if alert.minutes else "at once"


def _commands(look: Iterable[tuple[str, str]]) -> str:
    lines = [line for question, command in look for line in (f"# {question}", command)]
    return "\n".join(["```sh", *lines, "```"])
