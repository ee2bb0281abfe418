"""What passes the network of a team: nothing by default, and openings for what its deployments need.

Policies add up, so an opening for the whole namespace would undo what a deployment's own policy closes. What comes in
is therefore opened for each deployment by itself (``serving/network.py``), and here only for pods of none.
EFA traffic passes no NetworkPolicy: the security group of the nodes guards it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.serving.network import peer
from pulumi_lws.serving.routing.manifests import router_name
from pulumi_lws.serving.routing.settings import GatewayRouter
from pulumi_lws.serving.settings import Client, DeploymentArgs, DisaggregatedVllmArgs
from pulumi_lws.serving.sources.loading import is_in_image
from pulumi_lws.serving.sources.settings import HuggingFaceSource, S3Source
from pulumi_lws.tenancy.settings import Destination, TeamNetwork

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""

_HTTPS = 443
_API_SERVER_PORTS = (_HTTPS, 6443)
"""Ports of the Kubernetes API: a policy is held against the address behind the Service, on EKS with the same port."""

_POD_IDENTITY_AGENT = "169.254.170.23/32"
"""Where pods get their AWS credentials on EKS (IPv4).
https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html"""


def policies(namespace: str, network: TeamNetwork, deployments: Sequence[DeploymentArgs]) -> dict[str, Manifest]:
    """Render the NetworkPolicies of a team, by the suffix of each Pulumi name.

    Args:
        namespace: Namespace of the team.
        network: What was declared.
        deployments: Its deployments.
    """
    found = {"closed": _policy(namespace, "closed", {}, ingress=[], egress=[])}
    everywhere = [
        # To any address: with EKS Auto Mode the node itself answers, with NodeLocal DNSCache a link-local address.
        {"ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]},
        {"to": [peer(Client())]},
        *map(_to, network.destinations),
    ]
    found["outward"] = _policy(namespace, "outward", {}, egress=everywhere)
    if selected := _selecting(deployments, _downloads):
        to = [{"ipBlock": {"cidr": cidr}} for cidr in network.https_to]
        rule = ({"to": to} if to else {}) | {"ports": _tcp(_HTTPS)}
        found["weights"] = _policy(namespace, "weights", selected, egress=[rule])
    if selected := _selecting(deployments, lambda args: isinstance(args.source, S3Source)):
        rule = {"to": [{"ipBlock": {"cidr": _POD_IDENTITY_AGENT}}], "ports": _tcp(80)}
        found["credentials"] = _policy(namespace, "credentials", selected, egress=[rule])
    for name, selector in _watching(deployments):
        rule = {"ports": _tcp(*_API_SERVER_PORTS)}
        found[name] = _policy(namespace, name, {"matchLabels": selector}, egress=[rule])
    if network.clients:
        others = [{"key": key, "operator": "DoesNotExist"} for key in (labels.DEPLOYMENT, labels.ROUTER)]
        rule = {"from": [peer(client) for client in network.clients]}
        found["clients"] = _policy(namespace, "clients", {"matchExpressions": others}, ingress=[rule])
    return found


def _selecting(deployments: Sequence[DeploymentArgs], which: Callable[[DeploymentArgs], bool]) -> Manifest | None:
    """Select the pods of some deployments; None where there are none."""
    names = sorted(args.name for args in deployments if which(args))
    return {"matchExpressions": [{"key": labels.DEPLOYMENT, "operator": "In", "values": names}]} if names else None


def _downloads(args: DeploymentArgs) -> bool:
    is_hub = isinstance(args.source, HuggingFaceSource) and not is_in_image(args.source, args.model)
    return is_hub or isinstance(args.source, S3Source)


def _watching(deployments: Sequence[DeploymentArgs]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield who asks the Kubernetes API: routers, and sidecars of decode that must know the pods of a pool."""
    for args in deployments:
        if not isinstance(args, DisaggregatedVllmArgs) or args.router is None:
            continue
        yield f"{args.name}-router-api", {labels.ROUTER: router_name(args.name)}
        if isinstance(args.router, GatewayRouter):
            yield f"{args.name}-decode-api", {labels.DEPLOYMENT: args.name, labels.ROLE: "decode"}


def _to(destination: Destination) -> Manifest:
    if destination.cidr is not None:
        place: Manifest = {"ipBlock": {"cidr": destination.cidr}}
    else:
        place = peer(Client(namespace=destination.namespace))
    return {"to": [place]} | ({"ports": _tcp(*destination.ports)} if destination.ports else {})


def _tcp(*ports: int) -> list[Manifest]:
    return [{"protocol": "TCP", "port": port} for port in ports]


def _policy(
    namespace: str,
    name: str,
    selector: Mapping[str, Any],
    *,
    ingress: Sequence[Manifest] | None = None,
    egress: Sequence[Manifest] | None = None,
) -> Manifest:
    """Render a policy of those directions that are given; no rule at all closes one."""
    directions = {"ingress": ingress, "egress": egress}
    given = {name: list(rules) for name, rules in directions.items() if rules is not None}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": f"team-{name}", "namespace": namespace},
        "spec": {
            "podSelector": dict(selector),
            "policyTypes": [name.capitalize() for name in given],
            **{name: rules for name, rules in given.items() if rules},
        },
    }
