"""The configuration of the policy pack, read for ``lws check``: both hold objects to the same, by the same file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema_rs

from pulumi_lws.planning.problems import Severity
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.exemptions import right_name
from pulumi_lws.rules.levels import Level, Preset, level_of
from pulumi_lws.rules.rule import Parameter, Rule
from pulumi_lws.rules.scope import SCOPE_POLICY, SETTINGS, Scope, mistakes_in, scope_of

_LEVELS = {"mandatory": Level.MANDATORY, "remediate": Level.MANDATORY} | {level.value: level for level in Level}
_LEVEL = "enforcementLevel"
_ALL = "all"

_SEVERITIES = {Level.MANDATORY: Severity.ERROR, Level.ADVISORY: Severity.WARNING}
_OF_PROGRAMS = ("values-not-seen", "objects-not-seen", "exemptions")
"""Policies of the pack that are no rules of the catalogue and have no parameters."""


class ConfigurationError(Exception):
    """A configuration says what it cannot mean; the text is all of it, a line each."""


@dataclass(frozen=True)
class Configuration:
    """How objects are judged.

    Attributes:
        rules: The rules that are on, with the severities and values that the configuration gives them.
        scope: What it says for all rules.
    """

    rules: tuple[Rule, ...]
    scope: Scope


def read_configuration(file: str | None, preset: Preset, rules: Sequence[Rule]) -> Configuration:
    """Read a file of ``--policy-pack-config``; without one, the preset alone counts.

    Args:
        file: Path of the file.
        preset: The levels of what the file leaves out.
        rules: The rules to configure.

    Raises:
        ConfigurationError: The file cannot be read, or says what it cannot mean.
    """
    policies = _policies(file) if file else {}
    if mistakes := list(_mistakes(policies)):
        raise ConfigurationError("\n".join(mistakes))
    levels, values = {}, {}
    for name, entry in policies.items():
        levels[name], values[name] = _parted(entry)
    configured = []
    for rule in rules:
        level = _LEVELS[levels.get(rule.name) or levels.get(_ALL) or level_of(rule.severity, preset)]
        if level is not Level.DISABLED:
            configured.append(_configured(rule, _SEVERITIES[level], values.get(rule.name, {})))
    return Configuration(tuple(configured), scope_of(values.get(SCOPE_POLICY, {})))


def _policies(file: str) -> Mapping[str, Any]:
    try:
        content = json.loads(Path(file).read_text(encoding="utf-8") or "{}")
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror or 'cannot be read'}") from None
    except ValueError as error:
        raise ConfigurationError(f"{file} is no JSON: {error}") from None
    # Files of version 2 have the policies one level down (`PolicyPackConfigFile` in pulumi/pkg/resource/analyzer).
    policies = content.get("policies", {}) if isinstance(content, dict) and content.get("version") == 2 else content
    if not isinstance(policies, dict):
        raise ConfigurationError(f"{file}: expected a mapping of policies to levels or settings")
    return {name: entry for name, entry in policies.items() if name != "environments"}


def _parted(entry: Any) -> tuple[Any, dict[str, Any]]:
    """Part the entry of a policy into its level and its settings."""
    if isinstance(entry, str):
        return entry, {}
    return entry.get(_LEVEL), {name: value for name, value in entry.items() if name != _LEVEL}


def _configured(rule: Rule, severity: Severity, values: Mapping[str, Any]) -> Rule:
    parameters = {
        name: replace(parameter, default=values.get(name, parameter.default))
        for name, parameter in rule.parameters.items()
    }
    return replace(rule, severity=severity, parameters=parameters)


def _mistakes(policies: Mapping[str, Any]) -> Iterator[str]:
    parameters: dict[str, Mapping[str, Parameter]] = {rule.name: rule.parameters for rule in RULES}
    known = {_ALL: {}, SCOPE_POLICY: SETTINGS, **{name: {} for name in _OF_PROGRAMS}, **parameters}
    for name, entry in policies.items():
        if name not in known:
            yield f"{name}: there is no such policy. {right_name(name, known)}"
        elif not isinstance(entry, str | dict):
            yield f"{name}: expected a level or a mapping of settings"
        else:
            yield from _mistakes_of_entry(name, entry, known[name], parameters)


def _mistakes_of_entry(
    name: str, entry: Any, parameters: Mapping[str, Parameter], rules: Mapping[str, object]
) -> Iterator[str]:
    level, values = _parted(entry)
    if level is not None and not (isinstance(level, str) and level in _LEVELS):
        yield f"{name}: {level!r} is no level. Write one of {', '.join(_LEVELS)}."
    schema = {
        "type": "object",
        "properties": {each: parameter.schema for each, parameter in parameters.items()},
        "additionalProperties": False,
    }
    errors = list(jsonschema_rs.validator_for(schema).iter_errors(values))
    for error in errors:
        yield f"{'.'.join([name, *map(str, error.instance_path)])}: {error.message}"
    if name == SCOPE_POLICY and not errors:
        yield from (f"{name}.{mistake}" for mistake in mistakes_in(values, rules))
