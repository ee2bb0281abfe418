"""Rule: the roles of a set roll as a whole."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import Groups, about_groups
from pulumi_lws.rules.roles import BY_WEBHOOK
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Remove it. To try a change on a part first, declare a second DisaggregatedSet, and send it some of the traffic."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    partition = groups.rollout.partition
    path = groups.path_to("rolloutStrategy", "rollingUpdateConfiguration", "partition")
    if partition is UNKNOWN:
        yield unseen(path, "whether roles roll as a whole")
    elif partition != 0:
        yield Problem(path, str(partition), "0 or nothing, in a DisaggregatedSet", _FIX, refused=True)


ROLE_PARTITION = Rule(
    name="role-partition",
    title="The roles of a DisaggregatedSet have no rollout partition.",
    why=f"{BY_WEBHOOK}, it means nothing: the controller rolls all roles together, each onto a new LeaderWorkerSet.",
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(DISAGGREGATED_SET),
    check=about_groups(_check),
)
