"""On which nodes DaemonSets for devices run: those of GPU pools, whatever their taints are."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pulumi_lws.addons.settings import AddOnName
from pulumi_lws.facts import labels
from pulumi_lws.nodes.settings import GpuPool

DEVICE_PLUGINS: Final[tuple[AddOnName, ...]] = ("nvidia_device_plugin", "efa_device_plugin", "dcgm_exporter")
"""Add-ons whose DaemonSets must run on every node of every pool."""

EVERYWHERE: Final = ({"operator": "Exists"},)
"""Tolerations for every taint. A plugin that does not tolerate one leaves a node without its devices.
https://github.com/NVIDIA/k8s-device-plugin/issues/1934"""


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, str]) -> bool:
    """Tell whether a toleration holds for a taint, as the scheduler compares them."""
    key, effect = toleration.get("key"), toleration.get("effect")
    if key not in (None, "", taint["key"]) or effect not in (None, "", taint["effect"]):
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")


_IMAGE_WITH_GPU_PLUGIN = "bottlerocket"


def has_gpu_plugin(pool: GpuPool, image: str) -> bool:
    """Tell whether the nodes of a pool bring the plugin for GPUs.

    Args:
        pool: The pool.
        image: Alias of the image of pools that name none.
    """
    return (pool.image or image).startswith(_IMAGE_WITH_GPU_PLUGIN)


def on_pools(but: Iterable[str] = ()) -> Mapping[str, Any]:
    """Return the affinity to nodes of GPU pools, which all carry the label of their pool.

    Args:
        but: Pools that are left out.
    """
    terms: list[dict[str, Any]] = [{"key": labels.POOL, "operator": "Exists"}]
    if left_out := list(but):
        terms.append({"key": labels.POOL, "operator": "NotIn", "values": left_out})
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": terms}]}
        }
    }
