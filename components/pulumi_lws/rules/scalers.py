"""Reading at what an autoscaler aims."""

from collections.abc import Mapping
from typing import Any, Final

from pulumi_lws.rules.around import grouped
from pulumi_lws.rules.reach import namespace_of
from pulumi_lws.rules.rule import Program, RegisteredObject, is_kind
from pulumi_lws.rules.values import UNKNOWN, value_at

SCALED_OBJECT: Final = "keda.sh/ScaledObject"
"""Kind of KEDA's autoscaler."""

IS_SCALER: Final = is_kind("autoscaling/HorizontalPodAutoscaler", SCALED_OBJECT)
"""Whether an object is an autoscaler of copies."""

Aim = tuple[Any, Any, Any]
"""Namespace, kind and name of what an autoscaler changes."""

_VAGUE: Final = ""
"""Stands in an index for aims that are not known yet."""


def aim_of(scaler: RegisteredObject) -> Aim:
    """Return namespace, kind and name of what an autoscaler changes."""
    target = ("spec", "scaleTargetRef")
    # KEDA takes a Deployment where no kind is written.
    kind = value_at(scaler.properties, *target, "kind", default="Deployment")
    return namespace_of(scaler), kind, value_at(scaler.properties, *target, "name")


def aiming_at(aim: Aim, program: Program) -> list[RegisteredObject]:
    """Return the autoscalers that aim at something, then those of which that is not known."""
    if UNKNOWN in aim:
        return [scaler for scaler in filter(IS_SCALER, program) if _may_be(aim_of(scaler), aim)]
    scalers = program.once(_by_aim)
    vague = [scaler for scaler in scalers.get(_VAGUE, ()) if _may_be(aim_of(scaler), aim)]
    return [*scalers.get(repr(aim), ()), *vague]


def _by_aim(program: Program) -> Mapping[str, list[RegisteredObject]]:
    aims = ((aim_of(scaler), scaler) for scaler in filter(IS_SCALER, program))
    return grouped((_VAGUE if UNKNOWN in aim else repr(aim), scaler) for aim, scaler in aims)


def _may_be(one: Aim, other: Aim) -> bool:
    return all(UNKNOWN in pair or pair[0] == pair[1] for pair in zip(one, other, strict=True))


def annotation_of(scaler: RegisteredObject, key: str) -> Any:
    """Return an annotation, which KEDA heeds."""
    return value_at(scaler.properties, "metadata", "annotations", key)
