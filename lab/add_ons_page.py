"""The tables of add-ons, written from what the package knows of them."""

from collections.abc import Iterable

from pulumi_lws.addons.addon import AddOnFacts
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.facts.versions import PINS

Table = tuple[tuple[str, ...], Iterable[tuple[str, ...]]]
"""Heads of the columns, and the rows."""


def add_ons() -> Table:
    """Return every add-on, in the order in which they are installed."""
    head = ("add-on", "field", "what for", "version", "source", "needs", "excludes", "on clusters of")
    return head, map(_row, ADD_ONS.values())


def images() -> Table:
    """Return the values that move the images of each chart."""
    rows = [
        (f"`{facts.key}`", " and ".join(f"`{value}`" for value in facts.images))
        for facts in ADD_ONS.values()
        if not facts.manifests
    ]
    return ("chart", "values that move its images"), rows


def upgrades() -> Table:
    """Return the upgrades that need a hand."""
    rows = [
        (facts.title, ".".join(map(str, step.to)), step.breaks.removesuffix("."), step.procedure)
        for facts in ADD_ONS.values()
        for step in facts.steps
    ]
    return ("add-on", "an upgrade to", "what it breaks", "what to do"), rows


def _modes(facts: AddOnFacts) -> str:
    if "auto" in facts.not_on:
        return "all modes but Auto"
    return "all modes, with a warning on Auto" if "auto" in facts.doubtful_on else "all modes"


def _row(facts: AddOnFacts) -> tuple[str, ...]:
    needs = [f"`{ADD_ONS[name].key}`" for name in facts.needs]
    elsewhere = f", or `values.{'.'.join(facts.elsewhere)}`" if facts.elsewhere else ""
    excluded = [f"`{ADD_ONS[name].key}` with `{'.'.join(one.values)}`" for name, one in facts.excludes.items()]
    return (
        facts.title,
        f"`{facts.key}`",
        facts.purpose,
        PINS[facts.pin].version,
        PINS[facts.pin].source,
        ", ".join(needs) + elsewhere or "—",
        ", ".join(excluded) or "—",
        _modes(facts),
    )
