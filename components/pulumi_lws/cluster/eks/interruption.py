"""Events that announce the end of an instance, which Karpenter reads from a queue."""

from collections.abc import Mapping
from typing import Any

RETENTION_SECONDS = 300
"""How long an announcement is kept; older ones are past."""

EVENTS: Mapping[str, Mapping[str, Any]] = {
    "health": {"source": ["aws.health"], "detail-type": ["AWS Health Event"]},
    "spot-interruption": {"source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"]},
    "rebalance": {"source": ["aws.ec2"], "detail-type": ["EC2 Instance Rebalance Recommendation"]},
    "state-change": {"source": ["aws.ec2"], "detail-type": ["EC2 Instance State-change Notification"]},
    "capacity-interruption": {
        "source": ["aws.ec2"],
        "detail-type": ["EC2 Capacity Reservation Instance Interruption Warning"],
    },
}
"""Patterns of the events by a short name (Karpenter 1.14, "Interruption")."""
