"""Every add-on, in the order in which they are installed."""

from pulumi_lws.addons.addon import AddOnFacts
from pulumi_lws.addons.cert_manager import CERT_MANAGER
from pulumi_lws.addons.dcgm_exporter import DCGM_EXPORTER
from pulumi_lws.addons.efa_device_plugin import EFA_DEVICE_PLUGIN
from pulumi_lws.addons.envoy_gateway import ENVOY_GATEWAY
from pulumi_lws.addons.inference_pools import INFERENCE_POOLS
from pulumi_lws.addons.keda import KEDA
from pulumi_lws.addons.kube_prometheus_stack import KUBE_PROMETHEUS_STACK
from pulumi_lws.addons.kuberay import KUBERAY
from pulumi_lws.addons.kueue import KUEUE
from pulumi_lws.addons.lws import LWS
from pulumi_lws.addons.nvidia_device_plugin import NVIDIA_DEVICE_PLUGIN
from pulumi_lws.addons.prometheus_adapter import PROMETHEUS_ADAPTER
from pulumi_lws.addons.settings import AddOnName

ADD_ONS: dict[AddOnName, AddOnFacts] = {
    facts.name: facts
    for facts in (
        ENVOY_GATEWAY,
        CERT_MANAGER,
        KUBE_PROMETHEUS_STACK,
        NVIDIA_DEVICE_PLUGIN,
        EFA_DEVICE_PLUGIN,
        DCGM_EXPORTER,
        LWS,
        KUBERAY,
        KUEUE,
        PROMETHEUS_ADAPTER,
        KEDA,
        INFERENCE_POOLS,
    )
}
"""The add-ons by name."""
