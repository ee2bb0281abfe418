"""Rule: engines are not reached from outside without a gateway."""

from collections.abc import Iterable
from typing import Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engines_behind import engine_behind
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Make the Service a ClusterIP, and let a gateway with authentication and a list of paths in front of it."
_OPEN: Final = ("LoadBalancer", "NodePort")


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    kind = value_at(subject.properties, "spec", "type")
    if kind is not UNKNOWN and kind not in _OPEN:
        return
    behind = engine_behind(subject, context.others)
    if behind is None:
        return
    if kind is UNKNOWN:
        yield unseen("spec.type", "whether an engine is reached from outside")
    else:
        yield Problem("spec.type", f"{kind}, straight to {behind.whose}", "ClusterIP, behind a gateway", _FIX)


ENGINE_EXPOSURE = Rule(
    name="engine-exposure",
    title="No load balancer or node port leads straight to an engine.",
    why=(
        "An API key protects only the paths below /v1 of vLLM; others pause the engine, change its weights or read its"
        " metrics, and traffic between its pods is neither encrypted nor authenticated"
        " (https://docs.vllm.ai/en/latest/usage/security.html). Judged are pods with accelerators in which a container"
        " starts an engine, and those of groups and Ray clusters; a port of another container is that container's."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind("core/Service"),
    check=_check,
    house=True,
    looks_around=True,
)
