"""Rule: the scaler of a role is left to the controller."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_PATH = "metadata.ownerReferences"
_FIX = "Do not declare it: set scaling.mode of the role to External, and the controller makes it."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    owners = value_at(subject.properties, "metadata", "ownerReferences")
    if owners is UNKNOWN:
        yield unseen(_PATH, "whether the controller made it")
    elif not owners:
        yield Problem(_PATH, "nothing", "the DisaggregatedSet that it belongs to, as the controller writes it", _FIX)


OWN_ROLE_SCALER = Rule(
    name="own-role-scaler",
    title="Nobody but the controller makes a DisaggregatedSetRoleScaler.",
    why=(
        "The controller makes one for each role in mode External. It takes no other one of that name (event"
        " ScalerConflict), and then nothing scales the role."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind("disaggregatedset.x-k8s.io/DisaggregatedSetRoleScaler"),
    check=_check,
)
