"""Whether the user's own containers and the engine share what a pod has of its node."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from pulumi_lws.nodes.manifests import HUGEPAGES
from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving import container_checks, placement
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.routing import attached
from pulumi_lws.serving.settings import ModelSettings

_GUARANTEED = ("cpu", "memory")
"""What every container must be limited in, for the pod to be Guaranteed."""

_ENGINE_NEEDS: Mapping[str, Fraction] = {"cpu": Fraction(1), "memory": Fraction(2**30)}
"""What must be left for the engine: with less it would not even start."""

_IN_GIB = ("memory", "ephemeral-storage", "hugepages-")


def sidecar_problems(model: ModelSettings, roles: Sequence[Role]) -> list[Problem]:
    """Return what is wrong with the resources of ``sidecars``, which have the shape that the API wants."""
    problems = [
        problem
        for index, container in enumerate(model.sidecars)
        for problem in _limits(f"sidecars[{index}].resources", container.get("resources") or {})
    ]
    return problems or list(_overdraft(model, roles))


def _limits(path: str, resources: Mapping[str, Any]) -> Iterator[Problem]:
    """Judge one container. Limits alone will do: Kubernetes takes them for the requests too."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    missing = [name for name in _GUARANTEED if name not in limits]
    unequal = [
        name
        for name, quantity in requests.items()
        if name not in limits or placement.amount(quantity) != placement.amount(limits[name])
    ]
    if missing or unequal:
        found = [f"no limit of {name}" for name in missing]
        found += [f"requests.{name} unlike limits.{name}" for name in unequal if name not in missing]
        allowed = "limits of cpu and memory, and no other requests: they are taken from the engine's share of the node"
        yield Problem(path, ", ".join(found), allowed, "Set limits, and leave requests out.")


def _overdraft(model: ModelSettings, roles: Sequence[Role]) -> Iterator[Problem]:
    """Judge what all of them take together, by the smallest of the pods that they stand in."""
    taken: dict[str, Fraction] = {}
    for container in model.sidecars:
        for name, quantity in container["resources"]["limits"].items():
            taken[name] = taken.get(name, Fraction(0)) + (placement.amount(quantity) or 0)
    for name, amount in taken.items():
        # Of other sizes of huge pages there are none; of devices of the user's own nothing is known.
        none = {name: Fraction(0)} if name.startswith("hugepages-") else {}
        lefts = [(left[name], role) for role in roles if name in (left := none | _left(role))]
        if lefts and amount > (least := min(lefts, key=lambda left: left[0]))[0]:
            room, role = least
            gpus = role.shape.gpus_per_pod
            yield Problem(
                "sidecars",
                f"limits of {_shown(name, amount)} {name} together",
                f"{_shown(name, room)} or less: that is left beside the engine in a pod with {gpus} of the"
                f" {role.pool.instance.gpus} GPUs of a {role.pool.instance_type}",
                "Remove it." if room <= 0 else "Lower the limits.",
            )


def _left(role: Role) -> dict[str, Fraction]:
    """Return what a pod of a role has left for containers of the user."""
    left = placement.pod_share(role.pool, role.shape.gpus_per_pod)
    if container_checks.wants_huge_pages(role.settings.environment):
        left[HUGEPAGES] = Fraction(0)
    for container in attached.sidecars(role):
        for name, quantity in container["resources"]["limits"].items():
            left[name] -= placement.amount(quantity) or 0
    return {name: max(amount - _ENGINE_NEEDS.get(name, 0), Fraction(0)) for name, amount in left.items()}


def _shown(name: str, amount: Fraction) -> str:
    number, unit = (amount / 2**30, "Gi") if name.startswith(_IN_GIB) else (amount, "")
    return f"{float(number):.2f}".rstrip("0").removesuffix(".") + unit
