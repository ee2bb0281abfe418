"""Rule: where an autoscaler decides how many copies there are, nothing else does."""

from collections.abc import Iterable
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.pods import pods_of
from pulumi_lws.rules.reach import described, namespace_of
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.scalers import SCALED_OBJECT, aim_of, aiming_at, annotation_of
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = 'Leave spec.replicas out, as components of this library do, or add ignore_changes=["spec.replicas"].'


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    replicas, name = value_at(subject.properties, "spec", "replicas"), value_at(subject.properties, "metadata", "name")
    # No copies at all is how one tells an autoscaler to pause.
    if replicas in (None, 0) or name is None or {"spec", "spec.replicas"} & set(subject.ignored) or not _loads(subject):
        return
    here = (namespace_of(subject), subject.kind.partition("/")[2], name)
    for scaler in aiming_at(here, context.others):
        paused = _is_paused(scaler)
        if paused is True:
            continue
        if UNKNOWN in (paused, *here, *aim_of(scaler)):
            yield unseen("spec.replicas", "whether an autoscaler decides how many copies there are")
        else:
            yield Problem("spec.replicas", f"{replicas}, and {described(scaler)} decides", "nothing", _FIX)
        return


def _is_paused(scaler: RegisteredObject) -> Any:
    """Tell whether KEDA leaves an autoscaler out: True, False or UNKNOWN."""
    if scaler.kind != SCALED_OBJECT:
        return False
    paused, at = (annotation_of(scaler, f"autoscaling.keda.sh/{key}") for key in ("paused", "paused-replicas"))
    return True if paused == "true" or at not in (None, UNKNOWN) else UNKNOWN if UNKNOWN in (paused, at) else False


def _loads(subject: RegisteredObject) -> bool:
    """Tell whether a copy takes minutes to be there. A web server that is scaled back for seconds harms nobody."""
    return subject.kind == LEADER_WORKER_SET or any(pods.has_accelerators for pods in pods_of(subject))


REPLICAS_BESIDE_AUTOSCALER = Rule(
    name="replicas-beside-autoscaler",
    title="A workload that an autoscaler aims at states no replicas.",
    why=(
        "Each update sets the number back: groups that serve are ended in the middle of the day, and loaded again when"
        " the autoscaler sees it; or the update fails, since the autoscaler owns the field."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(LEADER_WORKER_SET, "apps/Deployment", "apps/StatefulSet"),
    check=_check,
    looks_around=True,
)
