"""What a team says once for all rules: which cluster is meant, which namespaces are judged, and what is exempt.

The policy pack takes it from the configuration of its policy ``pack``, ``lws check`` from the same file.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from pulumi_lws.planning.problems import Problem
from pulumi_lws.rules.exemptions import Exemption, day_of, matches, right_name, standing
from pulumi_lws.rules.rule import Parameter, RegisteredObject, Target, Version
from pulumi_lws.rules.values import value_at

SCOPE_POLICY: Final = "pack"
"""The policy whose configuration this is."""

_TEXTS = {"type": "array", "items": {"type": "string", "minLength": 1}}
_VERSION = {"type": "string", "pattern": r"^v?[0-9]+\.[0-9]+(\.[0-9]+)?$"}
_DEFAULT = Target()
_NAMESPACE = "core/Namespace"


def _written(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


SETTINGS: Mapping[str, Parameter] = {
    "lwsVersion": Parameter(
        {**_VERSION, "description": "Version of LWS in the cluster, such as 0.10."}, _written(_DEFAULT.lws)
    ),
    "kubernetesVersion": Parameter(
        {**_VERSION, "description": "Version of the cluster, such as 1.35."}, _written(_DEFAULT.kubernetes)
    ),
    "gangs": Parameter(
        {
            "type": "array",
            "items": {"enum": ["kueue", "volcano", "kai"]},
            "description": "What schedules whole groups there: kueue, volcano, kai.",
        },
        [],
    ),
    "includeNamespaces": Parameter({**_TEXTS, "description": "Only these namespaces are judged. Empty: all."}, []),
    "excludeNamespaces": Parameter({**_TEXTS, "description": "These namespaces are not judged."}, []),
    "exemptions": Parameter(
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "rules": {**_TEXTS, "minItems": 1},
                    "resources": {**_TEXTS, "minItems": 1},
                    "reason": {"type": "string", "pattern": r"\S"},
                    "until": {"type": "string", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
                },
                "required": ["rules", "resources", "reason"],
                "additionalProperties": False,
            },
            "description": "Resources that may break rules, each with a reason, and with a last day if wanted.",
        },
        [],
    ),
}
"""The settings, by their names. In lists of namespaces, rules and resources, ``*`` stands for any text."""


@dataclass(frozen=True)
class Exempted:
    """A problem that nobody has to mend.

    Attributes:
        problem: The problem.
        reason: Why not, and until when.
    """

    problem: Problem
    reason: str


@dataclass(frozen=True)
class Scope:
    """What is said for all rules.

    Attributes:
        target: The cluster that is meant.
        included: Namespaces that are judged; all where empty.
        excluded: Namespaces that are not.
        exemptions: Resources that may break rules.
    """

    target: Target = _DEFAULT
    included: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    exemptions: tuple[Exemption, ...] = ()

    def covers(self, subject: RegisteredObject) -> bool:
        """Tell whether an object is judged at all. One that states no namespace is: it may land in any."""
        field = "name" if subject.kind == _NAMESPACE else "namespace"
        namespace = value_at(subject.properties, "metadata", field) if subject.kind else None
        if not isinstance(namespace, str) or not namespace:
            return True
        return not matches(self.excluded, namespace) and (not self.included or matches(self.included, namespace))

    def heed(
        self, problems: Iterable[Problem], subject: RegisteredObject, day: date, urn: str = ""
    ) -> tuple[list[Problem], list[Exempted]]:
        """Part the problems of an object into those to mend and those that are exempt.

        The fix of a problem with an exemption that does not hold says so.
        """
        kept: list[Problem] = []
        exempted: list[Exempted] = []
        for problem in problems:
            found = standing(problem.rule, subject, self.exemptions, day, urn)
            if found.exempt:
                exempted.append(Exempted(problem, found.why))
            else:
                kept.append(replace(problem, fix=f"{problem.fix} {found.why}") if found.why else problem)
        return kept, exempted


def scope_of(config: Mapping[str, Any]) -> Scope:
    """Read a configuration that has the form of ``SETTINGS``; what is missing has its default."""
    settings = {name: setting.default for name, setting in SETTINGS.items()} | dict(config)
    return Scope(
        target=Target(
            lws=_version(settings["lwsVersion"]),
            kubernetes=_version(settings["kubernetesVersion"]),
            gangs=frozenset(settings["gangs"]),
        ),
        included=tuple(settings["includeNamespaces"]),
        excluded=tuple(settings["excludeNamespaces"]),
        exemptions=tuple(_exemptions(settings["exemptions"])),
    )


def mistakes_in(config: Mapping[str, Any], rules: Collection[str]) -> Iterator[str]:
    """Yield what the form of a configuration does not tell: settings, rules and days that there are not.

    Args:
        config: The configuration, which has the form of ``SETTINGS``.
        rules: Names of all rules.
    """
    for name in config.keys() - SETTINGS.keys():
        yield f"{name}: there is no such setting. Write one of {', '.join(SETTINGS)}."
    for index, entry in enumerate(config.get("exemptions", ())):
        for pattern in entry["rules"]:
            if not any(matches([pattern], rule) for rule in rules):
                yield f"exemptions[{index}].rules: there is no rule {pattern}. {right_name(pattern, rules)}"
        if "until" in entry and day_of(entry["until"]) is None:
            yield f"exemptions[{index}].until: {entry['until']} is no day, so nothing is exempt by it. Correct it."


def _version(text: str) -> Version:
    major, minor = text.removeprefix("v").split(".")[:2]
    return int(major), int(minor)


def _exemptions(entries: Sequence[Mapping[str, Any]]) -> Iterator[Exemption]:
    for entry in entries:
        until = day_of(entry["until"]) if "until" in entry else None
        if "until" not in entry or until:
            yield Exemption(tuple(entry["rules"]), tuple(entry["resources"]), entry["reason"], until)
