"""What the deployments of a team take at once at most: what its quota must hold.

Counted as the quota's own evaluator does: every pod with all its containers, since pods that wait or end count too.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.serving import placement
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.pods import pod_spec
from pulumi_lws.serving.render import render
from pulumi_lws.serving.settings import DeploymentArgs

QUOTA_KEYS: Mapping[tuple[str, str], str] = {
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


@dataclass(frozen=True)
class Pods:
    """Equal pods.

    Attributes:
        spec: Their spec, as the Kubernetes API has it.
        serving: How many there are at most.
        rolling: How many come on top during a rollout.
    """

    spec: Mapping[str, Any]
    serving: int
    rolling: int


def pods_of(args: DeploymentArgs) -> Iterator[Pods]:
    """Yield all pods of a deployment: the copies of its roles, and its router."""
    roles = roles_of(args)[0]
    for role in roles:
        copies, surge = role.settings.most_replicas, role.surge
        yield Pods(pod_spec(role, "leader"), copies, surge)
        if workers := role.shape.size - 1:
            yield Pods(pod_spec(role, "worker"), copies * workers, surge * workers)
    for manifest in render(args, roles).beside.values():
        if manifest["kind"] == "Deployment":
            spec = manifest["spec"]
            surge = spec["strategy"]["rollingUpdate"]["maxSurge"]
            yield Pods(spec["template"]["spec"], spec["replicas"], surge)


def demand(args: DeploymentArgs, *, rolling: bool = True) -> Amounts:
    """Return what the pods of a deployment take at most; with ``rolling`` also what comes on top in a rollout."""
    total: Amounts = Counter()
    for pods in pods_of(args):
        count = pods.serving + (pods.rolling if rolling else 0)
        for key, amount in amounts_of_pod(pods.spec).items():
            total[key] += count * amount
    return total


def amounts_of_pod(spec: Mapping[str, Any]) -> Amounts:
    """Return what one pod takes: its containers together, or what an init container needs beside those before it."""
    return Counter({key: _amount(spec, side, name) for (side, name), key in QUOTA_KEYS.items()})


def _amount(spec: Mapping[str, Any], side: str, name: str) -> int:
    running = sum(_of_container(container, side, name) for container in spec["containers"])
    staying, peak = Fraction(0), Fraction(0)
    for container in spec.get("initContainers", ()):
        own = _of_container(container, side, name)
        if container.get("restartPolicy") == "Always":
            staying += own
        peak = max(peak, staying if container.get("restartPolicy") == "Always" else staying + own)
    amount = max(running + staying, peak) * (1000 if name == "cpu" else 1)
    return -(-amount.numerator // amount.denominator)


def _of_container(container: Mapping[str, Any], side: str, name: str) -> Fraction:
    resources = container.get("resources") or {}
    # Kubernetes takes a limit for the request, too, where there is none.
    values = (resources.get("limits") or {}) | ((resources.get("requests") or {}) if side == "requests" else {})
    return placement.amount(values.get(name)) or Fraction(0)
