"""Rule: groups of other namespaces do not come into a group's topology domain."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, groups_of, items, texts
from pulumi_lws.rules.reach import described, namespace_of
from pulumi_lws.rules.rule import Context, Program, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = (
    "Give the leaders a required podAntiAffinity on the same topologyKey with namespaceSelector {}, as MultiNodeVllm"
    " renders it, or nodeSelectors that keep the two apart."
)


@dataclass(frozen=True)
class _Rival:
    """A group that asks for a domain of its own.

    Attributes:
        number: Its place in the program.
        owner: The object that declares it.
        key: The topology key.
        selector: Labels that nodes of its leader must have, each value as ``repr``.
    """

    number: int
    owner: RegisteredObject
    key: Any
    selector: Mapping[str, str]


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    namespace, question = namespace_of(subject), "whether another namespace's groups come into the same domain"
    rivals = context.others.once(_Rivals)
    for groups, key in _exclusive(subject):
        path = groups.annotation_path(labels.LWS_EXCLUSIVE_TOPOLOGY)
        selector = _selector(groups, key)
        rival = None if selector is None else rivals.of(namespace, key, selector)
        if rival is None:
            continue
        if UNKNOWN in (key, rival.key):
            yield unseen(path, question)
        elif UNKNOWN in (namespace, namespace_of(rival.owner)):
            yield unseen("metadata.namespace", question)
        else:
            found = f"{key}, and {described(rival.owner)} in the namespace {namespace_of(rival.owner)} has the same"
            yield Problem(path, found, "a domain that no other namespace's groups come into", _FIX)


class _Rivals:
    """The groups of a program that nothing but node selectors keeps apart, to be found without a look at each.

    Two leaders are kept apart where their selectors want different values of a label that both name. Programs have
    many groups and few sets of labels that selectors name. So groups stand by key and by these labels; and within, for
    the labels that another selector has in common with them, by values and namespace.
    """

    def __init__(self, program: Program) -> None:
        self._alike: dict[str, dict[tuple[str, ...], list[_Rival]]] = {}
        self._first: dict[tuple[str, tuple[str, ...], tuple[str, ...]], dict[Any, dict[str, _Rival]]] = {}
        for number, owner in enumerate(program):
            for groups, key in _exclusive(owner) if HAS_GROUPS(owner) else ():
                selector = _selector(groups, key)
                if selector is not None:
                    alike = self._alike.setdefault(repr(key), {}).setdefault(tuple(sorted(selector)), [])
                    alike.append(_Rival(number, owner, key, selector))

    def of(self, namespace: Any, key: Any, selector: Mapping[str, str]) -> _Rival | None:
        """Return the first group of another namespace that may come into the same domain."""
        keys = self._alike if key is UNKNOWN else {repr(key), repr(UNKNOWN)} & self._alike.keys()
        found = [
            rival
            for own_key in keys
            for names in self._alike[own_key]
            for rival in islice(self._others(namespace, own_key, names, selector), 1)
        ]
        return min(found, key=lambda rival: rival.number, default=None)

    def _others(
        self, namespace: Any, key: str, names: tuple[str, ...], selector: Mapping[str, str]
    ) -> Iterator[_Rival]:
        """Yield the first group of each other namespace whose selector has these names and agrees with another."""
        shared = tuple(name for name in names if name in selector)
        if (key, names, shared) not in self._first:
            first = self._first[key, names, shared] = {}
            for rival in self._alike[key][names]:
                values = tuple(rival.selector[name] for name in shared)
                first.setdefault(values, {}).setdefault(repr(namespace_of(rival.owner)), rival)
        agreeing = self._first[key, names, shared].get(tuple(selector[name] for name in shared), {})
        return (rival for where, rival in agreeing.items() if where != repr(namespace))


def _exclusive(subject: RegisteredObject) -> Iterator[tuple[Groups, Any]]:
    """Yield the groups of several pods that ask for a domain of their own, with its key."""
    for groups in groups_of(subject):
        key = groups.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY)
        if (key is UNKNOWN or (isinstance(key, str) and key)) and groups.size != 1:
            yield groups, key


def _selector(groups: Groups, key: Any) -> Mapping[str, str] | None:
    """Return the labels that nodes of a leader must have, each value as ``repr``.

    None where something else keeps it apart from others; what cannot be judged counts as if it did.
    """
    leader = groups.templates()[0]
    affinity, selector = leader.at("affinity"), leader.at("nodeSelector")
    if selector is UNKNOWN or value_at(affinity, "nodeAffinity") is not None or _repels(affinity, key):
        return None
    return {str(label): repr(value) for label, value in texts(selector).items()}


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
