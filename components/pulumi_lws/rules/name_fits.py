"""Rule: the name leaves room for what LWS makes from it."""

from collections.abc import Callable, Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import Groups, about_groups
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Context, Rule, is_kind
from pulumi_lws.rules.values import Unknown, unseen, value_at

_FIX = "Shorten the name."
_MOST_DIGITS = 10
"""Digits of the highest index that any number of groups could have."""


def longest_name(highest_index: int, size: int) -> int:
    """Return the longest name with which LWS can make the pods of every group.

    The worker StatefulSet is called ``<name>-<group>``, and the label ``controller-revision-hash`` of its pods adds
    ``-`` and up to ten characters, 63 in all. Without workers it is the leaders' StatefulSet, ``<name>``.
    """
    return 52 if size == 1 else 51 - len(str(highest_index))


def judge_name(groups: Groups, longest: Callable[[int, int], int]) -> Iterable[Problem]:
    """Hold the name to the longest one, a function of the highest index of a group and of their size."""
    name, path = value_at(groups.metadata, "name"), f"{groups.metadata_path}.name"
    size, replicas, surge = groups.size, groups.replicas, groups.rollout.surge
    if isinstance(name, Unknown):
        yield unseen(path, "whether it leaves room for what controllers make from it")
    elif not isinstance(name, str) or len(name) <= longest(10**_MOST_DIGITS - 1, 2):
        return
    elif isinstance(size, Unknown) or isinstance(replicas, Unknown) or isinstance(surge, Unknown):
        yield unseen(path, "whether it leaves room for the index of the last group")
    else:
        # LWS makes no more surge groups than replicas.
        groups_in_all = replicas + min(surge or 0, replicas)
        highest_index = max(groups_in_all - 1, 0)
        limit = longest(highest_index, size)
        if len(name) > limit:
            allowed = f"at most {limit} characters: labels are made from it, with group indexes up to {highest_index}"
            yield Problem(path, f"{name}, of {len(name)} characters", allowed, _FIX)


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    yield from judge_name(groups, longest_name)


NAME_FITS = Rule(
    name="name-fits",
    title="The name is short enough for the labels of the pods.",
    why=(
        "Kubernetes writes the name of a StatefulSet and a hash into a label of at most 63 characters. With a longer"
        " name no worker is ever made (https://github.com/kubernetes-sigs/lws/issues/410)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(LEADER_WORKER_SET),
    check=about_groups(_check),
)
