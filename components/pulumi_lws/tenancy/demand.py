"""What runs in the namespace of a team takes at once at most: what its quota must hold.

Counted as the quota's own evaluator does: every pod with all its containers, since pods that wait or end count too.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.serving.pod_amounts import Side, pod_amounts
from pulumi_lws.tenancy.workloads import TeamWorkload

QUOTA_KEYS: Mapping[tuple[Side, str], str] = {
    ("requests", labels.GPU): f"requests.{labels.GPU}",
    ("requests", labels.EFA): f"requests.{labels.EFA}",
    ("requests", "cpu"): "requests.cpu",
    ("requests", "memory"): "requests.memory",
    ("limits", "memory"): "limits.memory",
}
"""What a quota counts, by its side of ``resources`` and its name. A limit of CPU is none of it: whoever has none may
use what is idle, and a quota of it would refuse such pods."""

Amounts = Counter[str]
"""Amounts by what a quota calls them: numbers of devices, CPUs in thousandths, bytes."""


def needed(workloads: Iterable[TeamWorkload]) -> Amounts:
    """Return what workloads take together, each in a rollout."""
    together, in_turn = Amounts(), Amounts()
    for workload in workloads:
        if workload.in_turn:
            in_turn |= demand(workload)
        else:
            together += demand(workload)
    return together + in_turn


def demand(workload: TeamWorkload, *, rolling: bool = True) -> Amounts:
    """Return what the pods of a workload take at most; with ``rolling`` also what comes on top in a rollout."""
    total: Amounts = Counter()
    for pods in workload.pods:
        count = pods.serving + (pods.rolling if rolling else 0)
        for key, amount in amounts_of_pod(pods.spec).items():
            total[key] += count * amount
    return total


def amounts_of_pod(spec: Mapping[str, Any]) -> Amounts:
    """Return what one pod takes: its containers together, or what an init container needs beside those before it."""
    sides: dict[Side, dict[str, Fraction]] = {side: pod_amounts(spec, side) for side in ("requests", "limits")}
    amounts: Amounts = Counter()
    for (side, name), key in QUOTA_KEYS.items():
        amount = sides[side].get(name, Fraction(0)) * (1000 if name == "cpu" else 1)
        amounts[key] = -(-amount.numerator // amount.denominator)
    return amounts
