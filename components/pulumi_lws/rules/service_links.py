"""Rule: no Service gives vLLM a variable that it takes for one of its own."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, groups_of
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

VARIABLES: Final[Mapping[str, str]] = {
    "vllm": "VLLM_PORT",
    "vllm-dp-master": "VLLM_DP_MASTER_PORT",
    "vllm-nixl-side-channel": "VLLM_NIXL_SIDE_CHANNEL_PORT",
}
"""What Kubernetes makes of the name of a Service, where vLLM reads a port from it."""

_FIX = "Set enableServiceLinks to false in all pods of the namespace, or give the Service another name."


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    service = subject.properties
    name = value_at(service, "metadata", "name")
    # A headless Service has no address that pods could be told.
    if (name is not UNKNOWN and str(name) not in VARIABLES) or value_at(service, "spec", "clusterIP") == "None":
        return
    linked = [
        (other, sure) for other in context.others if (sure := _is_linked(other, _namespace(service))) is not False
    ]
    if not linked:
        return
    surely = [other for other, sure in linked if sure]
    if name is UNKNOWN or not surely:
        yield unseen("metadata.name", "whether pods get a variable of vLLM from it")
        return
    of = value_at(surely[0].properties, "metadata", "name", default="groups")
    whose = "groups of this namespace" if of is UNKNOWN else str(of)
    found = f"{name}, which sets {VARIABLES[str(name)]} in the pods of {whose}"
    yield Problem("metadata.name", found, "a name that sets no variable of vLLM", _FIX)


def _is_linked(subject: RegisteredObject, namespace: Any) -> bool | None:
    """Tell whether some pods of an object get variables of every Service of a namespace; None if that is not known."""
    own = _namespace(subject.properties)
    if not HAS_GROUPS(subject) or (own != namespace and UNKNOWN not in (own, namespace)):
        return False
    templates = [template for groups in groups_of(subject) for template in groups.templates()]
    links = [template.at("enableServiceLinks", default=True) for template in templates]
    if True in links and own == namespace:
        return True
    return None if True in links or UNKNOWN in links else False


def _namespace(manifest: Any) -> Any:
    return value_at(manifest, "metadata", "namespace", default="default")


SERVICE_LINKS = Rule(
    name="service-links",
    title="No Service sets a variable of vLLM in the pods of groups.",
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
