"""The Prometheus adapter: metrics of engines for HorizontalPodAutoscalers."""

from pulumi_lws.addons.addon import AddOnFacts, Exclusion
from pulumi_lws.serving.scaling.adapter import adapter_values

PROMETHEUS_ADAPTER = AddOnFacts(
    name="prometheus_adapter",
    title="Prometheus Adapter",
    purpose="metrics of engines for HorizontalPodAutoscalers",
    pin="prometheus-adapter-chart",
    release="prometheus-adapter",
    namespace="monitoring",
    values=lambda _declared, _site: {**adapter_values(), "replicas": 2},
    needs=("kube_prometheus_stack",),
    elsewhere=("prometheus", "url"),
    excludes={
        "keda": Exclusion(
            ("rules", "external"),
            "a cluster has one server of external metrics, and both would be it"
            " (https://github.com/kedacore/keda/issues/470)",
            "set kind to keda in gatewayAutoscalers, from which they follow",
        )
    },
    controllers=("Deployment/prometheus-adapter",),
)
