"""The DCGM exporter: metrics of GPUs."""

from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, Site
from pulumi_lws.addons.device_nodes import EVERYWHERE, on_pools
from pulumi_lws.addons.settings import AddOn


def _values(_declared: AddOn, site: Site) -> dict[str, Any]:
    return {
        "tolerations": list(EVERYWHERE),
        "affinity": on_pools(),
        # Else the labels of a series are those of the exporter's own pod, not of the pod that has the GPU.
        "serviceMonitor": {"enabled": "kube_prometheus_stack" in site.installed, "honorLabels": True},
    }


DCGM_EXPORTER = AddOnFacts(
    name="dcgm_exporter",
    title="DCGM exporter",
    purpose="metrics of GPUs",
    pin="dcgm-exporter-chart",
    release="dcgm-exporter",
    namespace="monitoring",
    values=_values,
    after=("kube_prometheus_stack", "nvidia_device_plugin"),
    # One process alone may profile a GPU; https://github.com/aws/eks-node-monitoring-agent/issues/256 says so, too.
    doubtful_on={
        "auto": "AWS's agent there watches GPUs with a DCGM of its own; beside the exporter it has reported GPUs as"
        " broken, and such nodes are replaced (https://github.com/aws/containers-roadmap/issues/2763)"
    },
    controllers=("DaemonSet/dcgm-exporter",),
)
