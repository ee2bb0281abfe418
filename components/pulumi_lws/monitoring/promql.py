"""Pieces of PromQL that rules are put together from."""

from collections.abc import Iterable, Mapping

from pulumi_lws.monitoring.metrics.labels import state_label


def by(labels: Iterable[str]) -> str:
    """Return the clause that keeps some labels."""
    return f"by ({', '.join(labels)})"


def on(labels: Iterable[str]) -> str:
    """Return the clause that joins series by some labels."""
    return f"on ({', '.join(labels)})"


def left(labels: Iterable[str] = ()) -> str:
    """Return the clause that lets many series of the left meet one of the right, and take some of its labels."""
    return f"group_left ({', '.join(labels)})"


def copied(series: str, source: str, target: str) -> str:
    """Return the series with one label under another name, too."""
    return f'label_replace({series}, "{target}", "$1", "{source}", "(.+)")'


def renamed(series: str, names: Mapping[str, str]) -> str:
    """Return series of kube-state-metrics with labels of Kubernetes under the names that we give them."""
    for key, name in names.items():
        series = copied(series, state_label(key), name)
    return series
