"""Rule: the restart policy is written as the server stores it."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Write the policy that is meant: one that recreates the group, or None, which is how Default is stored."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    policy, path = groups.template_at("restartPolicy"), groups.template_path("restartPolicy")
    if policy is UNKNOWN:
        yield unseen(path, "whether it is stored as it is written")
    elif policy == "Default":
        yield Problem(path, "Default", "None, RecreateGroupOnPodRestart, RecreateGroupAfterStart", _FIX)


RESTART_POLICY_DRIFT = Rule(
    name="restart-policy-drift",
    title="The restart policy is not written as Default.",
    why="The webhook of LWS stores Default as None, so every later comparison shows a change that nobody made.",
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
