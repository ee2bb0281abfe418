"""What a dashboard consists of, as plain data. ``grafana.py`` writes it as Grafana reads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["timeseries", "stat", "table", "state-timeline"]
"""How a panel draws: ``state-timeline`` for what is 0 or 1."""

COLUMNS = 24
"""Columns of Grafana's grid."""


@dataclass(frozen=True)
class Query:
    """One query of a panel.

    Attributes:
        expression: PromQL; it may use the dashboard's variables.
        legend: Name of each series, with ``{{label}}``; of a table, the head of the column.
    """

    expression: str
    legend: str = ""


@dataclass(frozen=True)
class Limits:
    """Values from which on a panel turns orange and red.

    Attributes:
        warning: The first.
        critical: The second; below ``warning`` where low values are bad.
    """

    warning: float
    critical: float


@dataclass(frozen=True)
class Panel:
    """One panel.

    Attributes:
        title: Its title.
        asks: The question that it answers.
        queries: What it draws.
        unit: Grafana's name of the unit.
        kind: How it draws.
        width: Columns of the grid, at most 24.
        height: Lines of the grid.
        limits: Values from which on it turns orange and red.
        alerts: Alerts that the reader may come from; it links to their runbooks.
        maximum: End of the axis; None where the data decide.
        stacked: Whether series stand on one another.
        columns: Of a table, labels → heads of their columns, in order; others are hidden.
    """

    title: str
    asks: str
    queries: tuple[Query, ...]
    unit: str = "short"
    kind: Kind = "timeseries"
    width: int = 8
    height: int = 8
    limits: Limits | None = None
    alerts: tuple[str, ...] = ()
    maximum: float | None = None
    stacked: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """Panels under a heading.

    Attributes:
        title: The heading.
        panels: The panels, from left to right.
    """

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Variable:
    """A choice at the top of a dashboard, of one value, several or all.

    Attributes:
        name: What queries call it, after ``$``.
        label: What the reader sees.
        values: Query of Grafana for its values.
    """

    name: str
    label: str
    values: str


@dataclass(frozen=True)
class Dashboard:
    """One dashboard.

    Attributes:
        uid: Its identity, under which others link to it.
        title: Its title.
        answers: What it answers, in one sentence.
        variables: Its choices.
        rows: Its panels.
    """

    uid: str
    title: str
    answers: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All panels."""
        return tuple(panel for row in self.rows for panel in row.panels)

    @property
    def alerts(self) -> tuple[str, ...]:
        """Alerts that its panels belong to, each once."""
        return tuple(dict.fromkeys(name for panel in self.panels for name in panel.alerts))


def stat(
    title: str, asks: str, expression: str, unit: str = "short", *, limits: Limits | None = None, width: int = 4
) -> Panel:
    """Return a panel with one number."""
    return Panel(title, asks, (Query(expression),), unit, "stat", width, height=4, limits=limits)
