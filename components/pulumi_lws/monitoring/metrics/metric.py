"""What a metric is, and what exposes it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["gauge", "counter", "histogram"]


@dataclass(frozen=True)
class Source:
    """What exposes metrics.

    Attributes:
        title: Its name.
        documented: Where the names stand, upstream.
        version: Version whose names were read; empty for ours.
    """

    title: str
    documented: str
    version: str = ""


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: Its name; a histogram's without ``_bucket``, ``_sum`` and ``_count``.
        kind: Its type.
        labels: Its own labels that queries may use, beside those that the scrape adds.
        unit: Unit of its values.
        source: What exposes it.
        meaning: What it says.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    unit: str
    source: Source
    meaning: str


Row = tuple[str, str, str]
"""Name, unit and meaning of a metric."""


def rows(source: Source, kind: Kind, labels: tuple[str, ...], *written: Row) -> Iterator[Metric]:
    """Yield metrics that have all but name, unit and meaning in common."""
    return (Metric(name, kind, labels, unit, source, meaning) for name, unit, meaning in written)
