"""kube-prometheus-stack: Prometheus with its operator, Alertmanager, Grafana and kube-state-metrics."""

from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, Password, Site, UpgradeStep
from pulumi_lws.addons.settings import AddOn

GRAFANA_SECRET = "grafana-admin"  # noqa: S105 - the name of a Secret
"""Secret with the administrator of Grafana; its chart would make a new password at every update."""

_HIDDEN_BY_EKS = ("kubeControllerManager", "kubeEtcd", "kubeScheduler", "kubeProxy")
"""Parts of the control plane whose metrics nobody reads on EKS: their alerts would fire for ever."""

_UPGRADES = "https://github.com/prometheus-community/helm-charts/blob/main/charts/kube-prometheus-stack/UPGRADE.md"


def _values(_declared: AddOn, _site: Site) -> dict[str, Any]:
    return {
        "prometheus": {
            "prometheusSpec": {
                # By default only what carries the label of this release is read.
                # https://github.com/prometheus-operator/prometheus-operator/issues/3636
                "podMonitorSelectorNilUsesHelmValues": False,
                "serviceMonitorSelectorNilUsesHelmValues": False,
                "ruleSelectorNilUsesHelmValues": False,
                "probeSelectorNilUsesHelmValues": False,
            }
        },
        # Its certificate is made by hooks of Helm, which would not run.
        "prometheusOperator": {"admissionWebhooks": {"enabled": False}, "tls": {"enabled": False}},
        "grafana": {
            "admin": {"existingSecret": GRAFANA_SECRET, "userKey": "admin-user", "passwordKey": "admin-password"}
        },
        # On every node, those with GPUs among them.
        "prometheus-node-exporter": {"tolerations": [{"operator": "Exists"}]},
        **{part: {"enabled": False} for part in _HIDDEN_BY_EKS},
    }


KUBE_PROMETHEUS_STACK = AddOnFacts(
    name="kube_prometheus_stack",
    title="kube-prometheus-stack",
    purpose="metrics, alerts and dashboards",
    pin="kube-prometheus-stack-chart",
    release="kube-prometheus-stack",
    namespace="monitoring",
    values=_values,
    password=Password(GRAFANA_SECRET, "admin-password", {"admin-user": "admin"}),
    crds=(
        "alertmanagerconfigs.monitoring.coreos.com",
        "alertmanagers.monitoring.coreos.com",
        "podmonitors.monitoring.coreos.com",
        "probes.monitoring.coreos.com",
        "prometheusagents.monitoring.coreos.com",
        "prometheuses.monitoring.coreos.com",
        "prometheusrules.monitoring.coreos.com",
        "scrapeconfigs.monitoring.coreos.com",
        "servicemonitors.monitoring.coreos.com",
        "thanosrulers.monitoring.coreos.com",
    ),
    controllers=(
        "Deployment/kube-prometheus-stack-operator",
        "Deployment/kube-prometheus-stack-kube-state-metrics",
        "Deployment/kube-prometheus-stack-grafana",
        "DaemonSet/kube-prometheus-stack-prometheus-node-exporter",
    ),
    images=("global.imageRegistry",),
    # Majors that are for new CRDs alone need no hand: CRDs are updated with the chart here.
    steps=(
        UpgradeStep(
            (67,),
            "Prometheus 3 reads some queries and scrapes otherwise than 2"
            " (https://prometheus.io/docs/prometheus/3.0/migration)",
            "Go through that page for rules and monitors of your own.",
        ),
        UpgradeStep(
            (85,),
            f"tags of Prometheus and its node exporter end with -distroless ({_UPGRADES})",
            "Copy those images, where the nodes pull from a registry of yours.",
        ),
    ),
)
