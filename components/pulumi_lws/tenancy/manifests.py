"""The objects of a team, rendered from what was declared and from what runs for it takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.tenancy import network
from pulumi_lws.tenancy.demand import Amounts, needed
from pulumi_lws.tenancy.needs import level_of, reason
from pulumi_lws.tenancy.settings import Team, TeamQuota
from pulumi_lws.tenancy.workloads import TeamWorkload

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""

GIB = 2**30


@dataclass(frozen=True)
class QuotaField:
    """What a field of ``TeamQuota`` bounds.

    Attributes:
        keys: What a ResourceQuota calls it.
        thing: What people call it.
        unit: How much one of the field is, as ``demand`` counts.
    """

    keys: tuple[str, ...]
    thing: str
    unit: int = 1


QUOTA_FIELDS: Mapping[str, QuotaField] = {
    "gpus": QuotaField((f"requests.{labels.GPU}",), "GPUs"),
    "efa_interfaces": QuotaField((f"requests.{labels.EFA}",), "EFA interfaces"),
    "cpus": QuotaField(("requests.cpu",), "CPUs", 1000),
    "memory_gib": QuotaField(("requests.memory", "limits.memory"), "GiB of memory", GIB),
}
"""Fields of ``TeamQuota`` that bound what pods take."""

_RBAC = "rbac.authorization.k8s.io"
_BINARY_UNITS = (("Ti", 2**40), ("Gi", GIB), ("Mi", 2**20), ("Ki", 2**10))


def namespace_of(name: str, team: Team) -> str:
    """Return the namespace of the team ``name``."""
    return team.namespace or name


def team_objects(name: str, team: Team, workloads: Sequence[TeamWorkload] = ()) -> dict[str, Manifest]:
    """Render the objects of a team, by the suffix of each Pulumi name; the namespace is the first.

    Args:
        name: Name of the team.
        team: What was declared.
        workloads: What runs in it.
    """
    namespace = namespace_of(name, team)
    objects = {
        "namespace": _namespace(name, team, workloads),
        "quota": _object(namespace, "v1", "ResourceQuota", spec={"hard": hard_limits(team.quota, workloads)}),
        "defaults": _object(namespace, "v1", "LimitRange", spec={"limits": [_defaults(team)]}),
        # Every namespace has it, and pods that name no other run as it.
        "default-account": _account(namespace, "default"),
        **{f"{account}-account": _account(namespace, account) for account in team.service_accounts},
    }
    for role, groups in (("edit", team.editors), ("view", team.viewers)):
        if groups:
            objects[role] = _binding(namespace, role, groups)
    if team.network is not None:
        objects |= network.policies(namespace, team.network, workloads)
    return objects


def hard_limits(quota: TeamQuota, workloads: Sequence[TeamWorkload]) -> dict[str, str]:
    """Return what a ResourceQuota bounds, and the most of each."""
    amounts = limits_of(quota, needed(workloads))
    return {
        **{key: _quantity(key, amount) for key, amount in amounts.items()},
        "services.loadbalancers": str(quota.load_balancers),
        "services.nodeports": str(quota.node_ports),
    }


def limits_of(quota: TeamQuota, needs: Amounts) -> dict[str, int]:
    """Return the most of each thing that a quota counts: what was declared, else what is needed."""
    limits: dict[str, int] = {}
    for name, field in QUOTA_FIELDS.items():
        declared: int | None = getattr(quota, name)
        limits |= {key: needs[key] if declared is None else declared * field.unit for key in field.keys}
    return limits


def _quantity(key: str, amount: int) -> str:
    """Write an amount as the API server writes it back: in the largest unit that leaves no fraction."""
    if key == "requests.cpu":
        return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"
    for unit, size in _BINARY_UNITS if "memory" in key and amount else ():
        if amount % size == 0:
            return f"{amount // size}{unit}"
    return str(amount)


def _namespace(name: str, team: Team, workloads: Sequence[TeamWorkload]) -> Manifest:
    level = team.pod_security or level_of(workloads)
    why = reason(workloads)
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": namespace_of(name, team),
            "labels": {
                labels.TEAM: name,
                **{f"{labels.POD_SECURITY_PREFIX}{mode}": level for mode in ("enforce", "audit", "warn")},
            },
            **({"annotations": {labels.POD_SECURITY_REASON: why}} if why else {}),
        },
    }


def _defaults(team: Team) -> Manifest:
    memory = f"{team.container_defaults.memory_mib}Mi"
    requests = {"cpu": f"{team.container_defaults.milli_cpus}m", "memory": memory}
    # No limit of CPU: a container may use what is idle.
    return {"type": "Container", "defaultRequest": requests, "default": {"memory": memory}}


def _account(namespace: str, name: str) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata,
        "automountServiceAccountToken": False,
    }


def _binding(namespace: str, role: str, groups: Sequence[str]) -> Manifest:
    subjects = [{"apiGroup": _RBAC, "kind": "Group", "name": group} for group in groups]
    reference = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role}
    metadata = {"name": f"team-{role}", "namespace": namespace}
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": reference,
        "subjects": subjects,
    }


def _object(namespace: str, version: str, kind: str, **fields: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "team", "namespace": namespace}, **fields}
