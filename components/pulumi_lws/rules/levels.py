"""What a breach of a rule does: it blocks, it is said, or the rule is off."""

from collections.abc import Mapping
from enum import StrEnum


class Level(StrEnum):
    """Enforcement levels, as the policy engine names them."""

    MANDATORY = "mandatory"
    """A breach stops the preview or the update."""
    ADVISORY = "advisory"
    """A breach is said."""
    DISABLED = "disabled"
    """Nobody looks."""


class Preset(StrEnum):
    """Levels for all rules at once, in the order in which a team takes them up."""

    ADVISORY = "advisory"
    """Nothing blocks."""
    STANDARD = "standard"
    """Errors block, warnings are said."""
    STRICT = "strict"
    """Warnings block too."""


_BLOCKING: Mapping[Preset, frozenset[str]] = {
    Preset.ADVISORY: frozenset(),
    Preset.STANDARD: frozenset({"error"}),
    Preset.STRICT: frozenset({"error", "warning"}),
}
"""Severities by their names: the command line loads this module each time, and theirs takes a while."""


def level_of(severity: str, preset: Preset) -> Level:
    """Return the level of a rule of this severity; what could not be judged never blocks."""
    return Level.MANDATORY if severity in _BLOCKING[preset] else Level.ADVISORY
