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


def upgrades() -> Table:
    """Return the upgrades that need a hand."""
    rows = [
        (facts.title, ".".join(map(str, step.to)), step.breaks.removesuffix("."), step.procedure)
        for facts in ADD_ONS.values()
        for step in facts.steps
    ]
    return ("add-on", "an upgrade to", "what it breaks", "what to do"), rows


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
        "all modes but Auto" if "auto" in facts.not_on else "all modes",
    )
