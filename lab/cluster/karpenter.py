"""What Karpenter's stand-in provider is told about instance types; pure."""

from typing import Any

from lab.cluster.nodes import REGION, capacity
from pulumi_lws.facts import labels
from pulumi_lws.facts.instances import INSTANCE_TYPES, InstanceType

_ZONES = (f"{REGION}a", f"{REGION}b")
_SPOT_SHARE = 0.4


def instance_types() -> list[dict[str, Any]]:
    """The catalogue in the form of ``--instance-types-file-path``."""
    return [
        {
            "name": instance.name,
            "architecture": "amd64",
            "operatingSystems": ["linux"],
            "resources": capacity(instance),
            "offerings": [
                _offering(capacity_type, zone, price)
                for capacity_type, price in (("on-demand", _price(instance)), ("spot", _price(instance) * _SPOT_SHARE))
                for zone in _ZONES
            ],
        }
        for instance in INSTANCE_TYPES.values()
    ]


def _offering(capacity_type: str, zone: str, price: float) -> dict[str, Any]:
    return {
        "Price": price,
        "Available": True,
        "Requirements": [
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [capacity_type]},
            {"key": labels.ZONE, "operator": "In", "values": [zone]},
        ],
    }


def _price(instance: InstanceType) -> float:
    """No price of anybody's: only so that more costs more, which is all that Karpenter's choice looks at."""
    return instance.gpus * instance.gpu_memory_mib / 1024 / 10 + instance.vcpus / 10
