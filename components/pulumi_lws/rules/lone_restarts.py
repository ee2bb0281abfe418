"""Rule: a restarted container brings its whole group back."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Write RecreateGroupAfterStart (LWS 0.9 or later) or RecreateGroupOnPodRestart."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    policy, path = groups.template_at("restartPolicy"), groups.template_path("restartPolicy")
    if groups.size == 1 or policy not in ("None", "Default", UNKNOWN):
        return
    if UNKNOWN in (groups.size, policy):
        yield unseen(path, "whether a restarted container brings its group back")
    else:
        yield Problem(path, policy, f"a policy that recreates a group of {groups.size} pods", _FIX)


LONE_RESTARTS = Rule(
    name="lone-restarts",
    title="The failure of one pod recreates its group.",
    why=(
        "With None only the failed container restarts. An engine over several pods cannot take a lost rank back: the"
        " others hang until a time-out, or for ever."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
