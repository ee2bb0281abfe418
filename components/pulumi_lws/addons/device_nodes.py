"""On which nodes DaemonSets for devices run: those of GPU pools, whatever their taints are."""

from collections.abc import Mapping
from typing import Any, Final

from pulumi_lws.facts import labels

EVERYWHERE: Final = ({"operator": "Exists"},)
"""Tolerations for every taint. A plugin that does not tolerate one leaves a node without its devices.
https://github.com/NVIDIA/k8s-device-plugin/issues/1934"""


def on_pools() -> Mapping[str, Any]:
    """Return the affinity to nodes of GPU pools, which all carry the label of their pool."""
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": labels.POOL, "operator": "Exists"}]}]
            }
        }
    }
