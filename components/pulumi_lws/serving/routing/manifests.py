"""The router of a disaggregated deployment: the llm-d endpoint picker, alone behind a Gateway or with an Envoy.

Both need to list the pods of their namespace and nothing else of the cluster. A router holds no GPU and tolerates no
GPU node.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.facts.api_paths import APIS, Api
from pulumi_lws.facts.versions import PINS
from pulumi_lws.serving.disruption import disruption_budget
from pulumi_lws.serving.routing import envoy, picker, sidecar
from pulumi_lws.serving.routing.pool import RoutedPool
from pulumi_lws.serving.routing.settings import GatewayRouter, Router, StandaloneRouter
from pulumi_lws.serving.service import service

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""

INFERENCE_GROUP = "inference.networking.k8s.io"
"""API group of the InferencePool."""

_RBAC = "rbac.authorization.k8s.io/v1"
_EXIT_SECONDS = 30


def router_name(deployment: str) -> str:
    """Return the name of a deployment's router and of what belongs to it."""
    return f"{deployment}-router"


def router_labels(deployment: str) -> dict[str, str]:
    """Return the labels of the router's pods."""
    return {labels.ROUTER: router_name(deployment)}


def default_image() -> str:
    """Return the image of the pin table."""
    pin = PINS["llm-d-router"]
    return f"{pin.source}:{pin.version}"


def router_ports(router: Router, port: int) -> tuple[int, ...]:
    """Return the ports of the router's pods that clients, or the Gateway, reach.

    Args:
        router: The router.
        port: Port of the API.
    """
    return (port,) if router.kind == "standalone" else (picker.EXTERNAL_PROCESSING_PORT,)


def metrics_ports(router: Router) -> tuple[int, ...]:
    """Return the ports of the router's pods that Prometheus reads."""
    return (picker.METRICS_PORT, *((envoy.STATUS_PORT,) if router.kind == "standalone" else ()))


def router_objects(router: Router, pool: RoutedPool, port: int, image: str | None = None) -> dict[str, Manifest]:
    """Render the router, by the suffix of each object's Pulumi name.

    Args:
        router: What was declared of it.
        pool: The pods that it chooses from.
        port: Port of the API.
        image: Image of the endpoint picker. Default: the one of the pin table.
    """
    match router:
        case StandaloneRouter():
            return _standalone(router, pool, port, image or default_image())
        case GatewayRouter():
            return _behind_gateway(router, pool, image or default_image())


def api_match(api: Api, prefix: str = "") -> Manifest:
    """Return what an HTTPRoute matches of an API: the whole path and its method, and nothing below it."""
    return {"path": {"type": "Exact", "value": f"{prefix}{api.path}"}, "method": api.method}


def sidecar_rights(name: str, namespace: str, account: str, *, is_ours: bool) -> dict[str, Manifest]:
    """Render what the sidecars of decode need to know the pods of the pool, by the suffix of each Pulumi name.

    Args:
        name: Name of their workload, and of the rights.
        namespace: Namespace of both.
        account: ServiceAccount of their pods.
        is_ours: Whether it is to be made; else the user's own gets the rights as well.
    """
    metadata = {"name": name, "namespace": namespace}
    rules = [_reads("", "pods"), _reads(INFERENCE_GROUP, "inferencepools")]
    made: Manifest = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**metadata, "name": account}}
    return {
        **({"sidecar-account": made} if is_ours else {}),
        "sidecar-rights": {"apiVersion": _RBAC, "kind": "Role", "metadata": metadata, "rules": rules},
        "sidecar-binding": _binding(name, namespace, account),
    }


def _standalone(router: StandaloneRouter, pool: RoutedPool, port: int, image: str) -> dict[str, Manifest]:
    bootstrap = _bootstrap(port, _opened(router))
    files = {picker.CONFIGURATION: _text(picker.configuration(pool)), envoy.BOOTSTRAP: bootstrap}
    arguments = picker.arguments(pool, has_inference_pool=False, beside_proxy=True)
    containers = [
        envoy.container(envoy.default_image(), port, drain_seconds=pool.drain_seconds),
        picker.container(image, arguments, drain_seconds=pool.drain_seconds),
    ]
    return {
        **_common(pool, router.replicas, files, containers, rules=[]),
        # The key that the address of every kind of deployment has: a change of kind updates it in place.
        "api": service(pool.name, pool.namespace, router_labels(pool.name), {"http": port}),
    }


def _behind_gateway(router: GatewayRouter, pool: RoutedPool, image: str) -> dict[str, Manifest]:
    files = {picker.CONFIGURATION: _text(picker.configuration(pool))}
    arguments = picker.arguments(pool, has_inference_pool=True, beside_proxy=False)
    containers = [picker.container(image, arguments, drain_seconds=pool.drain_seconds)]
    # The picker watches its objectives and rewrites wherever their definitions are installed, and waits for them.
    optional = [
        _reads(group, "inferenceobjectives", "inferencemodelrewrites")
        for group in ("llm-d.ai", "inference.networking.x-k8s.io")
    ]
    rules = [_reads(INFERENCE_GROUP, "inferencepools"), *optional]
    return {
        **_common(pool, router.replicas, files, containers, rules),
        "router-picker": _picker_service(pool),
        "inference-pool": _inference_pool(pool),
        **({"route": _route(router, pool)} if router.gateway else {}),
    }


def _common(
    pool: RoutedPool,
    replicas: int,
    files: Mapping[str, str],
    containers: Sequence[Manifest],
    rules: Sequence[Manifest],
) -> dict[str, Manifest]:
    """Render what every router has: its configuration, its rights and its pods."""
    configuration, name = _config_map(pool, files), router_name(pool.name)
    objects = {
        "router-account": _object(pool, "v1", "ServiceAccount"),
        "router-rights": _object(pool, _RBAC, "Role", rules=[_reads("", "pods"), *rules]),
        "router-binding": _binding(name, pool.namespace, account=name),
        "router-configuration": configuration,
        "router": _deployment(pool, replicas, containers, configuration["metadata"]["name"]),
    }
    if replicas > 1:
        # A budget for a single router would only hold up the drain of its node.
        objects["router-budget"] = disruption_budget(name, pool.namespace, router_labels(pool.name))
    return objects


def _text(content: Mapping[str, Any]) -> str:
    """Write a configuration: JSON is YAML too, and ten times as fast to write."""
    return json.dumps(content, indent=2)


def _opened(router: Router) -> tuple[Api, ...]:
    """Return what clients may ask for."""
    return tuple(APIS[name] for name in dict.fromkeys(router.apis))


@cache
def _bootstrap(port: int, apis: tuple[Api, ...]) -> str:
    """Write Envoy's configuration, the same for many deployments and long to write."""
    return _text(envoy.bootstrap(port, apis))


def _config_map(pool: RoutedPool, data: Mapping[str, str]) -> Manifest:
    """Render the configuration. Its name follows from its content, so that a change of it makes new routers."""
    digest = hashlib.sha256("".join(data.values()).encode()).hexdigest()[:8]
    metadata = {"name": f"{router_name(pool.name)}-{digest}", "namespace": pool.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}


def _deployment(pool: RoutedPool, replicas: int, containers: Sequence[Manifest], configuration: str) -> Manifest:
    """Render the pods. A new router starts beside the old one, which finishes its requests: they share no state."""
    selector = router_labels(pool.name)
    pod = {
        "serviceAccountName": router_name(pool.name),
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": pool.drain_seconds + _EXIT_SECONDS,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "affinity": {"nodeAffinity": _off_gpu_nodes()},
        "containers": [{**container, "securityContext": sidecar.restricted()} for container in containers],
        "volumes": [{"name": "configuration", "configMap": {"name": configuration}}],
    }
    if replicas > 1:
        pod["topologySpreadConstraints"] = [
            {
                "topologyKey": key,
                "maxSkew": 1,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": selector},
            }
            for key in (labels.ZONE, labels.HOSTNAME)
        ]
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": selector},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
        "template": {"metadata": {"labels": selector}, "spec": pod},
    }
    return _object(pool, "apps/v1", "Deployment", spec=spec)


def _off_gpu_nodes() -> Manifest:
    """Keep off the nodes of pools, also where those lack the taint that keeps everything off."""
    term = {"matchExpressions": [{"key": labels.POOL, "operator": "DoesNotExist"}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}


def _picker_service(pool: RoutedPool) -> Manifest:
    number = picker.EXTERNAL_PROCESSING_PORT
    # Istio reads the protocol from the name.
    port = {"name": "grpc-ext-proc", "port": number, "targetPort": number}
    spec = {"selector": router_labels(pool.name), "ports": [port]}
    return _object(pool, "v1", "Service", spec=spec)


def _inference_pool(pool: RoutedPool) -> Manifest:
    spec = {
        "selector": {"matchLabels": dict(pool.selector)},
        "targetPorts": [{"number": pool.port}],
        "endpointPickerRef": {
            "kind": "Service",
            "name": router_name(pool.name),
            "port": {"number": picker.EXTERNAL_PROCESSING_PORT},
            # Without the picker nobody knows which pods fit together.
            "failureMode": "FailClose",
        },
    }
    return _object(pool, f"{INFERENCE_GROUP}/v1", "InferencePool", name=pool.name, spec=spec)


def _route(router: GatewayRouter, pool: RoutedPool) -> Manifest:
    gateway = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": router.gateway}
    if router.gateway_namespace is not None:
        gateway["namespace"] = router.gateway_namespace
    backend = {"group": INFERENCE_GROUP, "kind": "InferencePool", "name": pool.name}
    rule = {
        "matches": [api_match(api) for api in _opened(router)],
        "backendRefs": [backend],
        # An answer may take as long as it likes.
        "timeouts": {"request": "0s", "backendRequest": "0s"},
    }
    hostnames = {"hostnames": list(router.hostnames)} if router.hostnames else {}
    spec = {"parentRefs": [gateway], **hostnames, "rules": [rule]}
    return _object(pool, "gateway.networking.k8s.io/v1", "HTTPRoute", name=pool.name, spec=spec)


def _reads(group: str, *resources: str) -> Manifest:
    return {"apiGroups": [group], "resources": list(resources), "verbs": ["get", "list", "watch"]}


def _binding(name: str, namespace: str, account: str) -> Manifest:
    """Bind the Role of that name to a ServiceAccount."""
    return {
        "apiVersion": _RBAC,
        "kind": "RoleBinding",
        "metadata": {"name": name, "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }


def _object(pool: RoutedPool, version: str, kind: str, name: str | None = None, **fields: Any) -> Manifest:
    metadata = {"name": name or router_name(pool.name), "namespace": pool.namespace}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}
