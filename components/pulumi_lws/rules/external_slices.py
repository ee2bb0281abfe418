"""Rule: a set with a role that is scaled from outside has one slice."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.roles import BY_WEBHOOK, external_roles, roles_of, slices_of
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen

_PATH = "spec.slices"
_FIX = "Set slices to 1, or scaling.mode of every role to Static; or declare one DisaggregatedSet for each slice."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    slices, external = slices_of(subject), external_roles(subject)
    if slices == 1:
        return
    if external and slices is UNKNOWN:
        yield unseen(_PATH, "whether roles that are scaled from outside have one slice")
    elif external:
        names = ", ".join(str(role.name) for role in external)
        yield Problem(_PATH, str(slices), f"1, with roles that are scaled from outside ({names})", _FIX, refused=True)
    else:
        for role in roles_of(subject):
            if role.mode is UNKNOWN:
                yield unseen(role.path_to("scaling", "mode"), "whether a role is scaled from outside")


EXTERNAL_SLICES = Rule(
    name="external-slices",
    title="A DisaggregatedSet with a role in scaling mode External has one slice.",
    why=(
        f"{BY_WEBHOOK}, every slice gets as many groups as the one scaler asks for in all"
        " (https://github.com/kubernetes-sigs/lws/issues/948)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(DISAGGREGATED_SET),
    check=_check,
)
