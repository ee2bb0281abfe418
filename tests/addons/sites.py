"""Places that add-ons are installed at, and add-ons as stack files declare them."""

from typing import Any

from pulumi_lws.addons.addon import Site
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.checks import add_on_problems
from pulumi_lws.addons.installation import Installation, installation
from pulumi_lws.addons.settings import ADD_ON_NAMES, AddOnName, AddOns
from pulumi_lws.nodes.settings import GpuPool

ALL: dict[str, Any] = {facts.key: {} for facts in ADD_ONS.values()}
"""Every add-on, as it is pinned."""

P5 = GpuPool.model_validate({"instanceType": "p5.48xlarge", "islands": 2, "nodesPerIsland": 2})
B200 = GpuPool.model_validate({"instanceType": "p6-b200.48xlarge", "nodes": 2, "taints": [{"key": "mine"}]})
SMALL = GpuPool.model_validate({"instanceType": "g6e.xlarge", "nodes": 2})


def add_ons(**declared: Any) -> AddOns:
    return AddOns.model_validate(declared)


def site(declared: AddOns, **changes: Any) -> Site:
    """A new cluster of ours with a Karpenter of its own and a pool with EFA."""
    usual: dict[str, Any] = {"mode": "karpenter", "is_new": True, "pools": {"p5": P5}, "image": "al2023@v20260901"}
    return Site(installed=frozenset(name for name, _ in declared.installed()), **usual | changes)


def decided(name: AddOnName, declared: AddOns | None = None, **changes: Any) -> Installation:
    """How one add-on is installed; by default together with all others."""
    declared = declared or add_ons(**ALL)
    return installation(ADD_ONS[name], getattr(declared, name), declared, site(declared, **changes))


def said(declared: AddOns, **changes: Any) -> list[str]:
    """Every problem in words, with its severity before it."""
    return [f"{problem.severity}: {problem}" for problem in add_on_problems(declared, site(declared, **changes))]


def alone(name: AddOnName, **declared: Any) -> AddOns:
    """One add-on and no other."""
    assert name in ADD_ON_NAMES
    return add_ons(**{ADD_ONS[name].key: declared})
