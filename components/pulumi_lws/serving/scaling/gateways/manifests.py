"""Autoscalers of gateways: quick to add, slow to take away, since a gateway that goes cuts long answers."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.scaling.gateways.settings import GatewayAutoscaling
from pulumi_lws.serving.scaling.manifests import LOADS, METRICS, MeteredEngine, deployment, quantity, trigger


def waiting_series(roles: Iterable[Role]) -> list[str]:
    """Return the PromQL selectors of the requests that wait for models: one for each engine and namespace.

    Requests that wait before decode are mostly waiting for a transfer, so they do not count.
    """
    pods: defaultdict[tuple[MeteredEngine, str], list[str]] = defaultdict(list)
    for role in roles:
        if role.engine_kind != "custom" and "waiting_requests" in LOADS[role.name]:
            pods[role.engine_kind, role.namespace].append(role.reporting_pods)
    return [
        f'{METRICS[engine]["waiting_requests"]}{{namespace="{namespace}",pod=~"{"|".join(patterns)}"}}'
        for (engine, namespace), patterns in pods.items()
    ]


def waiting_query(roles: Iterable[Role]) -> str:
    """Return the PromQL of all requests that wait for models. A model without copies counts as none."""
    return " + ".join(f"(sum({series}) or vector(0))" for series in waiting_series(roles))


def external_metric(settings: GatewayAutoscaling) -> str:
    """Return the name under which the Prometheus adapter serves the load of a gateway of kind ``hpa``."""
    return f"waiting-requests.{settings.namespace}.{settings.deployment}"


def gateway_autoscaler(settings: GatewayAutoscaling, roles: Iterable[Role]) -> dict[str, Any]:
    """Render the ScaledObject or HorizontalPodAutoscaler of a gateway; it has the gateway's name.

    Args:
        settings: What was declared.
        roles: The roles of the models behind the gateway.
    """
    metadata = {"name": settings.deployment, "namespace": settings.namespace}
    target = {"scaleTargetRef": deployment(settings.deployment)}
    if settings.kind == "hpa":
        spec = {**target, **_horizontal(settings)}
        return {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": metadata,
            "spec": spec,
        }
    query = settings.query or waiting_query(roles)
    spec = {
        **target,
        "pollingInterval": 15,
        "minReplicaCount": settings.min_replicas,
        "maxReplicaCount": settings.max_replicas,
        "advanced": {"horizontalPodAutoscalerConfig": {"behavior": _behavior(settings)}},
        "triggers": [trigger(settings.prometheus, query, settings.waiting_requests)],
    }
    return {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": metadata, "spec": spec}


def envoy_hpa(settings: GatewayAutoscaling) -> dict[str, Any]:
    """Render ``spec.provider.kubernetes.envoyHpa`` of an EnvoyProxy.

    Envoy Gateway makes the Deployment of its proxies itself, and takes back what an autoscaler beside it sets.
    """
    return _horizontal(settings)


def _horizontal(settings: GatewayAutoscaling) -> dict[str, Any]:
    target = {"type": "AverageValue", "averageValue": quantity(settings.waiting_requests)}
    return {
        "minReplicas": settings.min_replicas,
        "maxReplicas": settings.max_replicas,
        "metrics": [
            {"type": "External", "external": {"metric": {"name": external_metric(settings)}, "target": target}}
        ],
        "behavior": _behavior(settings),
    }


def _behavior(settings: GatewayAutoscaling) -> Mapping[str, Any]:
    # What is not said of scaling up is Kubernetes' own default: at once, to twice as many or four more in 15 s.
    policy = {
        "type": "Percent",
        "value": settings.scale_down_percent,
        "periodSeconds": settings.scale_down_seconds,
    }
    return {
        "scaleDown": {"stabilizationWindowSeconds": settings.stabilization_seconds, "policies": [policy]},
    }
