"""The taints of a pool's nodes, and the tolerations of the pods that belong there."""

from pulumi_lws.facts import labels
from pulumi_lws.nodes.settings import GpuPool


def taints_of(pool: GpuPool) -> list[dict[str, str]]:
    """Return the taints of every node of the pool."""
    taints = [{"key": labels.GPU, "value": "true", "effect": "NoSchedule"}]
    if pool.role is not None:
        taints.append({"key": labels.ROLE, "value": pool.role, "effect": "NoSchedule"})
    return taints + [{name: value for name, value in taint.model_dump().items() if value} for taint in pool.taints]


def tolerations_of(pool: GpuPool) -> list[dict[str, str]]:
    """Return what pods of the pool tolerate: its taints, and that of GPUs whatever its value is."""
    gpu, *others = taints_of(pool)
    return [
        {"key": gpu["key"], "operator": "Exists", "effect": gpu["effect"]},
        *({"operator": "Equal" if "value" in taint else "Exists", **taint} for taint in others),
    ]
