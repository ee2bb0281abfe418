"""Rule: pods with accelerators are of the class Guaranteed."""

from collections.abc import Iterable, Mapping
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.pods import Pods, about_accelerated_pods, makes_pods
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Give every container, init containers and sidecars too, cpu and memory with limits equal to requests."


def _check(pods: Pods, _context: Context) -> Iterable[Problem]:
    for path, container in pods.containers():
        limits, requests = (value_at(container, "resources", field) for field in ("limits", "requests"))
        for resource in ("cpu", "memory"):
            where = f"{path}.resources.limits.{resource}"
            limit, request = _value(limits, resource), _value(requests, resource)
            if UNKNOWN in (limit, request):
                yield unseen(where, "whether the pod is Guaranteed")
            elif limit is None:
                yield Problem(where, "nothing", "a limit, equal to the request", _FIX)
            elif request is not None and str(request) != str(limit):
                yield Problem(where, str(limit), f"{request}, as it is requested", _FIX)


def _value(resources: Any, name: str) -> Any:
    if resources is UNKNOWN:
        return UNKNOWN
    return resources.get(name) if isinstance(resources, Mapping) else None


GUARANTEED_RESOURCES = Rule(
    name="guaranteed-resources",
    title="Pods with accelerators have limits of CPU and memory that equal their requests.",
    why=(
        "GPUs and EFA do not count for the class of a pod. One that is not Guaranteed is the first to be evicted when"
        " its node runs short of memory, and takes its whole group with it"
        " (https://github.com/awslabs/awsome-distributed-ai/issues/1241)."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=makes_pods,
    check=about_accelerated_pods(_check),
    house=True,
)
