"""Rule: namespaces that share accelerators have a quota of them."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.around import grouped
from pulumi_lws.rules.groups import HAS_GROUPS, groups_of, texts
from pulumi_lws.rules.pods import pods_of
from pulumi_lws.rules.rule import Context, Parameter, Program, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

_QUOTA = f"requests.{labels.GPU}"
_FIX = f"Add a ResourceQuota with {_QUOTA}, as teams of a platform have it, or have its pods join a queue of Kueue."


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    name = value_at(subject.properties, "metadata", "name")
    if not isinstance(name, str | Unknown):
        return
    takers = context.others.once(_takers)
    needed = context.values["everywhere"] or _shares(name, takers)
    quotas = context.others.once(_quotas)
    near = chain(*quotas.values()) if name is UNKNOWN else (*quotas.get(name, ()), *quotas.get(UNKNOWN, ()))
    bounded = [_bounds(quota, name) for quota in near]
    if not needed or True in bounded:
        return
    if UNKNOWN in (needed, *bounded):
        yield unseen("metadata.name", "whether its accelerators have a quota")
    else:
        found = f"{name}, without a quota of accelerators"
        yield Problem("metadata.name", found, f"a namespace with a ResourceQuota of {_QUOTA}", _FIX)


def _shares(name: Any, takers: AbstractSet[Any]) -> Any:
    """Tell whether pods of a namespace and pods of others take accelerators: True, False or UNKNOWN."""
    if name is UNKNOWN or UNKNOWN in takers:
        return UNKNOWN if takers and (len(takers) > 1 or name not in takers) else False
    return name in takers and len(takers) > 1


def _takers(program: Program) -> AbstractSet[Any]:
    return {_namespace(each) for each in program if _takes_freely(each)}


def _quotas(program: Program) -> Mapping[Any, Sequence[RegisteredObject]]:
    return grouped((_namespace(each), each) for each in program if each.kind == "core/ResourceQuota")


def _takes_freely(other: RegisteredObject) -> bool:
    """Tell whether pods of an object take accelerators that no queue counts."""
    if not any(pods.has_accelerators for pods in pods_of(other)):
        return False
    holders = [groups.metadata for groups in groups_of(other)] if HAS_GROUPS(other) else []
    holders = holders or [value_at(other.properties, "metadata")]
    return any(value_at(metadata, "labels", labels.KUEUE_QUEUE) is None for metadata in holders)


def _bounds(quota: RegisteredObject, name: Any) -> Any:
    """Tell whether a quota bounds the accelerators of a namespace: True, False or UNKNOWN."""
    hard = value_at(quota.properties, "spec", "hard")
    is_meant = hard is UNKNOWN or any(
        str(key).startswith("requests.") and str(key).endswith(("/gpu", "/tpu")) for key in texts(hard)
    )
    where = _namespace(quota)
    if not is_meant or (where != name and UNKNOWN not in (where, name)):
        return False
    return UNKNOWN if UNKNOWN in (hard, where, name) else True


def _namespace(other: RegisteredObject) -> Any:
    namespace = value_at(other.properties, "metadata", "namespace", default="default")
    return namespace if namespace is UNKNOWN else str(namespace)


NAMESPACE_QUOTA = Rule(
    name="namespace-quota",
    title="Namespaces that share the accelerators of a cluster have a quota of them.",
    why=(
        "Without one the first team that scales takes the GPUs of all others, and their next rollout waits for ever."
        " Judged are the namespaces that the program makes, where pods of at least two take accelerators outside of a"
        " queue of Kueue; a single one is bounded by its pools."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind("core/Namespace"),
    check=_check,
    parameters={
        "everywhere": Parameter(
            {
                "type": "boolean",
                "description": "Whether every namespace has such a quota, whatever is seen of its pods.",
            },
            False,
        )
    },
    house=True,
    looks_around=True,
)
