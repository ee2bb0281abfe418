"""Rule: no Service gives vLLM a variable that it takes for one of its own."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.around import grouped
from pulumi_lws.rules.engine_starts import starts_of
from pulumi_lws.rules.groups import HAS_GROUPS
from pulumi_lws.rules.pods import Pods, pods_of
from pulumi_lws.rules.reach import namespace_of
from pulumi_lws.rules.rule import Context, Program, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

VARIABLES: Final[Mapping[str, str]] = {
    "vllm": "VLLM_PORT",
    "vllm-dp-master": "VLLM_DP_MASTER_PORT",
    "vllm-nixl-side-channel": "VLLM_NIXL_SIDE_CHANNEL_PORT",
}
"""What Kubernetes makes of the name of a Service, where vLLM reads a port from it."""

_FIX = "Set enableServiceLinks to false in all pods of the namespace, or give the Service another name."


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    service = subject.properties
    name, kind = value_at(service, "metadata", "name"), value_at(service, "spec", "type")
    # A headless Service has no address that pods could be told, and neither has a name for something outside.
    has_address = value_at(service, "spec", "clusterIP") != "None" and kind != "ExternalName"
    if not has_address or (name is not UNKNOWN and str(name) not in VARIABLES):
        return
    linked, namespace = context.others.once(_linked), namespace_of(subject)
    near = linked if namespace is UNKNOWN else (repr(namespace), repr(UNKNOWN))
    found = [each for where in near for each in linked.get(where, ())]
    surely = [owner for owner, is_sure in found if is_sure and namespace_of(owner) == namespace]
    if not found:
        return
    if UNKNOWN in (name, kind) or not surely:
        yield unseen("metadata.name", "whether pods get a variable of vLLM from it")
        return
    of = value_at(surely[0].properties, "metadata", "name", default="this namespace")
    whose = "this namespace" if of is UNKNOWN else str(of)
    said = f"{name}, which sets {VARIABLES[str(name)]} in the pods of {whose}"
    yield Problem("metadata.name", said, "a name that sets no variable of vLLM", _FIX)


def _linked(program: Program) -> Mapping[str, list[tuple[RegisteredObject, bool]]]:
    """Return the objects whose pods run vLLM and get variables of every Service, each with whether both are known.

    They stand by the ``repr`` of their namespaces.
    """
    verdicts = ((owner, _is_linked(owner)) for owner in program)
    return grouped(
        (repr(namespace_of(owner)), (owner, verdict is True)) for owner, verdict in verdicts if verdict is not False
    )


def _is_linked(owner: RegisteredObject) -> Any:
    """Tell whether an object is such a one: True, False or UNKNOWN."""
    made = list(pods_of(owner))
    runs = [_runs_vllm(pods) for pods in made]
    if HAS_GROUPS(owner):
        # The workers of a group run what its leader runs, by whatever script they join.
        runs = [_any(runs)] * len(made)
    links = [pods.at("enableServiceLinks", default=True) for pods in made]
    return _any([_any([link]) if run is True else run for run, link in zip(runs, links, strict=True) if link])


def _any(verdicts: Sequence[Any]) -> Any:
    return True if True in verdicts else UNKNOWN if UNKNOWN in verdicts else False


def _runs_vllm(pods: Pods) -> Any:
    starts = [starts_of(path, container) for path, container in pods.containers()]
    return _any([UNKNOWN if isinstance(each, Unknown) else "vllm" in {one.engine for one in each} for each in starts])


SERVICE_LINKS = Rule(
    name="service-links",
    title="No Service sets a variable of vLLM in pods that run it.",
    why=(
        "Kubernetes gives every pod variables for each Service of its namespace. For one called vllm it sets VLLM_PORT"
        " to tcp://…, where vLLM expects a number and does not start"
        " (https://github.com/vllm-project/vllm/issues/34199)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind("core/Service"),
    check=_check,
    looks_around=True,
)
