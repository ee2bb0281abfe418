"""Rule: the pods of a group are restarted by their node."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Set restartPolicy to Always, or leave it out."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for template in groups.templates():
        policy, path = template.at("restartPolicy", default="Always"), template.path_to("restartPolicy")
        if policy is UNKNOWN:
            yield unseen(path, "whether the pods can be made")
        elif policy in ("OnFailure", "Never"):
            yield Problem(path, policy, "Always", _FIX)


PODS_RESTART = Rule(
    name="pods-restart",
    title="The restartPolicy of pods is Always.",
    why=(
        "LWS makes pods by StatefulSets, which take no other. LWS itself takes the template, then fails with the event"
        " FailedCreate for ever."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
