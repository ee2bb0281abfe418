"""Rule: pods can resolve the address of their leader."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, Template, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_HOST_POLICY = "ClusterFirstWithHostNet"
_FIX = f"Set dnsPolicy to {_HOST_POLICY} with hostNetwork, and leave it out without."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for template in groups.templates() if groups.size != 1 else ():
        yield from _judge(template)


def _judge(template: Template) -> Iterable[Problem]:
    host, policy = template.at("hostNetwork", default=False), template.at("dnsPolicy", default="ClusterFirst")
    path = template.path_to("dnsPolicy")
    # Whoever names servers of their own may reach the cluster's DNS by them.
    if template.at("dnsConfig", "nameservers", default=[]):
        return
    if policy is UNKNOWN or (host is UNKNOWN and policy == "ClusterFirst"):
        yield unseen(path, "whether pods can resolve the address of their leader")
    elif policy in ("Default", "None"):
        yield Problem(path, policy, _HOST_POLICY if host is True else "ClusterFirst", _FIX)
    elif host is True and policy == "ClusterFirst":
        yield Problem(path, "ClusterFirst with hostNetwork, which means Default", _HOST_POLICY, _FIX)


LEADER_ADDRESS = Rule(
    name="leader-address",
    title="The pods of a group resolve names by the DNS of the cluster.",
    why=(
        "LWS_LEADER_ADDRESS is a name inside the cluster, written without its domain. A pod on the host's network, or"
        " with the DNS of its node, cannot resolve it, and the group never forms."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
