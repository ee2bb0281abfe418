"""The KubeRay operator: clusters and services of Ray."""

from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, Site
from pulumi_lws.addons.settings import AddOn


def _values(_declared: AddOn, site: Site) -> dict[str, Any]:
    monitored = "kube_prometheus_stack" in site.installed
    return {"metrics": {"serviceMonitor": {"enabled": monitored}}}


KUBERAY = AddOnFacts(
    name="kuberay",
    title="KubeRay operator",
    purpose="clusters and services of Ray",
    pin="kuberay-chart",
    release="kuberay-operator",
    namespace="kuberay-system",
    values=_values,
    after=("kube_prometheus_stack",),
    crds=("rayclusters.ray.io", "raycronjobs.ray.io", "rayjobs.ray.io", "rayservices.ray.io"),
    controllers=("Deployment/kuberay-operator",),
)
