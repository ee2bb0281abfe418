"""Rule: workers start after their leader."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen

_FIX = (
    "Set startupPolicy to LeaderReady, with a readiness of the leader that does not need its workers"
    " (MultiNodeVllm renders both)."
)


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    # The server's own defaults: a missing field breaks the rule as much as a wrong one.
    size, policy = groups.size, groups.at("startupPolicy", default="LeaderCreated (the server's default)")
    if policy == "LeaderReady":
        return
    if isinstance(size, Unknown):
        yield unseen(groups.template_path("size"), "whether the group has workers")
    elif size > 1 and policy is UNKNOWN:
        yield unseen(groups.path_to("startupPolicy"), "whether workers wait for their leader")
    elif size > 1:
        yield Problem(groups.path_to("startupPolicy"), str(policy), f"LeaderReady, for a group of {size} pods", _FIX)


LEADER_READY = Rule(
    name="leader-ready",
    title="Groups of more than one pod start their workers once the leader is ready.",
    why=(
        "With LeaderCreated, workers start while the leader's image is still pulled, find nobody at the leader's"
        " address, and crash in a loop; with a recreate policy they take the leader down each time."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
    house=True,
)
