"""Prices of the user's own, beside or instead of ours."""

import math
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from pulumi_lws.facts.prices import PRICES, Price

_OWN = "given with --price"


class WrongPriceError(Exception):
    """A price cannot be read; the text says which, and how to write it."""


def prices(file: str | None = None, given: Iterable[str] = ()) -> dict[str, Price]:
    """Return our prices with those of a file, and with those given one by one, the last of which win.

    Args:
        file: A YAML file: instance type to dollars per hour, or to a mapping of ``dollarsPerHour``, ``checked`` and
            ``source``.
        given: Prices as ``p5.48xlarge=39.8``.

    Raises:
        WrongPriceError: Something is no price.
    """
    found = dict(PRICES)
    if file is not None:
        found |= {str(name): _entry(file, str(name), value) for name, value in _mapping(file).items()}
    for text in given:
        name, equals, amount = text.partition("=")
        if not (name and equals):
            raise WrongPriceError(f"{text}: write an instance type and dollars per hour, as p5.48xlarge=39.8")
        found[name.strip()] = Price(_dollars(text, amount.strip().removeprefix("$")), None, _OWN)
    return found


def _mapping(file: str) -> Mapping[str, Any]:
    import yaml  # noqa: PLC0415 - only whoever has prices of their own waits for it

    try:
        value = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongPriceError(f"{file}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise WrongPriceError(f"{file}: it is no YAML") from None
    if not isinstance(value, Mapping):
        raise WrongPriceError(f"{file}: write a line for each instance type, as p5.48xlarge: 39.8")
    return value


def _entry(file: str, name: str, value: Any) -> Price:
    where = f"{file}, {name}"
    if not isinstance(value, Mapping):
        return Price(_dollars(where, value), None, Path(file).name)
    if unknown := sorted(map(str, value.keys() - {"dollarsPerHour", "checked", "source"})):
        raise WrongPriceError(f"{where}: found {', '.join(unknown)}; allowed: dollarsPerHour, checked, source")
    checked = value.get("checked")
    if checked is not None and not isinstance(checked, date):
        raise WrongPriceError(f"{where}: checked is a day such as 2026-07-20")
    return Price(_dollars(where, value.get("dollarsPerHour")), checked, str(value.get("source") or Path(file).name))


def _dollars(where: str, value: Any) -> float:
    try:
        amount = float(value)
    except (TypeError, ValueError):
        amount = math.nan
    if isinstance(value, bool) or not (math.isfinite(amount) and amount >= 0):
        raise WrongPriceError(f"{where}: write dollars per hour, as 39.8")
    return amount
