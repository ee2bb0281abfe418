"""Rule: either LWS or Kueue places a group by topology."""

from collections.abc import Iterable

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups, texts
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_REQUESTS = (labels.KUEUE_REQUIRED_TOPOLOGY, labels.KUEUE_PREFERRED_TOPOLOGY, labels.KUEUE_UNCONSTRAINED_TOPOLOGY)
_FIX = "Keep one of the two: the exclusive topology of LWS, or the topology request of Kueue."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    if groups.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY) is None:
        return
    path = groups.annotation_path(labels.LWS_EXCLUSIVE_TOPOLOGY)
    for template in groups.templates():
        annotations = value_at(template.manifest, "metadata", "annotations")
        if UNKNOWN in (annotations, groups.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY)):
            yield unseen(path, "whether Kueue places the group too")
            return
        for request in _REQUESTS:
            if request in texts(annotations):
                found = f"{groups.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY)}, and {request} in {template.path}"
                yield Problem(path, found, "one placement by topology", _FIX)
                return


ONE_TOPOLOGY = Rule(
    name="one-topology",
    title="A group is placed by the exclusive topology of LWS or by a topology request of Kueue, not by both.",
    why=(
        "Kueue assigns domains without knowing that LWS keeps other groups out of them. Where the two disagree, pods"
        " stay pending for ever."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
