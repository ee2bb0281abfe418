"""Rule: what cannot be had again is protected from being deleted."""

import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import Context, Parameter, Program, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_CLUSTER: Final = "aws:eks/cluster:Cluster"
_FIX = (
    "Set protect=True in its options, or in those of the component that makes it. Where it may be deleted: give the"
    " stack a name with one of the words of throwAwayWords, or exempt it."
)


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    words = re.findall(r"[a-z0-9]+", subject.stack.lower())
    if subject.protect or any(word in words for word in context.values["throwAwayWords"]):
        return
    lasts = _LASTING[subject.type](subject, context)
    if lasts is UNKNOWN:
        yield unseen("protect", "whether it has to be protected")
    elif lasts:
        yield Problem("protect", "false", "true: one mistyped change may delete it, and all that runs on it", _FIX)


def _cluster(subject: RegisteredObject, _context: Context) -> Any:
    """Tell whether nothing else keeps a cluster: EKS itself may."""
    kept = value_at(subject.properties, "deletionProtection", default=False)
    return UNKNOWN if kept is UNKNOWN else kept is not True


def _network(subject: RegisteredObject, context: Context) -> Any:
    """Tell whether a VPC is one in which the program makes a cluster."""
    return subject.urn in context.others.once(_below_clusters)


def _below_clusters(program: Program) -> AbstractSet[str]:
    """Return the URNs of what clusters are made from."""
    by_urn = {each.urn: each for each in program}
    reached, ahead = set[str](), [each.urn for each in program if each.type == _CLUSTER]
    while ahead:
        urn = ahead.pop()
        if urn in by_urn and urn not in reached:
            reached.add(urn)
            ahead += [source for sources in by_urn[urn].made_from.values() for source in sources]
    return reached


def _reservation(subject: RegisteredObject, _context: Context) -> Any:
    """Tell whether a reservation is of instances with GPUs."""
    instance = value_at(subject.properties, "instanceType")
    return UNKNOWN if instance is UNKNOWN else isinstance(instance, str) and instance in INSTANCE_TYPES


_LASTING: Final[Mapping[str, Callable[[RegisteredObject, Context], Any]]] = {
    _CLUSTER: _cluster,
    "aws:ec2/vpc:Vpc": _network,
    "aws:ec2/capacityReservation:CapacityReservation": _reservation,
}
"""What is judged, and what tells whether it has to be protected: True, False or UNKNOWN."""


PROTECTED = Rule(
    name="protected",
    title="An EKS cluster, its VPC and a reservation of GPUs are protected from being deleted.",
    why=(
        "A changed name or role replaces a cluster with all that runs on it"
        " (https://github.com/pulumi/pulumi-aws/issues/4885), and capacity that was given back may not be had again."
        " A cluster with deletion_protection passes, and so does everything in a stack that may be thrown away. Whether"
        " CustomResourceDefinitions are kept is not judged: the engine does not tell policies of retain_on_delete."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=lambda subject: subject.type in _LASTING,
    check=_check,
    parameters={
        "throwAwayWords": Parameter(
            {
                "type": "array",
                "items": {"type": "string", "pattern": "^[a-z0-9]+$"},
                "description": "Words of the names of stacks that may be thrown away, such as dev in alice-dev.",
            },
            ["dev", "development", "local", "test", "testing", "sandbox", "preview", "review", "pr", "ci", "lab"],
        )
    },
    house=True,
    looks_around=True,
    of_programs=True,
)
