"""Rule: autoscalers of groups compare averages for each copy."""

from collections.abc import Iterable
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import items
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_HPA = "autoscaling/HorizontalPodAutoscaler"
_SCALED_OBJECT = "keda.sh/ScaledObject"
_GROUPS = {"LeaderWorkerSet", "DisaggregatedSetRoleScaler"}
_FIX = "Write AverageValue, with the threshold of one copy and a query that adds up all copies."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    target = value_at(subject.properties, "spec", "scaleTargetRef", "kind")
    if target is not UNKNOWN and str(target) not in _GROUPS:
        return
    for path, kind in _kinds_of_targets(subject):
        if kind is UNKNOWN or (kind == "Value" and target is UNKNOWN):
            yield unseen(path if kind is UNKNOWN else "spec.scaleTargetRef", "whether copies are averaged")
        elif kind == "Value":
            yield Problem(path, "Value", "AverageValue: copies that still load do not count for Value", _FIX)


def _kinds_of_targets(subject: RegisteredObject) -> Iterable[tuple[str, Any]]:
    """Yield where each kind of a target stands, and the kind."""
    if subject.kind == _SCALED_OBJECT:
        for path, trigger in items(value_at(subject.properties, "spec", "triggers"), "spec.triggers"):
            yield (path if trigger is UNKNOWN else f"{path}.metricType"), value_at(trigger, "metricType")
        return
    for path, metric in items(value_at(subject.properties, "spec", "metrics"), "spec.metrics"):
        if metric is UNKNOWN:
            yield path, UNKNOWN
            continue
        # Of pods the API server takes no Value; resources have none.
        for source in ("external", "object", "pods"):
            yield f"{path}.{source}.target.type", value_at(metric, source, "target", "type")


AVERAGED_METRICS = Rule(
    name="averaged-metrics",
    title="An autoscaler of groups has targets of the type AverageValue, not Value.",
    why=(
        "For Value, Kubernetes multiplies the leaders that are ready by the load's ratio to the target. Copies that"
        " load, for up to an hour, do not count, so under high load it takes copies away: with 2 of 4 groups ready and"
        " a load of 1.2 times the target it asks for 3."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(_HPA, _SCALED_OBJECT),
    check=_check,
)
