"""What a node costs: on-demand prices, which users override with their own.

A report compares money before and after a change with them; it is no bill. Spot, Savings Plans, Capacity Blocks and
other regions cost something else.
"""

from dataclasses import dataclass
from datetime import date

REGION = "us-east-1"
"""The region whose prices these are."""


@dataclass(frozen=True)
class Price:
    """Price of one node.

    Attributes:
        dollars_per_hour: US dollars for an hour.
        checked: Day of which the price is; None where its source does not say.
        source: Where it comes from.
    """

    dollars_per_hour: float
    checked: date | None
    source: str


# https://github.com/aws/karpenter-provider-aws/blob/main/pkg/providers/pricing/zz_generated.pricing_aws.go
_SOURCE = "AWS Price List (on demand, Linux, us-east-1), as generated into karpenter-provider-aws"
_CHECKED = date(2026, 7, 20)

PRICES: dict[str, Price] = {
    name: Price(dollars, _CHECKED, _SOURCE)
    for name, dollars in {
        "p4d.24xlarge": 21.957642,
        "p4de.24xlarge": 27.44705,
        "p5.4xlarge": 6.88,
        "p5.48xlarge": 55.04,
        "p5en.48xlarge": 63.296,
        "p6-b200.48xlarge": 113.9328,
        "p6-b300.48xlarge": 142.416,
        "g6e.xlarge": 1.861,
        "g6e.2xlarge": 2.24208,
        "g6e.4xlarge": 3.00424,
        "g6e.8xlarge": 4.52856,
        "g6e.12xlarge": 10.49264,
        "g6e.16xlarge": 7.57719,
        "g6e.24xlarge": 15.06559,
        "g6e.48xlarge": 30.13118,
    }.items()
}
"""Prices by instance type. ``p5e.48xlarge`` has none: the source lists no on-demand price for it."""
