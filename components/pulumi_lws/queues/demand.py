"""What the copies of a role request, as Kueue counts it."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pulumi_lws.serving import placement, pods
from pulumi_lws.serving.roles import Role


def copy_requests(role: Role) -> dict[str, Fraction]:
    """Return what one copy of a role requests: its leader and all of its workers."""
    total = pod_requests(pods.pod_spec(role, "leader"))
    if (workers := role.shape.size - 1) > 0:
        for name, amount in pod_requests(pods.pod_spec(role, "worker")).items():
            total[name] = total.get(name, Fraction(0)) + workers * amount
    return total


def pod_requests(spec: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return what a pod requests.

    Containers and sidecars run together. An init container runs beside the sidecars that stand before it, so the pod
    needs as much as the most of these moments does.
    """
    running: dict[str, Fraction] = {}
    most: dict[str, Fraction] = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            _add(running, _requests(container))
        else:
            moment = dict(running)
            _add(moment, _requests(container))
            _raise(most, moment)
    for container in spec["containers"]:
        _add(running, _requests(container))
    _raise(most, running)
    return most


def _requests(container: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return what a container requests; Kubernetes takes its limits where it says nothing else."""
    resources = container.get("resources") or {}
    named = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: placement.amount(quantity) or Fraction(0) for name, quantity in named.items()}


def _add(total: dict[str, Fraction], more: Mapping[str, Fraction]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, Fraction(0)) + amount


def _raise(most: dict[str, Fraction], moment: Mapping[str, Fraction]) -> None:
    for name, amount in moment.items():
        most[name] = max(most.get(name, Fraction(0)), amount)
