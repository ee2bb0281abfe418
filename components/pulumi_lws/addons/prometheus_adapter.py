"""The Prometheus adapter: metrics of engines for HorizontalPodAutoscalers."""

from pulumi_lws.addons.addon import AddOnFacts

PROMETHEUS_ADAPTER = AddOnFacts(
    name="prometheus_adapter",
    title="Prometheus Adapter",
    purpose="metrics of engines for HorizontalPodAutoscalers",
    pin="prometheus-adapter-chart",
    release="prometheus-adapter",
    namespace="monitoring",
    values=lambda _declared, _site: {
        "prometheus": {"url": "http://prometheus-operated.monitoring.svc", "port": 9090},
        "replicas": 2,
    },
    after=("kube_prometheus_stack",),
    controllers=("Deployment/prometheus-adapter",),
)
