"""How every format of a report says numbers and names, whatever strange text they hold."""

import re
from collections.abc import Sequence

from pulumi_lws.checking.formats.wording import visible
from pulumi_lws.planning.secrets import without_tokens

_LONGEST_NAME = 160
_MOST_LISTED = 4
_MINUS = "\N{MINUS SIGN}"


def code(text: str) -> str:
    """Return text as code of Markdown: on one line, with nothing in it that Markdown, or a forge, would act on."""
    plain = visible(without_tokens(text)).replace("|", "¦").strip() or "?"
    if len(plain) > _LONGEST_NAME:
        plain = f"{plain[: _LONGEST_NAME - 1]}…"
    return f"`{plain}`" if "`" not in plain else f"`` {plain} ``".replace("```", "'''")


def prose(text: str) -> str:
    """Return somebody's text as prose on one line: it makes no heading, tag, table cell, mention or reference."""
    plain = visible(without_tokens(" ".join(text.split())))
    plain = re.sub(r"([\\`*_{}\[\]<>|~$])", r"\\\1", plain)
    # A forge tells people who are named, and links numbers; an empty comment between keeps it from that.
    return re.sub(r"([@#])(?=\w)", r"\1<!-- -->", plain)


def listed(names: Sequence[str]) -> str:
    """Name things, the first ones only where there are many."""
    shown = ", ".join(code(name) for name in names[:_MOST_LISTED])
    return shown if len(names) <= _MOST_LISTED else f"{shown} and {len(names) - _MOST_LISTED} more"


def counted(count: int, thing: str) -> str:
    """Say a number of things."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def dollars(amount: float | None) -> str:
    """Say an amount of money."""
    return "not known" if amount is None else f"${amount:,.2f}"


def delta(before: float, after: float, unit: str = "") -> str:
    """Say a difference with its sign: of money where the unit is a dollar, else of things."""
    difference = round(after - before, 2)
    sign = "+" if difference > 0 else _MINUS if difference < 0 else "±"
    if unit == "$":
        return f"{sign}${abs(difference):,.2f}"
    amount = f"{sign}{abs(difference):,.0f}"
    return f"{amount} {unit if abs(difference) == 1 else f'{unit}s'}" if unit else amount
