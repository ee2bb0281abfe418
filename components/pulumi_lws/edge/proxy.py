"""The proxies of a gateway: their pods, the Service in front of them, and what they write about requests.

Source: the API of Envoy Gateway 1.9 and of the AWS load balancer controller.
"""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.edge.backends import proxy_labels
from pulumi_lws.edge.settings import InferenceGatewayArgs, LoadBalancer
from pulumi_lws.facts import labels
from pulumi_lws.nodes.cluster import Mode

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""

GATEWAY_GROUP = "gateway.networking.k8s.io"
ENVOY_GROUP = "gateway.envoyproxy.io"

CLIENT_HEADER = "x-gateway-client"
"""Header in which the gateway tells who a client is; one that a client sends is taken away."""

_LOAD_BALANCER_CLASSES: Mapping[Mode | None, str] = {
    "auto": "eks.amazonaws.com/nlb",
    "karpenter": "service.k8s.aws/nlb",
}
"""Who makes the load balancer: EKS Auto Mode itself, or the AWS load balancer controller."""

_IDLE_SECONDS = (60, 6000)
"""What a network load balancer takes as its idle time-out."""

_LONGEST_DEREGISTRATION = 3600

_LOG: Mapping[str, str] = {
    "time": "%START_TIME%",
    "client": f"%REQ({CLIENT_HEADER})%",
    "address": "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
    "host": "%REQ(:AUTHORITY)%",
    "method": "%REQ(:METHOD)%",
    "path": "%REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH)%",
    "route": "%ROUTE_NAME%",
    "upstream": "%UPSTREAM_HOST%",
    "status": "%RESPONSE_CODE%",
    "flags": "%RESPONSE_FLAGS%",
    "reason": "%RESPONSE_CODE_DETAILS%",
    "attempts": "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
    "bytes_received": "%BYTES_RECEIVED%",
    "bytes_sent": "%BYTES_SENT%",
    "milliseconds": "%DURATION%",
    "milliseconds_to_first_byte": "%RESPONSE_DURATION%",
    "request": "%REQ(X-REQUEST-ID)%",
}
"""What is written of each request. Bodies cannot be written, and neither queries nor keys are."""


def class_name(args: InferenceGatewayArgs) -> str:
    """Return the name of the gateway's class, which belongs to the whole cluster."""
    return f"{args.namespace}-{args.name}"


def gateway_class(args: InferenceGatewayArgs) -> Manifest:
    """Render the class of the gateway, a name for Envoy Gateway's controller."""
    return {
        "apiVersion": f"{GATEWAY_GROUP}/v1",
        "kind": "GatewayClass",
        "metadata": {"name": class_name(args), "annotations": {labels.PULUMI_WAIT_FOR: "condition=Accepted"}},
        "spec": {"controllerName": f"{ENVOY_GROUP}/gatewayclass-controller"},
    }


def envoy_proxy(args: InferenceGatewayArgs) -> Manifest:
    """Render what the proxies are like."""
    proxies = args.proxies
    kubernetes = {"envoyDeployment": _deployment(args), "envoyService": _service(args)}
    if proxies.replicas > 1:
        kubernetes["envoyPDB"] = {"maxUnavailable": 1}
    return {
        "apiVersion": f"{ENVOY_GROUP}/v1alpha1",
        "kind": "EnvoyProxy",
        "metadata": {"name": args.name, "namespace": args.namespace},
        "spec": {
            "provider": {"type": "Kubernetes", "kubernetes": kubernetes},
            # A thread for each CPU of the node would be 192 of them.
            "concurrency": 2,
            # Load balancers and other nodes take a while to forget a pod.
            "shutdown": {"drainTimeout": f"{proxies.drain_seconds}s", "minDrainDuration": "30s"},
            "telemetry": {"accessLog": {"settings": [_access_log()]}},
        },
    }


def _access_log() -> Manifest:
    sink = {"type": "File", "file": {"path": "/dev/stdout"}}
    return {"format": {"type": "JSON", "json": dict(_LOG)}, "sinks": [sink]}


def _deployment(args: InferenceGatewayArgs) -> Manifest:
    off_gpu_nodes = {"matchExpressions": [{"key": labels.POOL, "operator": "DoesNotExist"}]}
    node_affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [off_gpu_nodes]}}
    spread = [
        {
            "topologyKey": key,
            "maxSkew": 1,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": proxy_labels(args.name, args.namespace)},
        }
        for key in (labels.ZONE, labels.HOSTNAME)
    ]
    return {
        "replicas": args.proxies.replicas,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
        "pod": {"affinity": {"nodeAffinity": node_affinity}, "topologySpreadConstraints": spread},
        # Held bodies are what takes memory.
        "container": {"resources": {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "2Gi"}}},
    }


def _service(args: InferenceGatewayArgs) -> Manifest:
    exposure = args.exposure
    if not isinstance(exposure, LoadBalancer):
        return {"type": "ClusterIP"}
    least, most = _IDLE_SECONDS
    idle = min(max(args.timeouts.idle_seconds, least), most)
    leaving = min(args.proxies.drain_seconds, _LONGEST_DEREGISTRATION)
    said = {
        "type": "external",
        "scheme": "internal" if exposure.internal else "internet-facing",
        "nlb-target-type": "ip",
        f"listener-attributes.TCP-{port(args)}": f"tcp.idle_timeout.seconds={idle}",
        "target-group-attributes": f"deregistration_delay.timeout_seconds={leaving},preserve_client_ip.enabled=true",
    }
    service: Manifest = {
        "type": "LoadBalancer",
        "annotations": {f"{labels.LOAD_BALANCER_PREFIX}{key}": value for key, value in said.items()},
    }
    if chosen := _LOAD_BALANCER_CLASSES.get(args.mode):
        service["loadBalancerClass"] = chosen
    if exposure.source_ranges:
        service["loadBalancerSourceRanges"] = list(exposure.source_ranges)
    return service


def port(args: InferenceGatewayArgs) -> int:
    """Return the port that clients open."""
    return 80 if args.tls.kind == "none" else 443
