"""Rule: GPUs and EFA interfaces stand in the limits, and a group over several nodes has EFA."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.pods import makes_pods, pods_of
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at, whole_number

_EXTENDED: Final = (labels.GPU, labels.EFA)
_FIX = "Write the number under resources.limits; requests may be left out, or say the same."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    for pods in pods_of(subject):
        for path, container in pods.containers():
            yield from _of_container(path, container)


def _of_container(path: str, container: Any) -> Iterable[Problem]:
    requests, limits = (value_at(container, "resources", field) for field in ("requests", "limits"))
    for resource in _EXTENDED:
        asked, limited = _count(requests, resource), _count(limits, resource)
        if asked is None:
            continue
        where = f"{path}.resources.limits['{resource}']"
        if UNKNOWN in (asked, limited):
            if requests is not UNKNOWN or limits is not UNKNOWN:
                yield unseen(where, "whether requests and limits agree")
        elif asked != limited:
            found = "nothing" if limited is None else str(limited)
            yield Problem(
                where, found, f"{asked}, as it is requested: such a resource is not shared", _FIX, refused=True
            )


def _count(resources: Any, name: str) -> Any:
    """Return a number of accelerators: UNKNOWN before the update, None where none is given."""
    if resources is UNKNOWN:
        return UNKNOWN
    value = value_at(resources, name) if isinstance(resources, Mapping) else None
    if value is None or value is UNKNOWN:
        return value
    number = whole_number(int(value) if isinstance(value, str) and value.isdecimal() else value, default=-1)
    return None if number == -1 else number


ACCELERATORS_IN_LIMITS = Rule(
    name="accelerators-in-limits",
    title="GPUs and EFA interfaces that are requested stand in the limits, too.",
    why=(
        "Extended resources cannot be overcommitted: the API server refuses a pod that requests one without a limit of"
        " the same number, which for a group means that no pod is ever made."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=makes_pods,
    check=_check,
)
