"""Pools of GPU nodes, as far as a deployment needs to know them."""

from typing import Annotated

from pydantic import AfterValidator

from pulumi_lws.declarations import Count, Declaration, PositiveCount
from pulumi_lws.facts.instances import INSTANCE_TYPES, InstanceType
from pulumi_lws.planning.problems import invalid


def _known_instance_type(name: str) -> str:
    if name not in INSTANCE_TYPES:
        raise invalid(", ".join(INSTANCE_TYPES), "Choose an instance type of the catalogue.")
    return name


InstanceTypeName = Annotated[str, AfterValidator(_known_instance_type)]
"""Name of an instance type of the catalogue."""


class GpuPool(Declaration):
    """A pool of equal GPU nodes: an *island pool* for groups over several nodes, else a *plain pool*.

    An island is one placement group and one topology domain: a group lives on one island and shares it with none.
    """

    instance_type: InstanceTypeName
    """EC2 instance type of every node."""
    islands: Count = 0
    """Islands of the pool; each holds one group. Default 0: a plain pool."""
    nodes_per_island: PositiveCount = 1
    """Nodes of one island: the nodes of one group. Default 1."""

    @property
    def instance(self) -> InstanceType:
        """The catalogue's entry for the instance type."""
        return INSTANCE_TYPES[self.instance_type]
