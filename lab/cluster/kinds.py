"""The kinds of other projects that the lab knows: what a stand-in needs, and the status their controllers write.

No controller of these kinds runs in a lab unless its program is given. Where something waits for a status, the lab
writes what the controller would write of an object that fares well. That lets programs go on; it proves nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

TIME = "lastTransitionTime"
"""Field of a condition; its value is the writer's to fill in."""

Object = Mapping[str, Any]
Status = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of custom resource.

    Attributes:
        group: API group.
        version: The version that we write.
        kind: Name in ``kind:``.
        plural: Name in URLs.
        component: Project that it belongs to, as the folders in ``LWS_LAB_CRDS`` call it.
        status: The status that its controller would write, without times; None where nothing waits for one.
        namespaced: Whether objects live in a namespace.
        replicas_selector: Path of the label selector in the status for the scale subresource; empty without one.
    """

    group: str
    version: str
    kind: str
    plural: str
    component: str
    status: Callable[[Object], Status] | None = None
    namespaced: bool = True
    replicas_selector: str = ""

    @property
    def name(self) -> str:
        """Name of the CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"


def _condition(subject: Object, kind: str, reason: str, message: str = "", *, holds: bool = True) -> Status:
    return {
        "type": kind,
        "status": str(holds),
        "reason": reason,
        "message": message,
        "observedGeneration": subject["metadata"]["generation"],
        TIME: None,
    }


def _leader_worker_set(subject: Object) -> Status:
    replicas = subject["spec"].get("replicas", 1)
    conditions = [
        _condition(subject, "Available", "AllGroupsReady", "All replicas are ready"),
        _condition(subject, "Progressing", "AllGroupsReady", holds=False),
        _condition(subject, "UpdateInProgress", "AllGroupsReady", holds=False),
    ]
    for condition in conditions:
        # LeaderWorkerSet counts generations once, beside its conditions.
        del condition["observedGeneration"]
    return {
        "conditions": conditions,
        "hpaPodSelector": (
            f"leaderworkerset.sigs.k8s.io/name={subject['metadata']['name']},leaderworkerset.sigs.k8s.io/worker-index=0"
        ),
        "observedGeneration": subject["metadata"]["generation"],
        "readyReplicas": replicas,
        "replicas": replicas,
        "updatedReplicas": replicas,
    }


def _with(*conditions: tuple[str, str]) -> Callable[[Object], Status]:
    """Status of nothing but these conditions (type, reason), all true."""
    return lambda subject: {"conditions": [_condition(subject, *condition) for condition in conditions]}


def _http_route(subject: Object) -> Status:
    parents = subject["spec"].get("parentRefs", [])
    conditions = _with(("Accepted", "Accepted"), ("ResolvedRefs", "ResolvedRefs"))(subject)
    return {
        "parents": [
            {"parentRef": parent, "controllerName": "pulumi-lws.lab/stand-in", **conditions} for parent in parents
        ]
    }


def _scaled_object(subject: Object) -> Status:
    # KEDA's conditions have neither a generation nor a time.
    return {
        "conditions": [
            {"type": "Ready", "status": "True", "reason": "ScaledObjectReady", "message": ""},
            {"type": "Active", "status": "False", "reason": "ScalerNotActive", "message": ""},
        ],
        "hpaName": f"keda-hpa-{subject['metadata']['name']}",
    }


def _ray_cluster(subject: Object) -> Status:
    return {"state": "ready", "observedGeneration": subject["metadata"]["generation"]}


def _ray_service(subject: Object) -> Status:
    conditions = [
        _condition(subject, "Ready", "NonZeroServeEndpoints"),
        _condition(subject, "UpgradeInProgress", "NoPendingCluster", holds=False),
    ]
    return {"conditions": conditions, "observedGeneration": subject["metadata"]["generation"]}


_queue = _with(("Active", "Ready"))
_node_class = _with(("Ready", "Ready"))

_KUEUE = ("kueue.x-k8s.io", "v1beta2")
_GATEWAY = ("gateway.networking.k8s.io", "v1")
_ENVOY = ("gateway.envoyproxy.io", "v1alpha1")
_PROMETHEUS = ("monitoring.coreos.com", "v1")

KINDS: tuple[Kind, ...] = (
    Kind(
        "leaderworkerset.x-k8s.io",
        "v1",
        "LeaderWorkerSet",
        "leaderworkersets",
        "lws",
        _leader_worker_set,
        replicas_selector=".status.hpaPodSelector",
    ),
    # The controller of LWS 0.10 never writes a status of a DisaggregatedSet.
    Kind("disaggregatedset.x-k8s.io", "v1", "DisaggregatedSet", "disaggregatedsets", "lws"),
    Kind(
        "disaggregatedset.x-k8s.io",
        "v1",
        "DisaggregatedSetRoleScaler",
        "disaggregatedsetrolescalers",
        "lws",
        replicas_selector=".status.selector",
    ),
    Kind("karpenter.sh", "v1", "NodePool", "nodepools", "karpenter", _node_class, namespaced=False),
    Kind("karpenter.sh", "v1", "NodeClaim", "nodeclaims", "karpenter", namespaced=False),
    Kind("karpenter.sh", "v1alpha1", "NodeOverlay", "nodeoverlays", "karpenter", namespaced=False),
    Kind("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses", "karpenter", _node_class, namespaced=False),
    Kind("eks.amazonaws.com", "v1", "NodeClass", "nodeclasses", "eks", _node_class, namespaced=False),
    Kind("karpenter.kwok.sh", "v1alpha1", "KWOKNodeClass", "kwoknodeclasses", "karpenter-kwok", _node_class, False),
    Kind(*_KUEUE, "ClusterQueue", "clusterqueues", "kueue", _queue, namespaced=False),
    Kind(*_KUEUE, "LocalQueue", "localqueues", "kueue", _queue),
    Kind(*_KUEUE, "AdmissionCheck", "admissionchecks", "kueue", _queue, namespaced=False),
    Kind(*_KUEUE, "Cohort", "cohorts", "kueue", namespaced=False),
    Kind(*_KUEUE, "ResourceFlavor", "resourceflavors", "kueue", namespaced=False),
    Kind(*_KUEUE, "Topology", "topologies", "kueue", namespaced=False),
    Kind(*_KUEUE, "WorkloadPriorityClass", "workloadpriorityclasses", "kueue", namespaced=False),
    Kind(*_GATEWAY, "GatewayClass", "gatewayclasses", "gateway-api", _with(("Accepted", "Accepted")), namespaced=False),
    Kind(
        *_GATEWAY,
        "Gateway",
        "gateways",
        "gateway-api",
        _with(("Accepted", "Accepted"), ("Programmed", "Programmed")),
    ),
    Kind(*_GATEWAY, "HTTPRoute", "httproutes", "gateway-api", _http_route),
    Kind("inference.networking.k8s.io", "v1", "InferencePool", "inferencepools", "inference-extension"),
    Kind(*_ENVOY, "BackendTrafficPolicy", "backendtrafficpolicies", "envoy-gateway"),
    Kind(*_ENVOY, "ClientTrafficPolicy", "clienttrafficpolicies", "envoy-gateway"),
    Kind(*_ENVOY, "EnvoyProxy", "envoyproxies", "envoy-gateway"),
    Kind(*_ENVOY, "SecurityPolicy", "securitypolicies", "envoy-gateway"),
    Kind("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects", "keda", _scaled_object),
    Kind("keda.sh", "v1alpha1", "TriggerAuthentication", "triggerauthentications", "keda"),
    Kind(*_PROMETHEUS, "PodMonitor", "podmonitors", "prometheus-operator"),
    Kind(*_PROMETHEUS, "ServiceMonitor", "servicemonitors", "prometheus-operator"),
    Kind(*_PROMETHEUS, "PrometheusRule", "prometheusrules", "prometheus-operator"),
    Kind("ray.io", "v1", "RayCluster", "rayclusters", "kuberay", _ray_cluster),
    Kind("ray.io", "v1", "RayService", "rayservices", "kuberay", _ray_service),
)


def with_status_writer(real_controllers: frozenset[str]) -> tuple[Kind, ...]:
    """Kinds whose status the lab writes.

    Args:
        real_controllers: Components whose own controller runs; their kinds are left to it.
    """
    return tuple(kind for kind in KINDS if kind.status and kind.component not in real_controllers)
