"""Rule: a role that is scaled from outside states no replicas."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.roles import roles_of
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Remove replicas, and set the bounds on the autoscaler that drives the scaler."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    for role in roles_of(subject):
        # 1 is what the server fills in.
        if role.mode == "Static" or role.groups.replicas == 1:
            continue
        path = role.groups.path_to("replicas")
        if role.mode is UNKNOWN or role.groups.replicas is UNKNOWN:
            yield unseen(role.path_to("scaling", "mode") if role.mode is UNKNOWN else path, "whether replicas count")
        else:
            allowed = "nothing, with scaling.mode External"
            yield Problem(path, str(role.groups.replicas), allowed, _FIX)


EXTERNAL_REPLICAS = Rule(
    name="external-replicas",
    title="A role in scaling mode External states no replicas.",
    why=(
        "They are ignored: a new role starts with one group, and from then on its DisaggregatedSetRoleScaler decides."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind(DISAGGREGATED_SET),
    check=_check,
)
