"""Rule: a NodePool of GPUs has a limit, keeps loaded models where they are, and stays in one zone."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pulumi_lws.facts import labels
from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import items
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Declare the pool as a GpuPool, which renders all of this, or set the field."
_SPEC: Final = ("spec", "template", "spec")
_DOMAINS: Final = {"karpenter.k8s.aws": "eks.amazonaws.com", "eks.amazonaws.com": "karpenter.k8s.aws"}
"""Domain of the labels of instances, by group of the node class, and the one that never matches there."""


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    pool = subject.properties
    requirements = [one for _, one in items(value_at(pool, *_SPEC, "requirements"), "")]
    if UNKNOWN in (value_at(one, "key") for one in requirements):
        yield unseen("spec.template.spec.requirements", "whether the pool has GPUs")
        return
    asked = {key: one for one in requirements if isinstance(key := value_at(one, "key"), str)}
    yield from _domain(pool, asked)
    if not _has_gpus(pool, asked):
        return
    if value_at(pool, "spec", "limits") is None and value_at(pool, "spec", "replicas") is None:
        yield Problem(
            "spec.limits", "nothing", "a limit, in nodes or nvidia.com/gpu: each node costs by the hour", _FIX
        )
    policy = value_at(pool, "spec", "disruption", "consolidationPolicy", default="WhenEmptyOrUnderutilized")
    if policy is UNKNOWN:
        yield unseen("spec.disruption.consolidationPolicy", "whether loaded models are moved")
    elif policy != "WhenEmpty":
        allowed = "WhenEmpty: any other moves loaded models to save a node"
        yield Problem("spec.disruption.consolidationPolicy", str(policy), allowed, _FIX)
    if value_at(pool, *_SPEC, "taints") is None:
        allowed = "a taint such as nvidia.com/gpu: else any pod may take a node of GPUs"
        yield Problem("spec.template.spec.taints", "nothing", allowed, _FIX)
    zones = value_at(asked.get(labels.ZONE), "values")
    where = f"spec.template.spec.requirements['{labels.ZONE}']"
    if not _is_for_groups(asked):
        return
    if zones is UNKNOWN:
        yield unseen(where, "whether the pool stays in one zone")
    elif not isinstance(zones, list | tuple) or len(zones) != 1:
        allowed = "one zone: EFA does not leave a zone, and a placement group lies in one"
        yield Problem(where, "none or several", allowed, _FIX)


def _domain(pool: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterable[Problem]:
    group = value_at(pool, *_SPEC, "nodeClassRef", "group")
    foreign = _DOMAINS.get(group) if isinstance(group, str) else None
    for key in asked:
        if foreign and key.startswith(f"{foreign}/instance-"):
            where = f"spec.template.spec.requirements['{key}']"
            yield Problem(where, key, f"{group}/{key.partition('/')[2]}: nodes of that class have no other", _FIX)


def _has_gpus(pool: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    limits = value_at(pool, "spec", "limits")
    if isinstance(limits, Mapping) and labels.GPU in limits:
        return True
    return bool(_types(asked)) or any(key.endswith(("/instance-gpu-count", "/instance-gpu-name")) for key in asked)


def _types(asked: Mapping[str, Any]) -> list[str]:
    """Return the instance types with GPUs that a pool names."""
    named = value_at(asked.get(labels.INSTANCE_TYPE), "values")
    types = named if isinstance(named, list | tuple) else ()
    return [one for one in types if isinstance(one, str) and one in INSTANCE_TYPES]


def _is_for_groups(asked: Mapping[str, Any]) -> bool:
    """Tell whether groups span the nodes of a pool: those of the P family have EFA for all of their GPUs."""
    return any(one.startswith("p") and INSTANCE_TYPES[one].efa_interfaces for one in _types(asked))


NODE_POOL_HYGIENE = Rule(
    name="node-pool-hygiene",
    title="A NodePool of GPUs has a limit, a taint and one zone, and gives up only empty nodes.",
    why=(
        "Without a limit a loop that makes pods buys nodes at about $50 an hour each; without a taint a log shipper"
        " gets one of its own; consolidation moves a model that took half an hour to load; and over two zones the pods"
        " of a group do not reach each other by EFA."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind("karpenter.sh/NodePool"),
    check=_check,
    house=True,
)
