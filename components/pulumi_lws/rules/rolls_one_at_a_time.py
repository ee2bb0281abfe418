"""Rule: Kubernetes can roll several groups at once where that is asked for."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import Groups, about_groups
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Context, Rule, is_kind
from pulumi_lws.rules.values import Unknown, unseen

_FIX = "Reckon with a rollout of one group after the other, or upgrade Kubernetes to 1.35."


def _check(groups: Groups, context: Context) -> Iterable[Problem]:
    unavailable = groups.rollout.unavailable
    if context.target.kubernetes >= (1, 35) or unavailable is None:
        return
    path = groups.path_to("rolloutStrategy", "rollingUpdateConfiguration", "maxUnavailable")
    if isinstance(unavailable, Unknown):
        yield unseen(path, "how many groups roll at once")
    elif unavailable > 1:
        found = f"{groups.rollout.written[0]}, for {unavailable} groups at once"
        allowed = "1 before Kubernetes 1.35, where a StatefulSet rolls one pod at a time"
        yield Problem(path, found, allowed, _FIX)


ROLLS_ONE_AT_A_TIME = Rule(
    name="rolls-one-at-a-time",
    title="Several groups roll at once only on Kubernetes 1.35 or later.",
    why=(
        "LWS leaves it to the leaders' StatefulSet, whose maxUnavailable needs the feature gate"
        " MaxUnavailableStatefulSet. It is off before Kubernetes 1.35, and EKS cannot turn it on."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind(LEADER_WORKER_SET),
    check=about_groups(_check),
)
