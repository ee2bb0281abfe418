"""What kube-state-metrics makes of custom resources and labels, as values of kube-prometheus-stack.

LWS has no metrics of its groups, and on EKS Auto Mode nobody can read those of Karpenter: what alerts need of both is
read from their objects. Source: ``docs/metrics/extend/customresourcestate-metrics.md`` of kube-state-metrics 2.20.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.monitoring.metrics.labels import DEPLOYMENT_LABELS, NODE_LABELS, POD_LABELS

Path = tuple[str, ...]

_NAME: Path = ("metadata", "name")
_NAMESPACE: Path = ("metadata", "namespace")
_CREATED: Path = ("metadata", "creationTimestamp")
_CONDITIONS: Path = ("status", "conditions")


@dataclass(frozen=True)
class CustomResource:
    """A kind whose fields become metrics.

    Attributes:
        group: API group.
        version: Version of the API.
        kind: Name in ``kind:``.
        plural: Name in URLs, for the rights to read it.
        labels: Label of every series → path of its value; an absent field is an empty label.
        numbers: Metric, without its prefix → path of the number or time; an absent field counts as 0.
        maps: Metric → path of a mapping of resources to quantities.
        has_conditions: Whether its conditions become a metric.
    """

    group: str
    version: str
    kind: str
    plural: str
    labels: Mapping[str, Path]
    numbers: Mapping[str, Path]
    maps: Mapping[str, Path]
    has_conditions: bool

    @property
    def prefix(self) -> str:
        """What the names of its metrics start with."""
        return f"kube_{self.kind.lower()}"

    @property
    def metrics(self) -> list[str]:
        """Names of its metrics."""
        conditions = ["status_condition"] if self.has_conditions else []
        return [f"{self.prefix}_{name}" for name in (*self.numbers, *self.maps, *conditions)]


CUSTOM_RESOURCES = (
    CustomResource(
        "leaderworkerset.x-k8s.io",
        "v1",
        "LeaderWorkerSet",
        "leaderworkersets",
        labels={
            "namespace": _NAMESPACE,
            "leader_worker_set": _NAME,
            "deployment": ("metadata", "labels", labels.DEPLOYMENT),
            "role": ("metadata", "labels", labels.ROLE),
        },
        numbers={
            "created": _CREATED,
            "spec_replicas": ("spec", "replicas"),
            "spec_size": ("spec", "leaderWorkerTemplate", "size"),
            "status_replicas": ("status", "replicas"),
            "status_ready_replicas": ("status", "readyReplicas"),
            "status_updated_replicas": ("status", "updatedReplicas"),
        },
        maps={},
        has_conditions=True,
    ),
    CustomResource(
        "disaggregatedset.x-k8s.io",
        "v1",
        "DisaggregatedSetRoleScaler",
        "disaggregatedsetrolescalers",
        labels={"namespace": _NAMESPACE, "role_scaler": _NAME},
        numbers={"spec_replicas": ("spec", "replicas"), "status_replicas": ("status", "replicas")},
        maps={},
        has_conditions=False,
    ),
    CustomResource(
        "karpenter.sh",
        "v1",
        "NodePool",
        "nodepools",
        labels={"nodepool": _NAME, "pool": ("metadata", "labels", labels.POOL)},
        numbers={},
        maps={"spec_limits": ("spec", "limits"), "status_resources": ("status", "resources")},
        has_conditions=True,
    ),
    CustomResource(
        "karpenter.sh",
        "v1",
        "NodeClaim",
        "nodeclaims",
        labels={"nodeclaim": _NAME, "nodepool": ("metadata", "labels", labels.NODE_POOL)},
        numbers={"created": _CREATED},
        maps={},
        has_conditions=True,
    ),
)
"""Every kind that alerts look at."""


def kube_prometheus_stack_values() -> dict[str, Any]:
    """Return the values of the chart kube-prometheus-stack that rules, monitors and dashboards of ours need."""
    return {
        "kube-state-metrics": {
            "metricLabelsAllowlist": [
                _allowed("pods", POD_LABELS),
                _allowed("nodes", NODE_LABELS),
                _allowed("deployments", DEPLOYMENT_LABELS),
            ],
            # The island that a worker waits for stands in its node selector only.
            "extraArgs": ["--metric-opt-in-list=kube_pod_nodeselectors"],
            "customResourceState": {"enabled": True, "config": custom_resource_state()},
            "rbac": {"extraRules": [_reads(resource) for resource in CUSTOM_RESOURCES]},
        },
        # By itself the chart's Prometheus reads only what carries the label of its own release.
        "prometheus": {
            "prometheusSpec": {
                f"{kind}SelectorNilUsesHelmValues": False for kind in ("serviceMonitor", "podMonitor", "rule", "probe")
            }
        },
    }


def add_on_values() -> dict[str, dict[str, Any]]:
    """Return what monitoring asks of add-ons, as values of their charts by the field that declares each."""
    return {
        "kube_prometheus_stack": kube_prometheus_stack_values(),
        # Else the exporter's own pod stands in place of the pod that has the GPU.
        "dcgm_exporter": {"serviceMonitor": {"enabled": True, "honorLabels": True}},
        "kuberay": {"metrics": {"serviceMonitor": {"enabled": True}}},
        "kueue": {"enablePrometheus": True},
        "lws": {"enablePrometheus": True},
    }


def custom_resource_state() -> dict[str, Any]:
    """Return the configuration of kube-state-metrics for :data:`CUSTOM_RESOURCES`."""
    resources = [_resource(resource) for resource in CUSTOM_RESOURCES]
    return {"kind": "CustomResourceStateMetrics", "spec": {"resources": resources}}


def _resource(resource: CustomResource) -> dict[str, Any]:
    metrics = [
        *(_gauge(name, path, nilIsZero=True) for name, path in resource.numbers.items()),
        *(_gauge(name, path, labelFromKey="resource") for name, path in resource.maps.items()),
    ]
    if resource.has_conditions:
        of_one = {"labelsFromPath": {"condition": ["type"]}, "valueFrom": ["status"]}
        metrics.append(_gauge("status_condition", _CONDITIONS, **of_one))
    return {
        "groupVersionKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "metricNamePrefix": resource.prefix,
        "labelsFromPath": {label: list(path) for label, path in resource.labels.items()},
        # What a controller has not written yet is no error.
        "errorLogV": 10,
        "metrics": metrics,
    }


def _gauge(name: str, path: Path, **more: Any) -> dict[str, Any]:
    meaning = f"The field {'.'.join(path)}."
    return {"name": name, "help": meaning, "each": {"type": "Gauge", "gauge": {"path": list(path), **more}}}


def _allowed(kind: str, keys: Iterable[str]) -> str:
    return f"{kind}=[{','.join(keys)}]"


def _reads(resource: CustomResource) -> dict[str, Sequence[str]]:
    return {"apiGroups": [resource.group], "resources": [resource.plural], "verbs": ["list", "watch"]}
