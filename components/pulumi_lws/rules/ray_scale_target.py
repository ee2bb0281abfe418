"""Rule: no autoscaler of Kubernetes aims at something on Ray."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_PATH = "spec.scaleTargetRef"
_ON_RAY = {"RayCluster", "RayService", "RayJob"}
_GROUP = "ray.io"
_FIX = (
    "Remove it. Set minReplicas and maxReplicas of the worker group with enableInTreeAutoscaling, and for a service"
    " autoscaling_config in serveConfigV2; scale the gateway in front of it instead."
)


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    target = value_at(subject.properties, "spec", "scaleTargetRef")
    kind, version = value_at(target, "kind"), value_at(target, "apiVersion", default=_GROUP)
    if kind is UNKNOWN or (str(kind) in _ON_RAY and version is UNKNOWN):
        yield unseen(_PATH, "whether it aims at something on Ray")
    elif str(kind) in _ON_RAY and str(version).partition("/")[0] == _GROUP:
        found = f"the {kind} {value_at(target, 'name', default='without a name')}"
        yield Problem(_PATH, found, "an object with a scale: those of Ray have none", _FIX)


RAY_SCALE_TARGET = Rule(
    name="ray-scale-target",
    title="No HorizontalPodAutoscaler or ScaledObject aims at a RayCluster, RayService or RayJob.",
    why=(
        "They have no scale subresource, so it never does anything. The number of workers is Ray's: its autoscaler"
        " knows which placement groups wait and which workers are idle, and would take back what anybody else sets."
        " https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/configuring-autoscaling.html"
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind("autoscaling/HorizontalPodAutoscaler", "keda.sh/ScaledObject"),
    check=_check,
)
