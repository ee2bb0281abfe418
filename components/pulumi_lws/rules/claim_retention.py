"""Rule: the retention of volume claims is one that a StatefulSet takes."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_TAKEN = ("", "Retain", "Delete")
_FIX = "Write Retain or Delete."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for field in ("whenDeleted", "whenScaled"):
        value = groups.template_at("persistentVolumeClaimRetentionPolicy", field, default="Retain")
        path = groups.template_path("persistentVolumeClaimRetentionPolicy", field)
        if value is UNKNOWN:
            yield unseen(path, "whether a StatefulSet takes it")
        elif isinstance(value, str) and value not in _TAKEN:
            yield Problem(path, value, "Retain, Delete", _FIX)


CLAIM_RETENTION = Rule(
    name="claim-retention",
    title="The retention of volume claims is Retain or Delete.",
    why="LWS takes any text, the StatefulSets it makes do not: no pod is ever made.",
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
