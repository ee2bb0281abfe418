"""Upgrades of add-ons past a release that breaks what runs."""

import re

from pulumi_lws.addons.addon import AddOnFacts, UpgradeStep
from pulumi_lws.planning.problems import Problem


def upgrade_problems(facts: AddOnFacts, old: str, new: str, confirmed: str | None = None) -> list[Problem]:
    """Return the releases that an upgrade crosses and that need a hand first, unless that was confirmed.

    Args:
        facts: The add-on.
        old: Version that is installed.
        new: Version to install.
        confirmed: Version to which the user confirmed to have prepared the upgrade.
    """
    before, after = numbers(old), numbers(new)
    if after < before:
        fix = f"Keep {old}, or go on to a later one; what the newer one has stored may not be read by the older one."
        return [] if confirmed == new else [Problem("version", new, f"{old} or later: it is installed", _or(fix, new))]
    crossed = [step for step in facts.steps if before < step.to <= after and not _is_mended(step, after)]
    if confirmed == new:
        return []
    return [
        Problem(
            "version",
            f"{new} while {old} runs",
            f"an upgrade that is prepared: {step.breaks.removesuffix('.')}",
            _or(step.procedure, new),
        )
        for step in crossed
    ]


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers that compare, what follows them left out."""
    found = re.match(r"v?([0-9]+(?:\.[0-9]+)*)", version)
    return tuple(map(int, found[1].split("."))) if found else ()


def _is_mended(step: UpgradeStep, version: tuple[int, ...]) -> bool:
    return any(version >= first and (version[:2] == first[:2] or first == max(step.mended)) for first in step.mended)


def _or(procedure: str, version: str) -> str:
    return f"{procedure} Then set confirmUpgradeTo: {version}."
