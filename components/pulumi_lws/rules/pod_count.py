"""Rule: the number of groups and of pods stays within what the server takes."""

from collections.abc import Iterable
from typing import Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import Unknown, unseen

MAXIMUM_GROUPS: Final = 1_000_000
"""Most groups of one LeaderWorkerSet, a bound of its CRD since LWS 0.10."""

MAXIMUM_PODS: Final = 2**31 - 1
"""Most pods of one LeaderWorkerSet, a bound of its webhook."""


def _check(groups: Groups, context: Context) -> Iterable[Problem]:
    replicas, size, path = groups.replicas, groups.size, groups.path_to("replicas")
    if isinstance(replicas, Unknown):
        yield unseen(path, "how many pods there will be")
        return
    if replicas > MAXIMUM_GROUPS and context.target.lws >= (0, 10):
        allowed = f"at most {MAXIMUM_GROUPS:,} groups since LWS 0.10"
        yield Problem(path, f"{replicas:,}", allowed, "Lower replicas.", refused=True)
    # No size that the server takes could make too many pods of a single group.
    if isinstance(size, Unknown):
        if replicas > 1:
            yield unseen(groups.template_path("size"), "how many pods there will be")
    elif replicas * size > MAXIMUM_PODS:
        yield Problem(
            path,
            f"{replicas:,} groups of {size:,}: {replicas * size:,} pods",
            f"at most {MAXIMUM_PODS:,} pods",
            "Lower replicas or size.",
            refused=groups.refused,
        )


POD_COUNT = Rule(
    name="pod-count",
    title="The number of groups, and of pods in all groups, is one that the server takes.",
    why="The webhook of LWS refuses more than 2,147,483,647 pods, and LWS 0.10 more than 1,000,000 groups.",
    fix="Lower replicas or size.",
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
