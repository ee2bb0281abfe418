"""What passes the network of a team: nothing by default, and openings for what runs for it needs.

Policies add up, so an opening for the whole namespace would undo what a deployment's own policy closes. What comes in
is therefore opened for each deployment by itself (``serving/network.py``), and here only for pods of none.
EFA traffic passes no NetworkPolicy: the security group of the nodes guards it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.serving.network import peer
from pulumi_lws.serving.settings import Client
from pulumi_lws.tenancy.settings import Destination, TeamNetwork
from pulumi_lws.tenancy.workloads import HTTPS, TeamWorkload

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""

_POD_IDENTITY_AGENT = "169.254.170.23/32"
"""Where pods get their AWS credentials on EKS (IPv4).
https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html"""

_PREFIXES = {labels.DEPLOYMENT: "", labels.CACHED: "copies-"}
"""What names of policies start with, by the label that tells pods apart: one selector takes one label."""


def policies(namespace: str, network: TeamNetwork, workloads: Sequence[TeamWorkload]) -> dict[str, Manifest]:
    """Render the NetworkPolicies of a team, by the suffix of each Pulumi name.

    Args:
        namespace: Namespace of the team.
        network: What was declared.
        workloads: What runs in it.
    """
    found = {"closed": _policy(namespace, "closed", {}, ingress=[], egress=[])}
    everywhere = [
        # To any address: with EKS Auto Mode the node itself answers, with NodeLocal DNSCache a link-local address.
        {"ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]},
        {"to": [peer(Client())]},
        *map(_to, network.destinations),
    ]
    found["outward"] = _policy(namespace, "outward", {}, egress=everywhere)
    to = [{"ipBlock": {"cidr": cidr}} for cidr in network.https_to]
    download = ({"to": to} if to else {}) | {"ports": _tcp(HTTPS)}
    credentials = {"to": [{"ipBlock": {"cidr": _POD_IDENTITY_AGENT}}], "ports": _tcp(80)}
    for label, prefix in _PREFIXES.items():
        if selected := _selecting(workloads, label, lambda workload: workload.downloads):
            name = f"{prefix}weights"
            found[name] = _policy(namespace, name, selected, egress=[download])
        if selected := _selecting(workloads, label, lambda workload: workload.has_credentials):
            name = f"{prefix}credentials"
            found[name] = _policy(namespace, name, selected, egress=[credentials])
    for name, opening in (item for workload in workloads for item in workload.openings.items()):
        rule = {"ports": _tcp(*opening.ports)}
        found[name] = _policy(namespace, name, {"matchLabels": dict(opening.selector)}, egress=[rule])
    if network.clients:
        others = [{"key": key, "operator": "DoesNotExist"} for key in (labels.DEPLOYMENT, labels.ROUTER)]
        rule = {"from": [peer(client) for client in network.clients]}
        found["clients"] = _policy(namespace, "clients", {"matchExpressions": others}, ingress=[rule])
    return found


def _selecting(workloads: Sequence[TeamWorkload], label: str, which: Callable[[TeamWorkload], bool]) -> Manifest | None:
    """Select the pods of some of the workloads that a label tells apart; None where there are none."""
    values = sorted(value for key, value in (one.label for one in workloads if which(one)) if key == label)
    return {"matchExpressions": [{"key": label, "operator": "In", "values": values}]} if values else None


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
