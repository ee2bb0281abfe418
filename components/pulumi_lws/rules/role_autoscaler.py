"""Rule: autoscalers of a DisaggregatedSet aim at the scaler of a role."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.around import grouped
from pulumi_lws.rules.roles import external_roles
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, Program, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_PATH = "spec.scaleTargetRef"
_FIX = (
    "Set scaling.mode of the role to External and aim at apiVersion disaggregatedset.x-k8s.io/v1, kind"
    " DisaggregatedSetRoleScaler, name <DisaggregatedSet>-<role>."
)
_OF_A_SLICE = re.compile(r"(?P<set>[a-z].*?)-\d{1,2}-[0-9a-f]{8}-(?P<role>.+)")


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    target = value_at(subject.properties, "spec", "scaleTargetRef")
    kind, name = value_at(target, "kind"), value_at(target, "name")
    meant = _MEANT.get(str(kind))
    if kind is UNKNOWN or (meant and name is UNKNOWN):
        yield unseen(_PATH, "whether it aims at the scaler of a role")
    elif meant and (allowed := meant(str(name), _sets(subject, context))):
        yield Problem(f"{_PATH}.name", f"the {kind} {name}", allowed, _FIX)


def _child(name: str, _sets: Sequence[RegisteredObject]) -> str:
    child = _OF_A_SLICE.fullmatch(name)
    return f"the DisaggregatedSetRoleScaler {child['set']}-{child['role']}" if child else ""


def _whole_set(_name: str, _sets: Sequence[RegisteredObject]) -> str:
    return "the DisaggregatedSetRoleScaler of one role: a set as a whole cannot be scaled"


def _scaler(name: str, sets: Sequence[RegisteredObject]) -> str:
    """Say which scalers there are, where the sets are known and none of them has this one."""
    named = [(own, one) for one in sets if isinstance(own := _name(one), str)]
    scalers = [f"{own}-{role.name}" for own, one in named for role in external_roles(one)]
    ours = any(name.startswith(f"{own}-") for own, _ in named)
    return "" if name in scalers or not ours else (", ".join(scalers) or "a scaler of a role in scaling mode External")


_MEANT = {"LeaderWorkerSet": _child, "DisaggregatedSet": _whole_set, "DisaggregatedSetRoleScaler": _scaler}
"""Kinds at which one may aim wrongly, each with what says what was meant; empty where nothing is wrong."""


def _sets(subject: RegisteredObject, context: Context) -> Sequence[RegisteredObject]:
    return context.others.once(_by_namespace).get(_namespace(subject), ())


def _by_namespace(program: Program) -> Mapping[str, Sequence[RegisteredObject]]:
    return grouped((_namespace(each), each) for each in program if each.kind == DISAGGREGATED_SET)


def _namespace(subject: RegisteredObject) -> str:
    return repr(value_at(subject.properties, "metadata", "namespace"))


def _name(subject: RegisteredObject) -> Any:
    return value_at(subject.properties, "metadata", "name")


ROLE_AUTOSCALER = Rule(
    name="role-autoscaler",
    title="An autoscaler of a DisaggregatedSet aims at the DisaggregatedSetRoleScaler of a role in mode External.",
    why=(
        "A LeaderWorkerSet of a DisaggregatedSet has the revision in its name, so the next change of a template leaves"
        " the autoscaler without a target, and until then the controller takes back what it set. A role in mode Static"
        " has no scaler at all."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind("autoscaling/HorizontalPodAutoscaler", "keda.sh/ScaledObject"),
    check=_check,
    looks_around=True,
)
