"""Rule: all roles run, or none does."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.roles import roles_of
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Give every role replicas, or none of them; a role that may be empty while others run has scaling.mode External."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    static = [role for role in roles_of(subject) if role.mode != "External"]
    empty = [role for role in static if role.mode is not UNKNOWN and role.groups.replicas == 0]
    running = [
        role for role in static if UNKNOWN not in (role.mode, role.groups.replicas) and role.groups.replicas != 0
    ]
    if empty and running:
        yield Problem(
            empty[0].groups.path_to("replicas"),
            f"0, beside roles that have some ({', '.join(str(role.name) for role in running)})",
            "0 for all roles, or more than 0 for all roles",
            _FIX,
            refused=True,
        )
        return
    for role in static:
        if role.mode is UNKNOWN:
            yield unseen(role.path_to("scaling", "mode"), "whether all roles run or none does")
        elif role.groups.replicas is UNKNOWN:
            yield unseen(role.groups.path_to("replicas"), "whether all roles run or none does")


ROLE_REPLICAS = Rule(
    name="role-replicas",
    title="All roles of a DisaggregatedSet that are not scaled from outside have replicas, or none of them has.",
    why="Refused by the API server: prefill without decode, or the other way round, serves nobody and holds its GPUs.",
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(DISAGGREGATED_SET),
    check=_check,
)
