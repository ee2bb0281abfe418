"""How the nodes of a pool are bought."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from pulumi_lws.declarations import Count, Declaration, PositiveCount
from pulumi_lws.planning.problems import invalid


def _as_text(value: Any) -> Any:
    """Take back YAML's reading of a time: declarations hold text only, as their JSON does."""
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


def _moment(text: str) -> str:
    try:
        is_one = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        is_one = False
    if not is_one:
        raise invalid("a time such as 2026-12-31T11:30:00Z", "Write day and time, and Z or an offset.")
    return text


Moment = Annotated[
    str, BeforeValidator(_as_text), AfterValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""A point in time, such as ``2026-12-31T11:30:00Z``."""

ReservationId = Annotated[str, Field(pattern=r"^cr-[0-9a-z]+$", examples=["cr-0123456789abcdef0"])]
"""Id of a capacity reservation; a capacity block is one, too."""


class OnDemand(Declaration):
    """Nodes on demand; beyond them, if you like, spot nodes that are taken only when those are full."""

    kind: Literal["on-demand"] = "on-demand"
    """``on-demand``."""
    spot_overflow: Count = 0
    """How many of the pool's islands are spot, of a plain pool how many nodes: the last ones, with a lower weight, for
    replicas beyond the base. Losing one spot node loses the whole group. Default 0."""


class Spot(Declaration):
    """Spot nodes only, for a plain pool whose replicas may go at any time."""

    kind: Literal["spot"] = "spot"
    """``spot``."""


class Reservation(Declaration):
    """An On-Demand Capacity Reservation."""

    kind: Literal["reservation"] = "reservation"
    """``reservation``."""
    id: ReservationId | None = None
    """Reservation that exists. Default none: one is made with the pool, for an island pool one in the placement group
    of each island. It is paid for from then on, used or not."""
    instances: PositiveCount | None = None
    """Instances of a reservation that exists; the pools that name it are held to them. Default: not known."""
    ends: Moment | None = None
    """When a reservation that is made with the pool ends. Default: when the pool is destroyed."""


class CapacityBlock(Declaration):
    """A Capacity Block for ML that you bought. It is never bought here: that cannot be undone."""

    kind: Literal["capacity-block"] = "capacity-block"
    """``capacity-block``."""
    id: ReservationId
    """Id of the block. One block for each pool: of several blocks of one type and zone only one would be used
    (https://github.com/aws/karpenter-provider-aws/issues/8514)."""
    instances: PositiveCount | None = None
    """Its instances; the pools that name it are held to them. Default: not known."""
    ends: Moment | None = None
    """When it ends. Karpenter drains its nodes 40 minutes before; alerts say so earlier. Default: not known."""


Capacity = Annotated[OnDemand | Spot | Reservation | CapacityBlock, Field(discriminator="kind")]
"""A way to buy nodes, chosen by ``kind``."""
