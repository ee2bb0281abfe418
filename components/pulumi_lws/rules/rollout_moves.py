"""Rule: a rollout may touch at least one group at a time."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import Unknown, unseen

_FIX = "Set maxUnavailable or maxSurge to 1 or more; a percentage of maxUnavailable is rounded down."
_REFUSED_IN_ROLES_SINCE = (0, 10)
"""Version of LWS whose webhook of DisaggregatedSets looks at it too, where that is installed."""


def _check(groups: Groups, context: Context) -> Iterable[Problem]:
    rollout, replicas = groups.rollout, groups.replicas
    path = groups.path_to("rolloutStrategy", "rollingUpdateConfiguration", "maxUnavailable")
    known = [number for number in (rollout.unavailable, rollout.surge) if not isinstance(number, Unknown)]
    if replicas == 0 or any(number is None or number > 0 for number in known):
        return
    if len(known) < 2 or isinstance(replicas, Unknown):
        yield unseen(path, "whether a rollout may touch a group at all")
        return
    unavailable, surge = rollout.written
    yield Problem(
        path,
        f"{unavailable}, and maxSurge {surge}: no group of {replicas}",
        "at least one group that may be out or on top during a rollout",
        _FIX,
        refused=groups.refused or context.target.lws >= _REFUSED_IN_ROLES_SINCE,
    )


ROLLOUT_MOVES = Rule(
    name="rollout-moves",
    title="A rollout may touch at least one group: maxUnavailable and maxSurge are not both 0 once scaled.",
    why=(
        "The webhook of LWS refuses it. A percentage of maxUnavailable is rounded down, so 10% of 4 groups is none;"
        " one of maxSurge is rounded up. A set of 0 replicas is exempt."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
