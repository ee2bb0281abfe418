"""The EC2 quotas that bound a pool: vCPUs by instance family, account and region.

Source: "Amazon EC2 instance type quotas" of the EC2 instance types guide. Each starts at 0 in a new account and is
raised on request. Capacity Blocks and reservations of Capacity Blocks do not count against them.
"""

from dataclasses import dataclass
from typing import Literal

QuotaFamily = Literal["p", "g"]
"""Instance families that share one on-demand quota: all of P, all of G and VT."""


@dataclass(frozen=True)
class Quota:
    """A quota of vCPUs.

    Attributes:
        name: Name in the Service Quotas console.
        code: Its code there, for the service ``ec2``.
    """

    name: str
    code: str


@dataclass(frozen=True)
class FamilyQuotas:
    """What bounds one instance family.

    Attributes:
        family: Families that share the on-demand quota.
        on_demand: Quota of on-demand instances; On-Demand Capacity Reservations count against it too.
        spot: Quota of spot requests; None where the guide names none for the family.
    """

    family: QuotaFamily
    on_demand: Quota
    spot: Quota | None


_ON_DEMAND_P = Quota("Running On-Demand P instances", "L-417A185B")
_P4 = FamilyQuotas("p", _ON_DEMAND_P, Quota("All P4, P3 and P2 Spot Instance Requests", "L-7212CCBC"))
_P5 = FamilyQuotas("p", _ON_DEMAND_P, Quota("All P5 Spot Instance Requests", "L-C4BD4855"))
# The guide names no quota for spot requests of P6.
_P6 = FamilyQuotas("p", _ON_DEMAND_P, None)
_G = FamilyQuotas(
    "g",
    Quota("Running On-Demand G and VT instances", "L-DB2E81BA"),
    Quota("All G and VT Spot Instance Requests", "L-3819A6DF"),
)

QUOTAS: dict[str, FamilyQuotas] = {
    "p4d": _P4,
    "p4de": _P4,
    "p5": _P5,
    "p5e": _P5,
    "p5en": _P5,
    "p6-b200": _P6,
    "p6-b300": _P6,
    "g6e": _G,
}
"""The quotas of each family of the catalogue, by ``InstanceType.family``."""
