"""Rule: recreating a group only after its start is asked for by the field, not by the annotation."""

from collections.abc import Iterable

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Remove the annotation, and set restartPolicy to RecreateGroupAfterStart with LWS 0.9 or later."


def _check(groups: Groups, context: Context) -> Iterable[Problem]:
    key = labels.LWS_RECREATE_AFTER_START
    value, path = groups.annotation(key), groups.annotation_path(key)
    policy, lws = groups.template_at("restartPolicy"), ".".join(map(str, context.target.lws))
    if value is None:
        return
    if UNKNOWN in (value, policy):
        yield unseen(path, "whether it does anything")
    elif policy in ("None", "Default", "RecreateGroupAfterStart") or context.target.lws < (0, 8):
        found = f"the annotation, with restartPolicy {policy or 'RecreateGroupOnPodRestart'} and LWS {lws}"
        yield Problem(path, found, "nothing: it changes nothing there", _FIX)
    elif context.target.lws >= (0, 9):
        yield Problem(path, f"the annotation, with LWS {lws}", "the field restartPolicy, since LWS 0.9", _FIX)


RECREATE_ANNOTATION = Rule(
    name="recreate-annotation",
    title="The annotation experimental-recreate-group-after-start stands only with LWS 0.8.",
    why=(
        "It was an experiment of LWS 0.8, which older versions do not know. LWS 0.9 has the restart policy"
        " RecreateGroupAfterStart for it, and still heeds the annotation with RecreateGroupOnPodRestart alone."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
