"""The routing sidecar of pods that decode: it has prefill compute the prompt, then hands the request to the engine.

Source: ``cmd/pd-sidecar`` and ``pkg/sidecar/proxy`` of llm-d-router 0.10.
"""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts.versions import PINS

CONTAINER = "routing-sidecar"
"""Name of the container."""

_CREDENTIALS_VOLUME = "kubernetes-api"
_CREDENTIALS_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where clients of the Kubernetes API look for their credentials."""


def default_image() -> str:
    """Return the image of the pin table."""
    pin = PINS["llm-d-sidecar"]
    return f"{pin.source}:{pin.version}"


def container(*, image: str, port: int, engine_port: int, pool: str | None = None) -> dict[str, Any]:
    """Render the sidecar: an init container that keeps running, so that it is up before the engine and outlives it.

    Kubernetes ends such containers after all others. So while the engine drains, running answers still pass through,
    and then the sidecar finishes what it has within 60 s or the rest of the pod's grace period.

    Args:
        image: Its image.
        port: Port on which the pod is reached.
        engine_port: Port of the engine.
        pool: Namespace and name of the InferencePool whose pods alone may compute prompts. Without one any address in
            the request's header is asked, so something in front must take that header away from clients.
    """
    arguments = [
        f"--port={port}",
        f"--model-server-port={engine_port}",
        "--kv-connector=nixlv2",
        # The default is TLS with a certificate that nobody could check.
        "--secure-proxy=false",
        # A prefill pod that goes away while a request is on its way to it answers 502 or 503.
        "--prefill-max-retries=2",
    ]
    if pool is not None:
        arguments += ["--enable-ssrf-protection=true", f"--inference-pool={pool}"]
    health = {"httpGet": {"path": "/health", "port": port}}
    rendered: dict[str, Any] = {
        "name": CONTAINER,
        "image": image,
        "args": arguments,
        "restartPolicy": "Always",
        "ports": [{"name": "routed", "containerPort": port}],
        # Requests equal limits, which keeps the pod Guaranteed.
        "resources": {kind: {"cpu": "1", "memory": "1Gi"} for kind in ("requests", "limits")},
        "securityContext": restricted(),
        # The engine starts once the sidecar listens. Its health says nothing of the engine, whose own probes do.
        "startupProbe": {**health, "periodSeconds": 1, "failureThreshold": 60},
        "readinessProbe": {**health, "periodSeconds": 5, "timeoutSeconds": 3},
    }
    if pool is not None:
        rendered["volumeMounts"] = [{"name": _CREDENTIALS_VOLUME, "mountPath": _CREDENTIALS_FOLDER, "readOnly": True}]
    return rendered


def credentials() -> dict[str, Any]:
    """Render the volume with the credentials of the pod's ServiceAccount, for a sidecar that watches a pool.

    It is mounted into the sidecar alone: the engine has no business with the Kubernetes API.
    """
    sources: list[Mapping[str, Any]] = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
    return {"name": _CREDENTIALS_VOLUME, "projected": {"sources": sources}}


def restricted() -> dict[str, Any]:
    """Return the security context of a container that needs nothing: no user of its own, no writing, no privileges."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        # The distroless images name their user; Kubernetes can only tell from a number that it is not root.
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
