"""Dashboards as the JSON that Grafana reads (schema version 42, of Grafana 12 and 13)."""

import string
from collections.abc import Iterable, Iterator
from typing import Any

from pulumi_lws.monitoring.dashboards.dashboard import COLUMNS, Dashboard, Limits, Panel, Variable

Json = dict[str, Any]

SCHEMA_VERSION = 42

TAG = "pulumi-lws"
"""Tag by which dashboards link to one another."""

_PROMETHEUS = {"type": "prometheus", "uid": "${datasource}"}
_ALL = {"text": ["All"], "value": ["$__all"]}
_ON_CHANGE_OF_TIME = 2
_BY_NAME = 1
_SHARED_CROSSHAIR = 1
_NOT_READY, _READY = {"text": "not ready", "color": "red"}, {"text": "ready", "color": "green"}


def grafana_json(dashboard: Dashboard, runbooks: str) -> Json:
    """Return a dashboard as Grafana reads it.

    Args:
        dashboard: The dashboard.
        runbooks: Address of the page that has a section for each alert.
    """
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.answers,
        "tags": [TAG],
        "schemaVersion": SCHEMA_VERSION,
        # Changes belong in the code: what a browser saves, the next update takes back.
        "editable": False,
        "graphTooltip": _SHARED_CROSSHAIR,
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "refresh": "1m",
        "templating": {"list": [_datasource(), *map(_variable, dashboard.variables)]},
        "annotations": {"list": [_firing(dashboard.alerts)] if dashboard.alerts else []},
        "links": [_siblings()],
        "panels": list(_panels(dashboard, runbooks)),
    }


def _datasource() -> Json:
    return {"type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus", "refresh": 1}


def _variable(variable: Variable) -> Json:
    return {
        "type": "query",
        "name": variable.name,
        "label": variable.label,
        "datasource": dict(_PROMETHEUS),
        "query": variable.values,
        "definition": variable.values,
        "refresh": _ON_CHANGE_OF_TIME,
        "sort": _BY_NAME,
        "multi": True,
        "includeAll": True,
        # Also what lacks the label, such as Deployments without a role.
        "allValue": ".*",
        "current": dict(_ALL),
    }


def _firing(alerts: Iterable[str]) -> Json:
    """Return what marks the times at which alerts of a dashboard fired."""
    return {
        "name": "Alerts",
        "datasource": dict(_PROMETHEUS),
        "enable": True,
        "iconColor": "red",
        "expr": f'ALERTS{{alertstate="firing", alertname=~"{"|".join(alerts)}"}}',
        "titleFormat": "{{alertname}}",
    }


def _siblings() -> Json:
    return _link("dashboards", "Models and GPUs") | {
        "tags": [TAG],
        "asDropdown": True,
        "includeVars": True,
        "keepTime": True,
    }


def _link(kind: str, title: str) -> Json:
    """Return a link, with every field that Grafana's schema asks for."""
    return {
        "type": kind,
        "title": title,
        "icon": "external link",
        "tooltip": "",
        "tags": [],
        "asDropdown": False,
        "targetBlank": True,
        "includeVars": False,
        "keepTime": False,
    }


def _panels(dashboard: Dashboard, runbooks: str) -> Iterator[Json]:
    """Yield headings and panels, each at its place: from left to right, and below where no room is left."""
    number, top = 0, 0
    for row in dashboard.rows:
        number += 1
        place = {"h": 1, "w": COLUMNS, "x": 0, "y": top}
        yield {"id": number, "type": "row", "title": row.title, "collapsed": False, "panels": [], "gridPos": place}
        top, left, tallest = top + 1, 0, 0
        for panel in row.panels:
            if left + panel.width > COLUMNS:
                top, left, tallest = top + tallest, 0, 0
            number += 1
            place = {"h": panel.height, "w": panel.width, "x": left, "y": top}
            yield {"id": number, **_panel(panel, runbooks), "gridPos": place}
            left, tallest = left + panel.width, max(tallest, panel.height)
        top += tallest


def _panel(panel: Panel, runbooks: str) -> Json:
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": " ".join([panel.asks, *(f"Alert: {name}." for name in panel.alerts)]),
        "datasource": dict(_PROMETHEUS),
        "targets": list(_targets(panel)),
        "links": [
            _link("link", f"Runbook of {name}") | {"url": f"{runbooks}#{name.lower()}"}
            for name in panel.alerts
            # A path in a repository leads nowhere from Grafana.
            if runbooks.startswith("http")
        ],
        "fieldConfig": {"defaults": _field(panel), "overrides": []},
        "options": _options(panel),
        **({"transformations": _columns(panel)} if panel.kind == "table" else {}),
    }


def _targets(panel: Panel) -> Iterator[Json]:
    at_once = panel.kind in {"stat", "table"}
    for letter, query in zip(string.ascii_uppercase, panel.queries, strict=False):
        yield {
            "refId": letter,
            "datasource": dict(_PROMETHEUS),
            "expr": query.expression,
            "legendFormat": query.legend or "__auto",
            "instant": at_once,
            "range": not at_once,
            "format": "table" if panel.kind == "table" else "time_series",
        }


def _field(panel: Panel) -> Json:
    config: Json = {
        "unit": panel.unit,
        "thresholds": _thresholds(panel.limits),
        "color": {"mode": "thresholds" if panel.kind == "stat" else "palette-classic"},
    }
    if panel.maximum is not None:
        config |= {"min": 0, "max": panel.maximum}
    if panel.kind == "timeseries":
        config["custom"] = {
            "fillOpacity": 10,
            "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
            "thresholdsStyle": {"mode": "line" if panel.limits else "off"},
        }
    if panel.kind == "state-timeline":
        states = {"0": {"index": 0, **_NOT_READY}, "1": {"index": 1, **_READY}}
        config["mappings"] = [{"type": "value", "options": states}]
    return config


def _thresholds(limits: Limits | None) -> Json:
    if limits is None:
        values: list[tuple[str, float | None]] = [("blue", None)]
    elif limits.critical < limits.warning:
        values = [("red", None), ("orange", limits.critical), ("green", limits.warning)]
    else:
        values = [("green", None), ("orange", limits.warning), ("red", limits.critical)]
    return {"mode": "absolute", "steps": [{"color": color, "value": value} for color, value in values]}


def _options(panel: Panel) -> Json:
    match panel.kind:
        case "timeseries":
            legend = {
                "displayMode": "table",
                "placement": "bottom",
                "showLegend": True,
                "calcs": ["lastNotNull", "max"],
            }
            return {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}}
        case "stat":
            last = {"calcs": ["lastNotNull"], "fields": "", "values": False}
            return {
                "reduceOptions": last,
                "colorMode": "value",
                "graphMode": "none",
                "textMode": "auto",
                "justifyMode": "auto",
                "orientation": "auto",
                "wideLayout": True,
                "showPercentChange": False,
                "percentChangeColorMode": "standard",
            }
        case "table":
            return {"frameIndex": 0, "showHeader": True, "cellHeight": "sm"}
        case "state-timeline":
            legend = {"displayMode": "list", "placement": "bottom", "showLegend": False, "calcs": []}
            tooltip = {"mode": "single", "sort": "none"}
            return {"mergeValues": True, "showValue": "never", "rowHeight": 0.9, "legend": legend, "tooltip": tooltip}


def _columns(panel: Panel) -> list[Json]:
    """Return what makes one table of a panel's queries, with its labels before its values."""
    letters = string.ascii_uppercase[: len(panel.queries)]
    values = ["Value"] if len(letters) == 1 else [f"Value #{letter}" for letter in letters]
    heads = dict(panel.columns) | dict(zip(values, (query.legend for query in panel.queries), strict=True))
    order = {name: place for place, name in enumerate(heads)}
    # Every other field is hidden: what is not in the list is not asked for.
    chosen = {"include": {"names": list(heads)}}
    return [
        {"id": "merge", "options": {}},
        {"id": "filterFieldsByName", "options": chosen},
        {"id": "organize", "options": {"indexByName": order, "renameByName": heads}},
    ]
