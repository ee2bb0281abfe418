"""Rule: before LWS 0.9 no rollout depends on surge groups alone."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import Groups, about_groups
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Context, Rule, is_kind
from pulumi_lws.rules.values import Unknown, unseen

_FIX = "Upgrade LWS to 0.9 or later, or set maxUnavailable to 1 or more and maxSurge to 0."


def _check(groups: Groups, context: Context) -> Iterable[Problem]:
    rollout, replicas = groups.rollout, groups.replicas
    if context.target.lws >= (0, 9) or 0 in (replicas, rollout.surge) or rollout.surge is None:
        return
    path = groups.path_to("rolloutStrategy", "rollingUpdateConfiguration", "maxSurge")
    if any(isinstance(number, Unknown) for number in (replicas, rollout.surge, rollout.unavailable)):
        yield unseen(path, "whether LWS before 0.9 would finish a rollout")
    elif rollout.unavailable == 0 or replicas == 1:
        unavailable, surge = rollout.written
        found = f"{surge}, with maxUnavailable {unavailable} and replicas {replicas}"
        yield Problem(path, found, "a rollout that may take a group down, before LWS 0.9", _FIX)


SURGE_ONLY_ROLLOUT = Rule(
    name="surge-only-rollout",
    title="Before LWS 0.9, no rollout depends on surge groups alone.",
    why=(
        "With maxUnavailable 0, or with one replica and a surge, a rollout never ends on LWS 0.8 and older"
        " (https://github.com/kubernetes-sigs/lws/issues/776, https://github.com/kubernetes-sigs/lws/pull/778)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(LEADER_WORKER_SET),
    check=about_groups(_check),
)
