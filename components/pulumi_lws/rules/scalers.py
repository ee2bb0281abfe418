"""Reading at what an autoscaler aims."""

from typing import Any, Final

from pulumi_lws.rules.reach import namespace_of
from pulumi_lws.rules.rule import RegisteredObject, is_kind
from pulumi_lws.rules.values import value_at

IS_SCALER: Final = is_kind("autoscaling/HorizontalPodAutoscaler", "keda.sh/ScaledObject")
"""Whether an object is an autoscaler of copies."""


def aim_of(scaler: RegisteredObject) -> tuple[Any, Any, Any]:
    """Return namespace, kind and name of what an autoscaler changes."""
    target = ("spec", "scaleTargetRef")
    # KEDA takes a Deployment where no kind is written.
    kind = value_at(scaler.properties, *target, "kind", default="Deployment")
    return namespace_of(scaler), kind, value_at(scaler.properties, *target, "name")
