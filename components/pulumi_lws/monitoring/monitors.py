"""What Prometheus reads: monitors for the Prometheus operator, for pods in all namespaces.

Charts bring monitors of their own for the rest; ``state_metrics.add_on_values`` turns those on.
"""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.monitoring.metrics.labels import POD_LABELS, sanitized
from pulumi_lws.monitoring.settings import Monitoring

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""

_API = "monitoring.coreos.com/v1"
_RAY_NODE_TYPE = "ray.io/node-type"
_RAY_CLUSTER = "ray.io/cluster"
_ENVOY_OWNER = "gateway.envoyproxy.io/owning-gateway-name"
_ENVOY_METRICS = "/stats/prometheus"


def engines(settings: Monitoring) -> Manifest:
    """Return the monitor of the engines that answer requests. Workers that only compute open no port."""
    told = [{"key": labels.METRICS, "operator": "NotIn", "values": ["none"]}]
    chosen = {"matchLabels": {labels.SERVES: "true"}, "matchExpressions": told}
    return _pod_monitor("pulumi-lws-engines", settings, chosen, _endpoint(settings, "http"))


def routers(settings: Monitoring) -> Manifest:
    """Return the monitor of the routers of disaggregated deployments: the picker, and its Envoy where it has one."""
    picker = _endpoint(settings, "metrics")
    envoy = {**_endpoint(settings, "status"), "path": _ENVOY_METRICS}
    chosen = {"matchExpressions": [{"key": labels.ROUTER, "operator": "Exists"}]}
    return _pod_monitor("pulumi-lws-routers", settings, chosen, picker, envoy)


def gateways(settings: Monitoring) -> Manifest:
    """Return the monitor of the proxies that Envoy Gateway runs."""
    proxies = {"app.kubernetes.io/managed-by": "envoy-gateway", "app.kubernetes.io/component": "proxy"}
    endpoint = {**_endpoint(settings, "metrics", {_ENVOY_OWNER: "gateway"}), "path": _ENVOY_METRICS}
    chosen = {"matchLabels": proxies}
    return _pod_monitor("pulumi-lws-gateways", settings, chosen, endpoint)


def ray_heads(settings: Monitoring) -> Manifest:
    """Return the monitor of the heads of Ray clusters."""
    chosen = {"matchLabels": {_RAY_NODE_TYPE: "head"}}
    endpoint = _endpoint(settings, "metrics", {_RAY_CLUSTER: "ray_cluster"})
    return _pod_monitor("pulumi-lws-ray", settings, chosen, endpoint)


def karpenter(settings: Monitoring) -> Manifest:
    """Return the monitor of a Karpenter of our own; it matches nothing on EKS Auto Mode."""
    spec = {
        "selector": {"matchLabels": {"app.kubernetes.io/name": "karpenter"}},
        "namespaceSelector": {"any": True},
        "endpoints": [{"port": "http-metrics", "honorLabels": True}],
    }
    return monitoring_object("ServiceMonitor", "pulumi-lws-karpenter", settings, spec)


def _pod_monitor(name: str, settings: Monitoring, selector: Mapping[str, Any], *endpoints: Manifest) -> Manifest:
    spec = {"selector": selector, "namespaceSelector": {"any": True}, "podMetricsEndpoints": list(endpoints)}
    return monitoring_object("PodMonitor", name, settings, spec)


MONITORS = (engines, routers, gateways, ray_heads, karpenter)
"""What makes each monitor."""


def _endpoint(settings: Monitoring, port: str, pod_labels: Mapping[str, str] = POD_LABELS) -> Manifest:
    """Return one port of a pod, with what Kubernetes says of the pod on every series."""
    meta = {f"label_{sanitized(key)}": name for key, name in pod_labels.items()} | {"node_name": "node"}
    relabelings = [
        {"sourceLabels": [f"__meta_kubernetes_pod_{source}"], "targetLabel": target, "action": "replace"}
        for source, target in meta.items()
    ]
    return {"port": port, "interval": f"{settings.scrape_seconds}s", "relabelings": relabelings}


def monitoring_object(kind: str, name: str, settings: Monitoring, spec: Manifest) -> Manifest:
    """Return an object of the Prometheus operator."""
    metadata: Manifest = {"name": name, "namespace": settings.namespace}
    if settings.object_labels:
        metadata["labels"] = dict(settings.object_labels)
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, "spec": spec}
