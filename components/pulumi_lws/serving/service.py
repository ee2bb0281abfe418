"""The Service in front of the pods that serve."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts import labels


def service_name(owner: str) -> str:
    """Return the name of the Service of ``owner``, a LeaderWorkerSet, Deployment or role.

    It is never the owner's own: the headless Service of a LeaderWorkerSet has that one, and the peers' DNS with it.
    """
    return f"{owner}-api"


def service(owner: str, namespace: str, selector: Mapping[str, str], ports: Mapping[str, int]) -> dict[str, Any]:
    """Render the Service in front of the pods of ``owner`` that serve.

    Args:
        owner: Name of the LeaderWorkerSet, Deployment or role; the Service is called ``service_name(owner)``.
        namespace: Namespace of both.
        selector: Labels of the pods that serve: those of leaders only, or of all pods where each serves.
        ports: Ports by name, as the engine's behaviour has them; the first is the API's.
    """
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": service_name(owner),
            "namespace": namespace,
            # No endpoints is the normal state of a Service whose groups still load, or wait in a queue.
            "annotations": {labels.PULUMI_SKIP_AWAIT: "true"},
        },
        "spec": {
            "selector": dict(selector),
            "ports": [{"name": name, "port": port, "targetPort": port} for name, port in ports.items()],
        },
    }
