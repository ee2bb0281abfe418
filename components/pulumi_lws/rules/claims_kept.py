"""Rule: the volume claims of workers outlive a restart of their group."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Set whenDeleted to Retain, and delete the claims yourself once the LeaderWorkerSet is gone."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    claims = groups.template_at("volumeClaimTemplates", default=[])
    when = groups.template_at("persistentVolumeClaimRetentionPolicy", "whenDeleted", default="Retain")
    if groups.size == 1 or not claims or when not in ("Delete", UNKNOWN):
        return
    path = groups.template_path("persistentVolumeClaimRetentionPolicy", "whenDeleted")
    if UNKNOWN in (groups.size, claims, when):
        yield unseen(path, "whether the claims of workers are kept")
    else:
        yield Problem(path, "Delete", "Retain, for groups with workers", _FIX)


CLAIMS_KEPT = Rule(
    name="claims-kept",
    title="The volume claims of workers are retained.",
    why=(
        "Every restart of a group, and every rollout, deletes the StatefulSet of its workers. With whenDeleted Delete"
        " their volumes go with it, and what they had cached."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
