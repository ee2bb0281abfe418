"""Rule: engines open no ports on their nodes."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import items
from pulumi_lws.rules.pods import Pods, about_accelerated_pods, makes_pods
from pulumi_lws.rules.rule import Context, Parameter, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Remove it: EFA needs no host network, and a Service reaches the pod."
_QUESTION = "whether an engine opens ports on its node"


def _check(pods: Pods, context: Context) -> Iterable[Problem]:
    host, where = pods.at("hostNetwork", default=False), pods.path_to("spec", "hostNetwork")
    if host is UNKNOWN:
        yield unseen(where, _QUESTION)
    elif host is True and not context.values["allowHostNetwork"]:
        yield Problem(where, "true", "false, or nothing", _FIX)
    if host in (True, UNKNOWN):
        # Each port of a pod on the network of its node is one of the node.
        return
    for path, container in pods.containers():
        for at, port in items(value_at(container, "ports"), f"{path}.ports"):
            number = value_at(port, "hostPort", default=0)
            if number is UNKNOWN:
                yield unseen(f"{at}.hostPort", _QUESTION)
            elif number != 0:
                yield Problem(f"{at}.hostPort", str(number), "nothing", _FIX)


HOST_PORTS = Rule(
    name="host-ports",
    title="Pods with accelerators use neither ports nor the network of their node.",
    why=(
        "No NetworkPolicy holds on the network of a node: whoever reaches the node reaches the administrative paths of"
        " the engine and the traffic between its pods, which is neither encrypted nor authenticated"
        " (https://docs.vllm.ai/en/latest/usage/security.html). A second pod of the kind finds the port taken."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=makes_pods,
    check=about_accelerated_pods(_check),
    house=True,
    parameters={
        "allowHostNetwork": Parameter(
            schema={"type": "boolean", "description": "Whether pods may use the network of their node as a whole."},
            default=False,
        )
    },
)
