"""Rule: a group divides into subgroups of the given size."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, whole_number

_FIX = "Choose a subGroupSize that divides the pods of a group, with or without its leader."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    path = groups.template_path("subGroupPolicy", "subGroupSize")
    part = whole_number(groups.template_at("subGroupPolicy", "subGroupSize"), default=0)
    size, type_ = groups.size, groups.template_at("subGroupPolicy", "subGroupPolicyType", default="LeaderWorker")
    if part == 1:
        return
    if isinstance(part, Unknown) or (part > 0 and isinstance(size, Unknown)):
        yield unseen(path, "whether a group divides into its subgroups")
    elif isinstance(size, Unknown) or part < 1 or size < 1:
        return  # the schema refuses a size below 1
    elif size < part:
        yield Problem(path, str(part), f"at most {size}, the size of a group", _FIX, refused=groups.refused)
    elif (size - 1) % part == 0:
        return
    elif type_ is UNKNOWN:
        yield unseen(groups.template_path("subGroupPolicy", "subGroupPolicyType"), "whether the leader is divided too")
    elif size % part or type_ == "LeaderExcluded":
        yield Problem(path, str(part), _allowed(size, type_), _FIX, refused=groups.refused)


def _allowed(size: int, type_: str) -> str:
    if type_ == "LeaderExcluded":
        return f"a divisor of {size - 1}, the workers of a group"
    return f"a divisor of {size}, or of {size - 1} without the leader"


SUBGROUPS_DIVIDE = Rule(
    name="subgroups-divide",
    title="The size of a group, with or without its leader, is a multiple of subGroupSize.",
    why="The webhook of LWS refuses it; with LeaderExcluded only the workers are divided.",
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
