"""Rule: an engine that is told to stop may finish what it answers."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_starts import Start, may_serve, serving_pods, starts_of
from pulumi_lws.rules.pods import Pods
from pulumi_lws.rules.rule import Context, Parameter, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at, whole_number

_FIX = (
    "Give the container a preStop that waits until nobody sends requests any more, vLLM --shutdown-timeout, and the pod"
    " a terminationGracePeriodSeconds longer than both together."
)
_DEFAULT_GRACE: Final = 30
"""What the API server fills in."""


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    for pods in serving_pods(subject) if may_serve(subject) else ():
        for path, container in pods.containers(before=False) if pods.has_accelerators else ():
            starts = starts_of(path, container)
            if isinstance(starts, Unknown) or starts:
                yield from _judge(pods, container, starts, context.values["minimumGraceSeconds"])


def _judge(pods: Pods, container: Any, starts: Sequence[Start] | Unknown, minimum: int) -> Iterable[Problem]:
    where = pods.path_to("spec", "terminationGracePeriodSeconds")
    grace, hook = whole_number(pods.at("terminationGracePeriodSeconds"), _DEFAULT_GRACE), _hook(container)
    waits = whole_number(value_at(hook, "sleep", "seconds"), default=0)
    if isinstance(starts, Unknown) or isinstance(grace, Unknown) or hook is UNKNOWN or isinstance(waits, Unknown):
        yield unseen(where, "whether requests end before their engine does")
        return
    finishes = max((_shutdown(start) for start in starts), default=0)
    if finishes and grace <= waits + finishes:
        found = f"{grace} s, of which preStop takes {waits} and the engine {finishes}"
        yield Problem(where, found, f"more than {waits + finishes} s: the pod is killed at its end", _FIX)
    elif hook is None and not finishes and grace < minimum:
        yield Problem(where, f"{grace} s, and no preStop", f"a preStop, or at least {minimum} s", _FIX)


def _hook(container: Any) -> Any:
    return value_at(container, "lifecycle", "preStop")


def _shutdown(start: Start) -> int:
    seconds = start.command.option("--shutdown-timeout") or ""
    return int(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 7 else 0


DRAINED = Rule(
    name="drained",
    title="Pods that serve have time to finish their requests before they end.",
    why=(
        "With Kubernetes' own 30 seconds and nothing that waits, every scale-down and every rollout cuts the answers"
        " that are just being written, and requests still come for some seconds after the engine has stopped"
        " listening."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=may_serve,
    check=_check,
    house=True,
    parameters={
        "minimumGraceSeconds": Parameter(
            schema={
                "type": "integer",
                "minimum": 1,
                "description": (
                    "The grace period that is enough without a preStop. 60 is twice what Kubernetes gives by itself;"
                    " components of this library give 160 to what serves."
                ),
            },
            default=60,
        )
    },
)
