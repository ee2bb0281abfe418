"""Dashboards as ConfigMaps, which the sidecar of Grafana in kube-prometheus-stack looks for."""

import json
from typing import Any, Final

from pulumi_lws.monitoring.dashboards.dashboard import Dashboard
from pulumi_lws.monitoring.dashboards.gpus import gpus
from pulumi_lws.monitoring.dashboards.grafana import grafana_json
from pulumi_lws.monitoring.dashboards.groups import groups
from pulumi_lws.monitoring.dashboards.queues import queues
from pulumi_lws.monitoring.dashboards.serving import serving
from pulumi_lws.monitoring.settings import Monitoring

SIDECAR_LABEL: Final = "grafana_dashboard"
FOLDER_ANNOTATION: Final = "grafana_folder"
FOLDER: Final = "Models and GPUs"
"""Folder of Grafana that the dashboards are in."""


def dashboards(settings: Monitoring) -> tuple[Dashboard, ...]:
    """Return every dashboard, with the thresholds of the alerts."""
    return tuple(make(settings) for make in (serving, groups, gpus, queues))


def dashboard_objects(settings: Monitoring) -> dict[str, dict[str, Any]]:
    """Return the ConfigMap of each dashboard, by the suffix of its Pulumi name."""
    return {f"dashboard-{each.uid}": _config_map(each, settings) for each in dashboards(settings)}


def grafana_values() -> dict[str, Any]:
    """Return the values of the chart kube-prometheus-stack by which Grafana finds the dashboards and their folder."""
    sidecar = {
        "searchNamespace": "ALL",
        "folderAnnotation": FOLDER_ANNOTATION,
        "provider": {"foldersFromFilesStructure": True},
    }
    return {"grafana": {"sidecar": {"dashboards": sidecar}}}


def _config_map(dashboard: Dashboard, settings: Monitoring) -> dict[str, Any]:
    text = json.dumps(grafana_json(dashboard, settings.runbook_base), indent=1, ensure_ascii=False)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": dashboard.uid,
            "namespace": settings.namespace,
            "labels": {**settings.object_labels, SIDECAR_LABEL: "1"},
            "annotations": {FOLDER_ANNOTATION: FOLDER},
        },
        "data": {f"{dashboard.uid}.json": text + "\n"},
    }
