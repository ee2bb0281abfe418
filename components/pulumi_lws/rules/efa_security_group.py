"""Rule: a security group of EFA lets everything pass between its own members."""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.around import grouped
from pulumi_lws.rules.groups import items
from pulumi_lws.rules.rule import Context, Program, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
_INTERFACES: Final = "networkInterfaces"
_DIRECTIONS: Final = ("ingress", "egress")
_ALL_PROTOCOLS: Final = ("-1", "all")
_EFA = re.compile(r"(?<![a-z])efa(?![a-z])", re.IGNORECASE)
_FIX = (
    "Add one: aws.vpc.SecurityGroupIngressRule or SecurityGroupEgressRule with the group's id as security_group_id and"
    ' as referenced_security_group_id, and ip_protocol="-1".'
)


@dataclass(frozen=True)
class _Form:
    """How a kind of resource writes a rule of a group.

    Attributes:
        protocol: Field with the protocol.
        peer: Field with the id of the group at the other end.
        direction: ``ingress`` or ``egress``; empty where the field ``type`` says it.
    """

    protocol: str
    peer: str
    direction: str = ""


_FORMS: Final[Mapping[str, _Form]] = {
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _Form(
        "ipProtocol", "referencedSecurityGroupId", "ingress"
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _Form(
        "ipProtocol", "referencedSecurityGroupId", "egress"
    ),
    "aws:ec2/securityGroupRule:SecurityGroupRule": _Form("protocol", "sourceSecurityGroupId"),
}


def _check(group: RegisteredObject, context: Context) -> Iterable[Problem]:
    if not (_calls_itself_efa(group) or group.urn in context.others.once(_groups_of_efa)):
        return
    for direction in _DIRECTIONS:
        passes = [*_inline(group, direction), *_apart(group, direction, context)]
        if True in passes:
            continue
        if UNKNOWN in passes:
            yield unseen(direction, "whether EFA reaches the other nodes")
        else:
            allowed = f"{direction} of all protocols {'from' if direction == 'ingress' else 'to'} the group itself"
            yield Problem(direction, "no such rule; one for addresses does not count", allowed, _FIX)


def _calls_itself_efa(group: RegisteredObject) -> bool:
    names = (value_at(group.properties, *path) for path in (("name",), ("namePrefix",), ("tags", "Name")))
    return any(isinstance(name, str) and _EFA.search(name) for name in (group.name, *names))


def _groups_of_efa(program: Program) -> AbstractSet[str]:
    """Return the URNs of groups that are the only one of the EFA interfaces of a launch template."""
    templates = [each for each in program if each.type == _TEMPLATE and _has_efa(each)]
    groups = ([urn for urn in each.made_from.get(_INTERFACES, ()) if f"{_GROUP}::" in urn] for each in templates)
    return {one[0] for one in groups if len(one) == 1}


def _has_efa(template: RegisteredObject) -> bool:
    """Tell whether a launch template has an EFA interface with a single group."""
    return any(
        value_at(interface, "interfaceType") in ("efa", "efa-only")
        and isinstance(groups := value_at(interface, "securityGroups"), list)
        and len(groups) == 1
        for _, interface in items(value_at(template.properties, _INTERFACES), _INTERFACES)
    )


def _inline(group: RegisteredObject, direction: str) -> Iterator[Any]:
    """Yield of each rule inside a group whether it lets everything pass: True, False or UNKNOWN."""
    for _, rule in items(value_at(group.properties, direction), direction):
        yield _all(value_at(rule, "self", default=False), _is_any(value_at(rule, "protocol")))


def _apart(group: RegisteredObject, direction: str, context: Context) -> Iterator[Any]:
    """Yield the same of each rule that is a resource of its own."""
    rules = context.others.once(_rules)
    for rule in (*rules.get(group.urn, ()), *rules.get(_OF_ANY, ())):
        form = _FORMS[rule.type]
        written = form.direction or value_at(rule.properties, "type")
        itself = value_at(rule.properties, "self", default=False) or _refers(rule, form.peer, group)
        yield _all(
            UNKNOWN if written is UNKNOWN else written == direction,
            _refers(rule, "securityGroupId", group),
            itself,
            _is_any(value_at(rule.properties, form.protocol)),
        )


_OF_ANY: Final = ""


def _rules(program: Program) -> Mapping[str, list[RegisteredObject]]:
    """Return rules that are resources of their own by the URN of their group; others under ``_OF_ANY``."""
    rules = [each for each in program if each.type in _FORMS]
    return grouped((urn, each) for each in rules for urn in each.made_from.get("securityGroupId") or (_OF_ANY,))


def _refers(rule: RegisteredObject, field: str, group: RegisteredObject) -> Any:
    """Tell whether a field has the id of a group: True, False or UNKNOWN."""
    sources = rule.made_from.get(field, ())
    if not sources and value_at(rule.properties, field) is UNKNOWN:
        return UNKNOWN
    return group.urn in sources


def _is_any(protocol: Any) -> Any:
    return UNKNOWN if protocol is UNKNOWN else str(protocol) in _ALL_PROTOCOLS


def _all(*answers: Any) -> Any:
    """Tell whether all answers are True; UNKNOWN where that hangs on one that is not known."""
    if UNKNOWN in answers and all(answers):
        return UNKNOWN
    return all(answer is True for answer in answers)


EFA_SECURITY_GROUP = Rule(
    name="efa-security-group",
    title="A security group of EFA lets everything pass between its own members, in and out.",
    why=(
        "EFA has no addresses, so a rule for 0.0.0.0/0 does not count, and nodes find each other but their"
        ' GPUs do not: "Unresponsive receiver (reachable by EFA device but handshake failed)". Judged is a group with'
        " efa in its name, and the only group of a launch template with EFA interfaces"
        " (https://github.com/gardener/gardener-extension-provider-aws/issues/1832)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=lambda subject: subject.type == _GROUP,
    check=_check,
    house=True,
    looks_around=True,
    of_programs=True,
)
