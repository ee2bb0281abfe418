"""A case of an alert: what is going on, and what is said of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.monitoring.series import Series


@dataclass(frozen=True)
class Firing:
    """Series on which an alert fires.

    Attributes:
        series: The series.
        at: Minute at which it is looked at.
        labels: Labels of the alert, without name and severity.
        summary: What it says.
        description: What it says at length.
    """

    series: Series
    at: int
    labels: Mapping[str, str]
    summary: str
    description: str


@dataclass(frozen=True)
class Silent:
    """Series on which it stays silent.

    Attributes:
        why: Why it does.
        series: The series.
        at: Minute at which it is looked at.
    """

    why: str
    series: Series
    at: int


Case = tuple[Firing | Silent, ...]
"""What happens to one alert."""
