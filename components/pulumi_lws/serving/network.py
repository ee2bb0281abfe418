"""Who may open connections to the pods of a deployment.

Traffic between ranks has neither encryption nor a password, and some of it is unpickled, so only the deployment's own
pods may reach those ports. Nothing is said about what pods may reach: they need DNS, the hub or S3.
Probes of the kubelet come from the pod's own node, which no NetworkPolicy keeps out.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.settings import Client, NetworkAccess


def network_policy(
    name: str,
    namespace: str,
    selector: Mapping[str, str],
    access: NetworkAccess,
    ports: Iterable[int],
    *,
    peers: Iterable[Mapping[str, str]] = (),
    routers: Iterable[Mapping[str, str]] = (),
    metrics_ports: Iterable[int] | None = None,
) -> dict[str, Any]:
    """Render the NetworkPolicy of one role.

    Args:
        name: Name of the policy.
        namespace: Namespace of the deployment.
        selector: Labels of all pods of the role, leaders and workers.
        access: Who may send requests and read metrics.
        ports: Ports of the API.
        peers: Labels of pods of the namespace that reach every port beside the role's own: the other role.
        routers: Labels of pods of the namespace that send requests and read metrics: the router.
        metrics_ports: Ports of the metrics. Default: those of the API.
    """
    api = _ports(ports)
    metrics = api if metrics_ports is None else _ports(metrics_ports)
    own = [_pods(chosen) for chosen in (selector, *peers)]
    # Without peers a rule would let everybody in.
    callers = [*map(peer, access.clients), *map(_pods, routers)]
    readers = [*map(peer, access.monitoring), *map(_pods, routers)]
    allowed = [(own, []), (callers, api), (readers, metrics)]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "podSelector": {"matchLabels": dict(selector)},
            "policyTypes": ["Ingress"],
            # NCCL, Gloo and ZeroMQ choose their ports themselves: between the pods of a deployment all are open.
            "ingress": [{"from": peers} | ({"ports": ports} if ports else {}) for peers, ports in allowed if peers],
        },
    }


def network_problems(access: NetworkAccess | None, host_network: str | None) -> list[Problem]:
    """Return what a NetworkPolicy cannot do for the deployment; paths start at its settings."""
    if access is None or host_network is None:
        return []
    return [
        Problem(
            "network",
            f"a NetworkPolicy for pods on their node's interface {host_network}",
            "null with hostNetwork: a NetworkPolicy does not hold for the network of a node",
            "Set network to null, and let the security group of the nodes say who reaches them.",
            Severity.WARNING,
        )
    ]


def _ports(numbers: Iterable[int]) -> list[dict[str, Any]]:
    return [{"protocol": "TCP", "port": number} for number in sorted(set(numbers))]


def _pods(chosen: Mapping[str, str]) -> dict[str, Any]:
    return {"podSelector": {"matchLabels": dict(chosen)} if chosen else {}}


def peer(client: Client) -> dict[str, Any]:
    """Return a client as a NetworkPolicy names it."""
    if client.namespace is None:
        return _pods(client.pod_labels)
    namespace = {"namespaceSelector": {"matchLabels": {labels.NAMESPACE_NAME: client.namespace}}}
    return namespace | (_pods(client.pod_labels) if client.pod_labels else {})
