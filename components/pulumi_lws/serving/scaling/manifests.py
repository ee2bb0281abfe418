"""Autoscalers: rendered from what was declared, for each kind of object that has a scale.

Every target is an average for each copy. A plain ``Value`` would be multiplied by the copies that are ready just then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pulumi_lws.serving.engines.engine import RoleName
from pulumi_lws.serving.scaling.settings import Autoscaling

MeteredEngine = Literal["vllm", "sglang"]
"""An engine whose metrics are known."""

Load = Literal["waiting_requests", "kv_cache_usage"]
"""What an autoscaler looks at, as the field of its settings."""

METRICS: Mapping[MeteredEngine, Mapping[Load, str]] = {
    "vllm": {"waiting_requests": "vllm:num_requests_waiting", "kv_cache_usage": "vllm:kv_cache_usage_perc"},
    "sglang": {"waiting_requests": "sglang:num_queue_reqs", "kv_cache_usage": "sglang:token_usage"},
}
"""Gauges of each engine; each data rank reports its own."""


def served_name(metric: str) -> str:
    """Return the name under which the Prometheus adapter serves a metric, by the rules of ``adapter.py``.

    A HorizontalPodAutoscaler would take the colon, but that belongs to recording rules: adapters are configured to
    rename it, and so are ours.
    """
    return metric.replace(":", "_")


LOADS: Mapping[RoleName, tuple[Load, ...]] = {
    "serve": ("waiting_requests", "kv_cache_usage"),
    # A prompt is computed and gone: what piles up before prefill is requests, after it their caches in decode, where
    # the requests that wait are mostly waiting for a transfer.
    "prefill": ("waiting_requests",),
    "decode": ("kv_cache_usage",),
}
"""What tells the load of a role."""

_NEVER_REACHED = 1_000_000_000
"""A threshold of requests that is none."""

_LONGEST_WINDOW_SECONDS = 3600
"""Longest window that the API of HorizontalPodAutoscalers takes."""


@dataclass(frozen=True)
class Reporters:
    """The pods whose metrics are the load of one role.

    Attributes:
        engine: Engine that they run.
        pods: Regular expression that their names match as a whole; see ``leader_pods`` and its siblings.
        role: What the role does.
        data_ranks: Data ranks of one copy, each of which reports.
        data_ranks_per_pod: Data ranks of one serving pod.
    """

    engine: MeteredEngine
    pods: str
    role: RoleName = "serve"
    data_ranks: int = 1
    data_ranks_per_pod: int = 1


def deployment(name: str) -> dict[str, str]:
    """Return the scale target of a Deployment."""
    return {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}


def leader_pods(name: str) -> str:
    """Match the leaders of the LeaderWorkerSet ``name``."""
    return f"{name}-[0-9]+"


def group_pods(name: str) -> str:
    """Match all pods of the LeaderWorkerSet ``name``."""
    return f"{name}-[0-9]+(-[0-9]+)?"


def deployment_pods(name: str) -> str:
    """Match the pods of the Deployment ``name``."""
    return f"{name}-[a-z0-9]+-[a-z0-9]{{5}}"


def role_pods(name: str, role: str, *, leaders: bool) -> str:
    """Match the pods of one role of the DisaggregatedSet ``name``, of every slice and revision."""
    child = f"{name}-[0-9]+-[0-9a-f]+-{role}"
    return leader_pods(child) if leaders else group_pods(child)


def autoscaler(
    name: str,
    namespace: str,
    target: Mapping[str, str],
    settings: Autoscaling,
    *,
    reporters: Reporters,
    start_budget_minutes: int,
    requests: str | None = None,
) -> dict[str, Any]:
    """Render the ScaledObject or HorizontalPodAutoscaler of one role.

    Args:
        name: Name of the autoscaler.
        namespace: Namespace of the role.
        target: What is scaled: ``deployment(…)``, or one of ``workloads/scale_targets.py``.
        settings: What was declared.
        reporters: Whose metrics count.
        start_budget_minutes: Longest time until a new copy serves; copies stay as long by default.
        requests: Query of the requests without which all copies go; None where some stay.
    """
    kind = _KINDS[settings.kind]
    spec = kind.spec(settings, namespace, reporters, _behavior(settings, start_budget_minutes))
    if requests is not None:
        spec = _down_to_zero(spec, settings, requests, start_budget_minutes * 60)
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"scaleTargetRef": dict(target), **spec},
    }


def thresholds(settings: Autoscaling, role: RoleName) -> dict[Load, float]:
    """Return the thresholds that count for a role; empty where none of its own is set."""
    declared: dict[Load, float | None] = {
        "waiting_requests": settings.waiting_requests,
        "kv_cache_usage": settings.kv_cache_usage,
    }
    return {load: threshold for load in LOADS[role] if (threshold := declared[load]) is not None}


def query(load: Load, namespace: str, reporters: Reporters) -> str:
    """Return the PromQL for the load of all copies together, in units of one copy."""
    series = f'{METRICS[reporters.engine][load]}{{namespace="{namespace}",pod=~"{reporters.pods}"}}'
    total = f"sum({series})"
    if load == "kv_cache_usage" and reporters.data_ranks > 1:
        # Each rank reports a share of its own cache.
        total = f"{total} / {reporters.data_ranks}"
    # While every copy still loads there is no series; KEDA takes that as an error.
    return f"{total} or vector(0)"


def _scaled_object(
    settings: Autoscaling, namespace: str, reporters: Reporters, behavior: Mapping[str, Any]
) -> dict[str, Any]:
    triggers = [
        trigger(settings.prometheus, query(load, namespace, reporters), threshold)
        for load, threshold in thresholds(settings, reporters.role).items()
    ]
    return {
        "pollingInterval": 15,
        "minReplicaCount": settings.min_replicas,
        "maxReplicaCount": settings.max_replicas,
        # No fallback: while Prometheus does not answer, the autoscaler leaves the copies as they are.
        "advanced": {"horizontalPodAutoscalerConfig": {"behavior": behavior}},
        "triggers": triggers,
    }


def trigger(prometheus: str, query: str, threshold: float) -> dict[str, Any]:
    """Return the trigger of a ScaledObject: what a query finds, for each copy."""
    metadata = {
        "serverAddress": prometheus,
        "query": query,
        "threshold": f"{threshold:.3f}".rstrip("0").removesuffix("."),
    }
    return {"type": "prometheus", "metricType": "AverageValue", "metadata": metadata}


def _down_to_zero(spec: Mapping[str, Any], settings: Autoscaling, requests: str, idle_seconds: int) -> dict[str, Any]:
    """Let all copies go while no trigger finds anything, and ``minReplicas`` come back once one does.

    The requests only say whether there are any: their threshold is so high that they never add a copy. Where Prometheus
    does not know them that is an error, which leaves the copies as they are: they would never come back.
    """
    asked = trigger(settings.prometheus, requests, _NEVER_REACHED)
    asked["metadata"]["ignoreNullValues"] = "false"
    return {
        **spec,
        "idleReplicaCount": 0,
        # A copy that loads must not be taken for an idle one, also not the first after the ScaledObject was made.
        "cooldownPeriod": idle_seconds,
        "initialCooldownPeriod": idle_seconds,
        "triggers": [*spec["triggers"], asked],
    }


def _horizontal_pod_autoscaler(
    settings: Autoscaling, _namespace: str, reporters: Reporters, behavior: Mapping[str, Any]
) -> dict[str, Any]:
    # Metrics of pods, chosen by the selector of the scale: that of a LeaderWorkerSet selects leaders. The adapter sums
    # what the ranks of one pod report.
    summed: Mapping[Load, int] = {"waiting_requests": 1, "kv_cache_usage": reporters.data_ranks_per_pod}
    metrics = [
        {
            "type": "Pods",
            "pods": {
                "metric": {"name": served_name(METRICS[reporters.engine][load])},
                "target": {"type": "AverageValue", "averageValue": quantity(threshold * summed[load])},
            },
        }
        for load, threshold in thresholds(settings, reporters.role).items()
    ]
    return {
        "minReplicas": settings.min_replicas,
        "maxReplicas": settings.max_replicas,
        "metrics": metrics,
        "behavior": behavior,
    }


@dataclass(frozen=True)
class _Kind:
    api_version: str
    name: str
    spec: Callable[[Autoscaling, str, Reporters, Mapping[str, Any]], dict[str, Any]]


_KINDS: Mapping[Literal["keda", "hpa"], _Kind] = {
    "keda": _Kind("keda.sh/v1alpha1", "ScaledObject", _scaled_object),
    "hpa": _Kind("autoscaling/v2", "HorizontalPodAutoscaler", _horizontal_pod_autoscaler),
}


def quantity(number: float) -> str:
    """Write a number as the API server writes it back: whole, or in thousandths."""
    thousandths = round(number * 1000)
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"


def _behavior(settings: Autoscaling, start_budget_minutes: int) -> dict[str, Any]:
    minutes = start_budget_minutes if settings.stabilization_minutes is None else settings.stabilization_minutes
    return {
        "scaleUp": {"stabilizationWindowSeconds": 0, "policies": _one_each(settings.scale_up_seconds)},
        "scaleDown": {
            "stabilizationWindowSeconds": min(minutes * 60, _LONGEST_WINDOW_SECONDS),
            "policies": _one_each(settings.scale_down_seconds),
        },
    }


def _one_each(seconds: int) -> Sequence[Mapping[str, Any]]:
    """Return the policy that changes the number of copies by one in that time."""
    return [{"type": "Pods", "value": 1, "periodSeconds": seconds}]
