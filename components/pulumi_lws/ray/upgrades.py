"""How a Ray service comes to new pods: what KubeRay does when the template of its cluster changes."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pulumi_lws.declarations import Count, Declaration, ObjectName, PositiveCount
from pulumi_lws.planning.problems import invalid

Percentage = Annotated[Count, Field(ge=1, le=100)]
"""A whole number from 1 to 100."""


class NewClusterUpgrade(Declaration):
    """A second cluster with the fewest copies; once all of them serve, it gets every request, and the old one goes."""

    kind: Literal["new-cluster"] = "new-cluster"
    """``new-cluster``."""


class IncrementalUpgrade(Declaration):
    """A second cluster that gets the requests step by step. KubeRay makes a Gateway for it, ``<name>-gateway``."""

    kind: Literal["incremental"] = "incremental"
    """``incremental``."""
    gateway_class: ObjectName
    """GatewayClass of the Gateway."""
    step_percent: Percentage = 10
    """Share of the requests that moves in one step, in percent. Default 10."""
    interval_seconds: PositiveCount = 60
    """Seconds between two steps. Default 60."""
    surge_percent: Percentage = 100
    """Copies that both clusters have together beyond what one would have, in percent of it. Default 100."""

    @model_validator(mode="after")
    def _step_within_surge(self) -> "IncrementalUpgrade":
        if self.step_percent > self.surge_percent:
            raise invalid(
                f"at most surgePercent, which is {self.surge_percent}",
                "Lower it, or raise surgePercent.",
                field="stepPercent",
                found=str(self.step_percent),
            )
        return self


class NoUpgrade(Declaration):
    """No second cluster: a change of the model stops one copy after the other.

    KubeRay takes no notice of any other change until you delete the RayCluster.
    """

    kind: Literal["none"] = "none"
    """``none``."""


ServiceUpgrade = Annotated[NewClusterUpgrade | IncrementalUpgrade | NoUpgrade, Field(discriminator="kind")]
"""What an upgrade does, chosen by ``kind``."""

UPGRADE_TYPES = {"new-cluster": "NewCluster", "incremental": "NewClusterWithIncrementalUpgrade", "none": "None"}
"""What KubeRay calls the kinds."""


def workers_on_top(upgrade: ServiceUpgrade, least: int, most: int) -> int:
    """Return the workers that an upgrade needs beside those of the old cluster.

    Args:
        upgrade: What the upgrade does.
        least: Fewest workers of one cluster: the new one starts with them.
        most: Most workers of one cluster.
    """
    match upgrade:
        case NoUpgrade():
            return 0
        case NewClusterUpgrade():
            return least
        case IncrementalUpgrade():
            return max(least, -(-most * upgrade.surge_percent // 100))
