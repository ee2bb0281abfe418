"""What a pod takes of its node, as Kubernetes, its quotas and Kueue count it."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

from pulumi_lws.serving import placement

Side = Literal["requests", "limits"]
"""A side of ``resources``."""


def pod_amounts(spec: Mapping[str, Any], side: Side) -> dict[str, Fraction]:
    """Return what a pod requests, or what it is limited to, by name in units of each resource.

    Containers and sidecars run together. An init container runs beside the sidecars that stand before it, so the pod
    needs as much as the most of these moments does.
    """
    running: dict[str, Fraction] = {}
    most: dict[str, Fraction] = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            _add(running, _of_container(container, side))
        else:
            moment = dict(running)
            _add(moment, _of_container(container, side))
            _raise(most, moment)
    for container in spec["containers"]:
        _add(running, _of_container(container, side))
    _raise(most, running)
    return most


def _of_container(container: Mapping[str, Any], side: Side) -> dict[str, Fraction]:
    resources = container.get("resources") or {}
    # Kubernetes takes a limit for the request, too, where there is none.
    named = {**(resources.get("limits") or {}), **((resources.get("requests") or {}) if side == "requests" else {})}
    return {name: placement.amount(quantity) or Fraction(0) for name, quantity in named.items()}


def _add(total: dict[str, Fraction], more: Mapping[str, Fraction]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, Fraction(0)) + amount


def _raise(most: dict[str, Fraction], moment: Mapping[str, Fraction]) -> None:
    for name, amount in moment.items():
        most[name] = max(most.get(name, Fraction(0)), amount)
