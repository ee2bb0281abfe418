"""Rule: the names that a DisaggregatedSet gives to its LeaderWorkerSets fit."""

from collections.abc import Callable, Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.name_fits import longest_name
from pulumi_lws.rules.roles import Role, roles_of, slices_of
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, RegisteredObject, Rule, Version, is_kind
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

_PATH = "metadata.name"
_FIX = "Shorten the name of the DisaggregatedSet or of the role."
_START_FIX = "Begin it with a letter, and write '-' for '.'."
_REVISION = len("-12345678-")
_MOST_SLICES, _MOST_GROUPS = 100, 1_000_000
"""How many there may be where that is not known yet: slices have two digits in names, and LWS takes so many groups."""


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    name = value_at(subject.properties, "metadata", "name")
    if name is UNKNOWN:
        yield unseen(_PATH, "whether the names of its LeaderWorkerSets fit")
        return
    if not isinstance(name, str) or not name:
        return
    if "." in name or not name[0].isalpha():
        allowed = "a name that starts with a letter and has no dot: those of its LeaderWorkerSets start with it"
        yield Problem(_PATH, name, allowed, _START_FIX)
    for role in roles_of(subject):
        yield from judge_children(name, role, slices_of(subject), context.target.lws, longest_name)


def judge_children(
    name: str, role: Role, slices: int | Unknown, lws: Version, longest: Callable[[int, int], int]
) -> Iterable[Problem]:
    """Hold the names of a role's LeaderWorkerSets to the longest one, a function as ``judge_name`` takes it."""
    size, replicas = role.groups.size, role.groups.replicas
    question = "whether the names of its LeaderWorkerSets fit"
    if role.name is UNKNOWN:
        yield unseen(role.path_to("name"), question)
    if not isinstance(role.name, str):
        return
    length = len(name) + len(role.name)
    between = _REVISION + (len(f"-{_known(slices, _MOST_SLICES) - 1}") if lws >= (0, 10) else 0)
    groups = _known(replicas, _MOST_GROUPS)
    # A change of a template makes new LeaderWorkerSets, so none of them ever has groups on top.
    most = longest(max(groups - 1, 0), _known(size, 2)) - between
    if length <= most:
        return
    if UNKNOWN in (size, replicas, slices):
        yield unseen(role.path, question)
        return
    yield Problem(
        f"{role.path}.name",
        f"{name} and {role.name}, {length} characters together",
        f"at most {most} together, with {groups} groups of size {size}: the controller adds {between} of its own",
        _FIX,
    )


def _known(number: int | Unknown, most: int) -> int:
    return most if isinstance(number, Unknown) else number


CHILD_NAME = Rule(
    name="child-name",
    title="The LeaderWorkerSets of a DisaggregatedSet, called <name>-<slice>-<revision>-<role>, get valid names.",
    why=(
        "Taken by the API server, and then no pod appears: their name must be a DNS label, and the labels of their pods"
        " add up to 11 characters to it and may have 63 (https://github.com/kubernetes-sigs/lws/issues/410)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(DISAGGREGATED_SET),
    check=_check,
)
