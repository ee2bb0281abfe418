"""Rule: one autoscaler aims at a workload, and nothing else says how many copies it has."""

from collections.abc import Iterable
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.scalers import IS_SCALER, SCALED_OBJECT, aim_of, aiming_at, annotation_of
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_TRANSFER: Final = "scaledobject.keda.sh/transfer-hpa-ownership"
_FIX = (
    "Keep one of them: KEDA makes a HorizontalPodAutoscaler itself for each ScaledObject, or takes over the one that"
    f" advanced.horizontalPodAutoscalerConfig.name names, with the annotation {_TRANSFER}: 'true'."
)


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    aim = aim_of(subject)
    if UNKNOWN in aim:
        yield unseen("spec.scaleTargetRef", "whether another autoscaler aims at the same")
        return
    if aim[2] is None:
        return
    found = ((other, _undoes(subject, other)) for other in aiming_at(aim, context.others))
    rivals = [(other, verdict) for other, verdict in found if verdict is not False]
    sure = next((other for other, verdict in rivals if verdict is True), None)
    if sure is not None:
        kind, name = sure.kind.partition("/")[2], value_at(sure.properties, "metadata", "name", default="another")
        said = f"{aim[1]} {aim[2]}, at which {kind} {name} aims, too"
        yield Problem("spec.scaleTargetRef", said, "a target of its own", _FIX)
    elif rivals:
        yield unseen("spec.scaleTargetRef", "whether another autoscaler aims at the same")


def _undoes(subject: RegisteredObject, other: RegisteredObject) -> Any:
    """Tell whether another autoscaler undoes what one decides: True, False or UNKNOWN."""
    names = [(each.kind, value_at(each.properties, "metadata", "name")) for each in (subject, other)]
    taken_over = (_takes_over(subject, other), _takes_over(other, subject))
    if names[0] == names[1] or True in taken_over:
        return False
    return UNKNOWN if UNKNOWN in (*taken_over, *aim_of(other)) else True


def _takes_over(one: RegisteredObject, other: RegisteredObject) -> Any:
    """Tell whether KEDA makes an autoscaler its own, in place of one of its making: True, False or UNKNOWN."""
    if one.kind != SCALED_OBJECT or other.kind == SCALED_OBJECT:
        return False
    transfer = annotation_of(one, _TRANSFER)
    name = value_at(one.properties, "spec", "advanced", "horizontalPodAutoscalerConfig", "name")
    named = value_at(other.properties, "metadata", "name")
    if transfer not in ("true", UNKNOWN) or name is None or (UNKNOWN not in (name, named) and name != named):
        return False
    return UNKNOWN if UNKNOWN in (transfer, name, named) else True


ONE_SCALER = Rule(
    name="one-scaler",
    title="One autoscaler at most aims at a workload.",
    why=(
        "Two autoscalers undo each other's decisions every few seconds, and groups that take minutes to load never"
        " serve."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=IS_SCALER,
    check=_check,
    looks_around=True,
)
