"""Rule: the pods of a group with whole nodes of GPUs take the EFA interfaces of their nodes."""

from collections.abc import Iterable, Mapping
from typing import Final

from pulumi_lws.facts import labels
from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import gpus_of
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, Template, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

_FIX = "Request vpc.amazonaws.com/efa in the limits: 32 for a whole p5.48xlarge, its share for a part of one."

_EVERY: Final[Mapping[str, tuple[int, int]]] = {
    name: (instance.gpus, instance.efa_interfaces) for name, instance in INSTANCE_TYPES.items()
}
"""GPUs and EFA interfaces of an instance type."""


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    size = groups.size
    if isinstance(size, int) and size < 2:
        return
    for template in groups.templates():
        for path, container in template.containers():
            gpus = gpus_of(container)
            if isinstance(gpus, Unknown):
                yield unseen(f"{path}.resources", "whether the pods take EFA")
            elif gpus:
                yield from _of_container(path, template, container, gpus)


def _of_container(path: str, template: Template, container: object, gpus: int) -> Iterable[Problem]:
    where = f"{path}.resources.limits['{labels.EFA}']"
    taken = value_at(container, "resources", "limits", labels.EFA)
    if taken is UNKNOWN:
        yield unseen(where, "whether the pods take EFA")
        return
    instance = template.at("nodeSelector", labels.INSTANCE_TYPE)
    per_node = _EVERY.get(instance) if isinstance(instance, str) else None
    share = per_node[1] * gpus // per_node[0] if per_node and per_node[0] else None
    if share == 0:
        return
    if taken is None:
        allowed = "a share of the node's interfaces" if share is None else f"{share}, for {gpus} GPUs of {instance}"
        yield Problem(where, "nothing", f"{allowed}: without EFA, NCCL goes by TCP", _FIX)
    elif share is not None and str(taken).removesuffix(".0") != str(share):
        yield Problem(where, str(taken), f"{share}, for {gpus} GPUs of {instance}", _FIX)


EFA_REQUESTED = Rule(
    name="efa-requested",
    title="Groups over several nodes with GPUs take the EFA interfaces that belong to them.",
    why=(
        "Without the request the pod gets no interface, NCCL falls back to TCP without a word, and a model over two"
        " nodes runs slower than on one (https://github.com/aws/aws-ofi-nccl/issues/1063)."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
    house=True,
)
