"""Rule: a group that still starts is not recreated for a container that could not wait."""

from collections.abc import Iterable

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_ALWAYS = "RecreateGroupOnPodRestart"
_FIX = "Write RecreateGroupAfterStart, or pull the images before the pods start."


def _check(groups: Groups, context: Context) -> Iterable[Problem]:
    policy, path = groups.template_at("restartPolicy", default=_ALWAYS), groups.template_path("restartPolicy")
    if (
        context.target.lws < (0, 9)
        or groups.size == 1
        or policy not in (_ALWAYS, UNKNOWN)
        or groups.annotation(labels.LWS_RECREATE_AFTER_START) is not None
    ):
        return
    if UNKNOWN in (groups.size, policy):
        yield unseen(path, "whether a group that still starts is recreated")
    else:
        written = "" if groups.template_at("restartPolicy") else " (the server's default)"
        yield Problem(path, f"{_ALWAYS}{written}", "RecreateGroupAfterStart", _FIX)


RESTARTS_WHILE_STARTING = Rule(
    name="restarts-while-starting",
    title="A group is recreated only once all its pods have started.",
    why=(
        "With RecreateGroupOnPodRestart, a leader that gives up while its workers still pull their image takes the"
        " whole group down, again and again (https://github.com/kubernetes-sigs/lws/issues/726)."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
