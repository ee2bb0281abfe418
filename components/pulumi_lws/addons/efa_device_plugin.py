"""The device plugin of EFA: its interfaces as a resource of nodes."""

from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, Site
from pulumi_lws.addons.device_nodes import EVERYWHERE
from pulumi_lws.addons.settings import AddOn


def _values(_declared: AddOn, site: Site) -> dict[str, Any]:
    types = sorted({pool.instance_type for pool in site.pools.values() if pool.efa_mode != "none"})
    # The list is closed: on an instance type that is not in it the plugin does not run.
    chosen = {"supportedInstanceLabels": {"values": types}} if types else {}
    return {"tolerations": list(EVERYWHERE), **chosen}


EFA_DEVICE_PLUGIN = AddOnFacts(
    name="efa_device_plugin",
    title="EFA device plugin",
    purpose="EFA interfaces as a resource of nodes",
    pin="efa-device-plugin-chart",
    release="aws-efa-k8s-device-plugin",
    namespace="kube-system",
    values=_values,
    not_on={
        "auto": "its chart keeps off the nodes of Auto Mode, which have it built in"
        " (https://github.com/aws/eks-charts/issues/1359)"
    },
    controllers=("DaemonSet/aws-efa-k8s-device-plugin",),
    image_region="us-west-2",
)
