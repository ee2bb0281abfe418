"""Rule: groups of other namespaces do not come into a group's topology domain."""

from collections.abc import Iterable, Iterator
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, groups_of, items, texts
from pulumi_lws.rules.reach import described, namespace_of
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = (
    "Give the leaders a required podAntiAffinity on the same topologyKey with namespaceSelector {}, as MultiNodeVllm"
    " renders it, or nodeSelectors that keep the two apart."
)


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    namespace, question = namespace_of(subject), "whether another namespace's groups come into the same domain"
    for groups, key in _exclusive(subject):
        path = groups.annotation_path(labels.LWS_EXCLUSIVE_TOPOLOGY)
        rivals = (
            (other, their_key)
            for other in context.others
            if HAS_GROUPS(other) and other is not subject and namespace_of(other) != namespace
            for theirs, their_key in _exclusive(other)
            if (key == their_key or UNKNOWN in (key, their_key)) and not _kept_apart(groups, theirs, key)
        )
        rival, their_key = next(rivals, (None, None))
        if rival is None:
            continue
        if UNKNOWN in (key, their_key):
            yield unseen(path, question)
        elif UNKNOWN in (namespace, namespace_of(rival)):
            yield unseen("metadata.namespace", question)
        else:
            found = f"{key}, and {described(rival)} in the namespace {namespace_of(rival)} has the same"
            yield Problem(path, found, "a domain that no other namespace's groups come into", _FIX)


def _exclusive(subject: RegisteredObject) -> Iterator[tuple[Groups, Any]]:
    """Yield the groups of several pods that ask for a domain of their own, with its key."""
    for groups in groups_of(subject):
        key = groups.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY)
        if (key is UNKNOWN or (isinstance(key, str) and key)) and groups.size != 1:
            yield groups, key


def _kept_apart(one: Groups, other: Groups, key: Any) -> bool:
    """Tell whether something keeps the leaders of two sets apart; what cannot be judged counts as if it did."""
    leaders = [groups.templates()[0] for groups in (one, other)]
    if any(
        leader.at("affinity", "nodeAffinity") is not None or _repels(leader.at("affinity"), key) for leader in leaders
    ):
        return True
    ours, theirs = (leader.at("nodeSelector") for leader in leaders)
    if UNKNOWN in (ours, theirs):
        return True
    ours, theirs = texts(ours), texts(theirs)
    return any(ours[label] != theirs[label] for label in ours.keys() & theirs.keys())


def _repels(affinity: Any, key: Any) -> bool:
    """Tell whether pods keep others off over namespaces. Of two sets one is enough: the scheduler heeds both."""
    if affinity is UNKNOWN:
        return True
    terms = value_at(affinity, "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    return any(
        term is UNKNOWN
        or (
            value_at(term, "topologyKey") in (key, UNKNOWN)
            and (value_at(term, "namespaceSelector") is not None or value_at(term, "namespaces") is not None)
        )
        for _, term in items(terms, "")
    )


EXCLUSIVITY_IN_NAMESPACES = Rule(
    name="exclusivity-in-namespaces",
    title="Groups with a topology domain of their own keep off groups of other namespaces, too.",
    why=(
        "The terms that LWS adds for exclusive-topology hold inside one namespace. Two leaders of two namespaces come"
        " onto the same island, its nodes are used up, and both wait for their workers for ever, holding the GPUs. The"
        " rule sees two sets of the same program with the same key; a quota of Kueue does not keep them apart."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=_check,
    looks_around=True,
)
