"""Rule: a partition leaves groups that a change reaches."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import Groups, about_groups
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Context, Rule, is_kind
from pulumi_lws.rules.values import Unknown, unseen

_FIX = "Set partition back to 0 once the new groups have proved themselves."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    partition, replicas = groups.rollout.partition, groups.replicas
    path = groups.path_to("rolloutStrategy", "rollingUpdateConfiguration", "partition")
    # Without replicas an autoscaler may own them, and the server's 1 says nothing.
    if partition is None or partition == 0 or groups.at("replicas") is None or replicas == 0:
        return
    if isinstance(partition, Unknown) or isinstance(replicas, Unknown):
        yield unseen(path, "whether a change reaches any group")
    elif partition >= replicas:
        allowed = f"less than the {replicas} replicas, for a change to reach a group"
        yield Problem(path, str(partition), allowed, _FIX)


PARTITION_BELOW_REPLICAS = Rule(
    name="partition-below-replicas",
    title="A partition leaves groups that a change reaches.",
    why="With a partition of replicas or more the server takes every change of the templates, and no group gets it.",
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind(LEADER_WORKER_SET),
    check=about_groups(_check),
)
