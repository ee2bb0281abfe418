"""Rule: no surge groups stay because of a partition."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import Groups, about_groups
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Context, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Set partition back to 0 once the new groups have proved themselves."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    rollout = groups.rollout
    path = groups.path_to("rolloutStrategy", "rollingUpdateConfiguration", "partition")
    match (groups.replicas, rollout.partition, rollout.surge, rollout.unavailable):
        case (0, *_) | (_, 0, *_) | (_, _, 0, _):
            return
        case (int() as replicas, int() as partition, int() as surge, int() as unavailable):
            if kept := surge_that_stays(replicas, partition, surge, unavailable):
                found = f"{partition}, with maxSurge {rollout.written[1]}: {kept} more than the {replicas} groups stay"
                yield Problem(path, found, "0, or maxSurge 0", _FIX)
        case numbers if UNKNOWN in numbers:
            yield unseen(path, "whether surge groups stay")


def surge_that_stays(replicas: int, partition: int, surge: int, unavailable: int) -> int:
    """Return how many groups on top stay after a rollout that keeps ``partition`` groups on the old template.

    LWS counts each of them as not updated, and gives a surge group back only once fewer are left than may be out.
    """
    old, on_top = min(partition, replicas), min(surge, replicas)
    return on_top if old > on_top else max(old - unavailable, 0)


PARTITION_KEEPS_SURGE = Rule(
    name="partition-keeps-surge",
    title="No partition stands together with a surge.",
    why="The surge groups of a rollout stay, with their GPUs, until the partition is 0 again.",
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind(LEADER_WORKER_SET),
    check=about_groups(_check),
)
