"""Rule: no Service has the name of the one that LWS makes for the addresses of pods."""

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.around import grouped
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Context, Program, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Give the Service another name, such as <name>-leader."


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    service = subject.properties
    if _is_meant_for_peers(service):
        return
    for other in _near(service, context.others):
        ours, theirs = _namespace(service), _namespace(other.properties)
        is_open = UNKNOWN in (ours, theirs)
        for problem in _judge(value_at(service, "metadata", "name"), other.properties):
            question = "whether a LeaderWorkerSet of that name is in the same namespace"
            yield unseen("metadata.namespace", question) if is_open else problem
            return


_VAGUE: Final = ("", "")


def _sets(program: Program) -> Mapping[tuple[str, str], list[RegisteredObject]]:
    """Return the LeaderWorkerSets by namespace and name; those of which one is not known yet under ``_VAGUE``."""
    return grouped(
        (_VAGUE if UNKNOWN in (place := _place(each.properties)) else (repr(place[0]), str(place[1])), each)
        for each in program
        if each.kind == LEADER_WORKER_SET
    )


def _near(service: Any, program: Program) -> Iterable[RegisteredObject]:
    """Return the LeaderWorkerSets that may need the name of a Service."""
    sets, (namespace, name) = program.once(_sets), _place(service)
    if UNKNOWN in (namespace, name):
        found = chain(*sets.values())
    else:
        stems = {str(name): None, re.sub(r"-[0-9]+$", "", str(name)): None}
        found = chain(*(sets.get((repr(namespace), stem), ()) for stem in stems), sets.get(_VAGUE, ()))
    return (one for one in found if namespace in (UNKNOWN, theirs := _namespace(one.properties)) or theirs is UNKNOWN)


def _place(manifest: Any) -> tuple[Any, Any]:
    return _namespace(manifest), value_at(manifest, "metadata", "name")


def _judge(name: Any, groups: Any) -> Iterable[Problem]:
    set_name = value_at(groups, "metadata", "name")
    policy = value_at(groups, "spec", "networkConfig", "subdomainPolicy", default="Shared")
    if UNKNOWN in (name, set_name, policy):
        yield unseen("metadata.name", "whether LWS needs the name for the addresses of pods")
    elif name is None or set_name is None:
        return
    elif policy == "UniquePerReplica":
        if re.fullmatch(re.escape(str(set_name)) + "-[0-9]+", str(name)):
            yield _taken(name, f"a group of the LeaderWorkerSet {set_name}")
    elif name == set_name:
        yield _taken(name, "a LeaderWorkerSet of the same namespace")


def _taken(name: Any, by: str) -> Problem:
    return Problem("metadata.name", f"{name}, the name of {by}", "a name that LWS does not need", _FIX)


def _is_meant_for_peers(service: Any) -> bool:
    """Tell whether somebody made by hand what LWS would make: it serves as well."""
    return (
        value_at(service, "spec", "clusterIP") == "None"
        and value_at(service, "spec", "publishNotReadyAddresses") is True
    )


def _namespace(manifest: Any) -> Any:
    return value_at(manifest, "metadata", "namespace", default="default")


SHADOWING_SERVICE = Rule(
    name="shadowing-service",
    title="No Service has the name of a LeaderWorkerSet, or of a group with a subdomain of its own.",
    why=(
        "LWS makes a headless Service of that name for the addresses of its pods, and silently leaves one alone that"
        " is there already: no pod would find its leader."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind("core/Service"),
    check=_check,
    looks_around=True,
)
