"""What alerts must know of the place that they watch, and the numbers that they follow."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pulumi_lws.monitoring.settings import Monitoring
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.nodes.node_pools import expire_after_hours
from pulumi_lws.nodes.settings import GpuPool

LEAST_START_MINUTES = 60
"""How long a group may start at least, unless the stack file says otherwise."""


@dataclass(frozen=True)
class MonitoredSite:
    """What is watched.

    Attributes:
        pools: The pools of GPU nodes.
        mode: Who makes the nodes; None on a cluster that is only reached.
        start_budget_minutes: Longest start budget of the deployments.
    """

    pools: Mapping[str, GpuPool] = field(default_factory=dict)
    mode: Mode | None = None
    start_budget_minutes: int = LEAST_START_MINUTES

    @property
    def efa_expected(self) -> dict[str, int]:
        """EFA interfaces that each node of a pool has, of the pools that have any."""
        return {name: pool.instance.efa_interfaces for name, pool in self.pools.items() if pool.efa_mode != "none"}

    @property
    def lifetime_seconds(self) -> dict[str, int]:
        """Age at which the nodes of a pool are drained, of the pools whose nodes are."""
        if self.mode is None:
            return {}
        hours = {name: expire_after_hours(pool, self.mode) for name, pool in self.pools.items()}
        return {name: age * 3600 for name, age in hours.items() if age is not None}


def start_minutes(settings: Monitoring, site: MonitoredSite) -> int:
    """Return how long a group may take to start before somebody is called."""
    return settings.thresholds.group_start_minutes or max(LEAST_START_MINUTES, site.start_budget_minutes)


def rollout_minutes(settings: Monitoring, site: MonitoredSite) -> int:
    """Return how long a rollout may go on without one more group: half as long again as a start."""
    return settings.thresholds.rollout_minutes or start_minutes(settings, site) * 3 // 2
