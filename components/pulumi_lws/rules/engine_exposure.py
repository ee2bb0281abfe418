"""Rule: engines are not reached from outside without a gateway."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.pods import pods_of
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Make the Service a ClusterIP, and let a gateway with authentication and a list of paths in front of it."
_OPEN: Final = ("LoadBalancer", "NodePort")


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    service = subject.properties
    kind, selector = value_at(service, "spec", "type"), value_at(service, "spec", "selector")
    if kind is not UNKNOWN and kind not in _OPEN:
        return
    behind = [other for other in context.others if _is_behind(other, service, selector)]
    if not behind:
        return
    if kind is UNKNOWN:
        yield unseen("spec.type", "whether an engine is reached from outside")
        return
    name = value_at(behind[0].properties, "metadata", "name", default="")
    whose = f"{behind[0].kind.partition('/')[2]} {name}" if isinstance(name, str) and name else "an engine"
    yield Problem("spec.type", f"{kind}, straight to {whose}", "ClusterIP, behind a gateway", _FIX)


def _is_behind(other: RegisteredObject, service: Mapping[str, Any], selector: Any) -> bool:
    """Tell whether a Service selects pods with accelerators of an object."""
    if not isinstance(selector, Mapping) or not selector or _namespace(other.properties) != _namespace(service):
        return False
    return any(pods.has_accelerators and _selects(selector, pods.template) for pods in pods_of(other))


def _selects(selector: Mapping[str, Any], template: Any) -> bool:
    """Tell whether labels of a template meet a selector; what LWS adds to pods is not in it, and counts as met."""
    labels = value_at(template, "metadata", "labels")
    own = labels if isinstance(labels, Mapping) else {}
    return all(own.get(key) == value or str(key).startswith(_CONTROLLERS) for key, value in selector.items())


_CONTROLLERS: Final = ("leaderworkerset.sigs.k8s.io/", "disaggregatedset.x-k8s.io/", "ray.io/")


def _namespace(manifest: Any) -> Any:
    return value_at(manifest, "metadata", "namespace", default="default")


ENGINE_EXPOSURE = Rule(
    name="engine-exposure",
    title="No load balancer or node port leads straight to an engine.",
    why=(
        "An API key protects only the paths below /v1 of vLLM; others pause the engine, change its weights or read its"
        " metrics, and traffic between its pods is neither encrypted nor authenticated"
        " (https://docs.vllm.ai/en/latest/usage/security.html)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind("core/Service"),
    check=_check,
    house=True,
    looks_around=True,
)
