"""Rule: one autoscaler aims at a workload, and nothing else says how many copies it has."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.scalers import IS_SCALER, aim_of
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Keep one of them: KEDA makes a HorizontalPodAutoscaler itself for each ScaledObject."


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    aim = aim_of(subject)
    if UNKNOWN in aim:
        yield unseen("spec.scaleTargetRef", "whether another autoscaler aims at the same")
        return
    own = (subject.kind, value_at(subject.properties, "metadata", "name"))
    rivals = [
        other
        for other in context.others
        if IS_SCALER(other)
        and all(theirs in (ours, UNKNOWN) for theirs, ours in zip(aim_of(other), aim, strict=True))
        and (other.kind, value_at(other.properties, "metadata", "name")) != own
    ]
    others = [rival for rival in rivals if aim_of(rival) == aim]
    if aim[2] is None or not rivals:
        return
    if not others:
        yield unseen("spec.scaleTargetRef", "whether another autoscaler aims at the same")
    else:
        name = value_at(others[0].properties, "metadata", "name", default="another")
        kind = others[0].kind.partition("/")[2]
        found = f"{aim[1]} {aim[2]}, at which {kind} {name} aims, too"
        yield Problem("spec.scaleTargetRef", found, "a target of its own", _FIX)


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
