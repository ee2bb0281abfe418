"""Pools of GPU nodes among the resources of a stack, whoever wrote them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.reporting.preview import Resource
from pulumi_lws.rules.groups import texts
from pulumi_lws.rules.values import value_at

NODE_POOL = "karpenter.sh/NodePool"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"

_STATIC_UNLESS_TOLD = ("reservation", "capacity-block")
"""Capacity of pools whose nodes are all there at all times where nothing is said of it, as ``GpuPool`` decides."""


@dataclass(frozen=True)
class Pool:
    """A pool of equal GPU nodes.

    Attributes:
        name: Its name.
        urn: The resource that declares it; empty for one outside the stack, which deployments name.
        instance_types: Types that its nodes may have.
        node_labels: Labels of its nodes.
        least: Nodes that are there, used or not.
        most: Nodes at most; None for no limit.
        bought: How nodes are bought: ``on-demand``, ``spot``, ``reserved``; several with commas.
    """

    name: str
    urn: str
    instance_types: tuple[str, ...]
    node_labels: Mapping[str, str]
    least: int
    most: int | None
    bought: str

    @property
    def gpus_per_node(self) -> int:
        """GPUs of one node: the least of its types; 0 where none is in the catalogue."""
        return min((INSTANCE_TYPES[each].gpus for each in self.instance_types if each in INSTANCE_TYPES), default=0)

    @property
    def family(self) -> str:
        """The pool that it is an island of; its own name where it is none."""
        return self.node_labels.get(labels.POOL, self.name)

    def takes(self, wanted: Mapping[str, frozenset[str]]) -> bool:
        """Tell whether pods that want these labels may run here. What we do not know of its nodes may be there."""
        own = {**self.node_labels}
        if len(self.instance_types) == 1:
            own[labels.INSTANCE_TYPE] = self.instance_types[0]
        foreign = {key for key in wanted if key not in own}
        if labels.POOL in foreign or labels.ISLAND in foreign:
            return False
        return all(own[key] in values for key, values in wanted.items() if key in own)


def pools_of(resources: Mapping[str, Resource]) -> list[Pool]:
    """Return the GPU pools by name: NodePools, node groups of EKS, and pools that only our deployments name."""
    own = [pool for resource in resources.values() for pool in _declared(resource)]
    named = {pool.node_labels.get(labels.POOL) for pool in own}
    others: dict[str, Pool] = {}
    for resource in resources.values():
        if resource.type.startswith("lws:"):
            for name, settings in texts(value_at(resource.inputs, "pools")).items():
                if name not in named and name not in others:
                    others[name] = _named(name, settings)
    return _sorted([*own, *others.values()])


def pools_on_both_sides(before: Mapping[str, Resource], after: Mapping[str, Resource]) -> tuple[list[Pool], list[Pool]]:
    """Return the pools before and after a change. One outside the stack is there on both, whichever names it."""
    old, new = pools_of(before), pools_of(after)
    return _with_outside(old, new), _with_outside(new, old)


def _with_outside(pools: list[Pool], others: list[Pool]) -> list[Pool]:
    known = {pool.family for pool in pools}
    return _sorted([*pools, *(pool for pool in others if not pool.urn and pool.family not in known)])


def _sorted(pools: list[Pool]) -> list[Pool]:
    return sorted(pools, key=lambda pool: (pool.family, pool.name))


def _declared(resource: Resource) -> Iterator[Pool]:
    if resource.kind == NODE_POOL:
        pool = _node_pool(resource)
    elif resource.type == NODE_GROUP:
        pool = _node_group(resource)
    else:
        return
    if pool.gpus_per_node:
        yield pool


def _node_pool(resource: Resource) -> Pool:
    spec = value_at(resource.inputs, "spec")
    wanted = {
        value_at(each, "key"): tuple(map(str, value_at(each, "values", default=())))
        for each in value_at(spec, "template", "spec", "requirements", default=())
        if value_at(each, "operator") == "In"
    }
    types = wanted.get(labels.INSTANCE_TYPE, ())
    single = {str(key): values[0] for key, values in wanted.items() if len(values) == 1}
    static = _count(value_at(spec, "replicas"))
    most = static if static is not None else _count(value_at(spec, "limits", "nodes"))
    gpus = _count(value_at(spec, "limits", labels.GPU))
    per_node = min((INSTANCE_TYPES[each].gpus for each in types if each in INSTANCE_TYPES), default=0)
    if most is None and gpus is not None and per_node:
        most = gpus // per_node
    node_labels = {str(key): str(value) for key, value in _labels(spec).items()}
    return Pool(
        name=resource.own_name,
        urn=resource.urn,
        instance_types=types,
        node_labels=single | node_labels | {labels.NODE_POOL: resource.own_name},
        least=static or 0,
        most=most,
        bought=", ".join(wanted.get(labels.CAPACITY_TYPE, ("on-demand",))),
    )


def _node_group(resource: Resource) -> Pool:
    scaling = value_at(resource.inputs, "scalingConfig")
    types = value_at(resource.inputs, "instanceTypes", default=())
    bought = str(value_at(resource.inputs, "capacityType", default="ON_DEMAND"))
    return Pool(
        name=str(value_at(resource.inputs, "nodeGroupName", default=resource.name)),
        urn=resource.urn,
        instance_types=tuple(map(str, types)) if isinstance(types, list) else (),
        node_labels={str(key): str(value) for key, value in texts(value_at(resource.inputs, "labels")).items()},
        least=_count(value_at(scaling, "desiredSize")) or 0,
        most=_count(value_at(scaling, "maxSize")),
        bought=bought.lower().replace("_", "-"),
    )


def _named(name: str, settings: Any) -> Pool:
    """Return a pool that stands outside the stack; unless it is static, its nodes are counted where they are used."""
    islands, nodes = _count(value_at(settings, "islands")) or 0, _count(value_at(settings, "nodes")) or 0
    most = islands * (_count(value_at(settings, "nodesPerIsland")) or 1) or nodes
    bought = str(value_at(settings, "capacity", "kind", default="on-demand"))
    static = value_at(settings, "static")
    return Pool(
        name=name,
        urn="",
        instance_types=(str(value_at(settings, "instanceType", default="")),),
        node_labels={labels.POOL: name},
        least=most if (bought in _STATIC_UNLESS_TOLD if static is None else static is True) else 0,
        most=most,
        bought=bought,
    )


def _labels(spec: Any) -> Mapping[str, Any]:
    return texts(value_at(spec, "template", "metadata", "labels"))


def _count(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
