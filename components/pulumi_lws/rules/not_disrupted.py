"""Rule: Karpenter does not move the pods of a group by choice."""

from collections.abc import Iterable

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.pods import Pods
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = f'Annotate the templates of leader and workers with {labels.DO_NOT_DISRUPT}: "true".'


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for template in groups.templates():
        pods = Pods(template.manifest, template.path)
        value = pods.annotation(labels.DO_NOT_DISRUPT)
        where = pods.path_to(f"metadata.annotations['{labels.DO_NOT_DISRUPT}']")
        if not pods.has_accelerators:
            continue
        if value is UNKNOWN:
            yield unseen(where, "whether nodes are taken from under a group")
        elif value != "true":
            yield Problem(where, "nothing" if value is None else repr(value), "'true'", _FIX)


NOT_DISRUPTED = Rule(
    name="not-disrupted",
    title="The pods of groups with accelerators ask Karpenter not to move them.",
    why=(
        "Consolidation or drift that takes one node of a group recreates all of it: a model of two nodes is gone for as"
        " long as it loads, because another node was cheaper."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
    house=True,
)
