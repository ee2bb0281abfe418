"""Rule: subgroups with a topology domain of their own are declared as subgroups."""

from collections.abc import Iterable

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Add spec.leaderWorkerTemplate.subGroupPolicy with a subGroupSize, or remove the annotation."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    key = groups.annotation(labels.LWS_SUBGROUP_EXCLUSIVE_TOPOLOGY)
    policy = groups.template_at("subGroupPolicy")
    path = groups.annotation_path(labels.LWS_SUBGROUP_EXCLUSIVE_TOPOLOGY)
    if key is None or (policy is not None and policy is not UNKNOWN):
        return
    if UNKNOWN in (policy, key):
        yield unseen(path, "whether there are subgroups to place")
    else:
        yield Problem(path, str(key), "nothing without a subGroupPolicy", _FIX, refused=groups.refused)


SUBGROUP_TOPOLOGY = Rule(
    name="subgroup-topology",
    title="The annotation subgroup-exclusive-topology stands only where there are subgroups.",
    why="The webhook of LWS refuses it without a subGroupPolicy.",
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
