"""Exemptions: a resource, a rule that it may break, the reason, and the last day on which it may.

An object carries its own as an annotation, ``pulumi-lws/exempt.<rule>: "2026-12-31 <reason>"``; the date may be left
out. The configuration has them for whole resources. One that does not hold is as good as none, and whoever is shown the
breach is told why.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from typing import Any

from pulumi_lws.facts.labels import EXEMPT_PREFIX
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import texts
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, value_at

_LIKE_A_DATE = re.compile(
    r"\W*(?:(?:until|till|through|expires|before|by)\W*)?"
    r"(?:\d{1,4}[^\w\s]\d{1,2}[^\w\s]\d{1,4}|(?:19|20)\d\d[^\w\s]\d{1,2}|\d{1,2}[^\w\s][a-z]{3,9}[^\w\s]\d{4}|\d{8})"
    r"(?!\d)\S*",
    re.IGNORECASE,
)
"""The start of a reason that somebody may have meant for the last day. Taken for a reason, it would never lapse."""

_SPECIAL_BUT_STAR = re.compile(r"[?[]")


@dataclass(frozen=True)
class Exemption:
    """Resources that may break rules.

    Attributes:
        rules: Names of rules; ``*`` stands for any text.
        resources: URNs or ``<kind>/<namespace>/<name>``; ``*`` stands for any text.
        reason: Why.
        until: The last day on which it holds, as a day of UTC; None for no end.
    """

    rules: tuple[str, ...]
    resources: tuple[str, ...]
    reason: str
    until: date | None = None


@dataclass(frozen=True)
class Standing:
    """Whether a resource is exempt from a rule.

    Attributes:
        exempt: Whether it is.
        why: The last day, if there is one, and the reason; or why an exemption that it has does not hold. Empty where
            it has none.
    """

    exempt: bool
    why: str = ""


def today() -> date:
    """Return the day by which exemptions lapse."""
    return datetime.now(UTC).date()


def standing(
    rule: str, subject: RegisteredObject, exemptions: Sequence[Exemption], day: date, urn: str = ""
) -> Standing:
    """Tell whether an object may break a rule.

    Args:
        rule: Name of the rule.
        subject: The object, whose annotations count.
        exemptions: Those of the configuration.
        day: Today.
        urn: URN of the object; empty for an object of a file.
    """
    found = list(_standings(rule, subject, exemptions, day, urn))
    holding = next((each for each in found if each.exempt), None)
    return holding or Standing(exempt=False, why=" ".join(each.why for each in found))


def matches(patterns: Iterable[str], text: str) -> bool:
    """Tell whether a text is like one of the patterns, in which ``*`` stands for any text."""
    return any(fnmatchcase(text, _SPECIAL_BUT_STAR.sub(r"[\g<0>]", pattern)) for pattern in patterns)


def identity(subject: RegisteredObject) -> str:
    """Return what the configuration calls a Kubernetes object, such as ``LeaderWorkerSet/models/glm-5``.

    Empty for anything else, which has only its URN.
    """
    if not subject.kind:
        return ""
    namespace, name = (value_at(subject.properties, "metadata", field, default="") for field in ("namespace", "name"))
    return f"{subject.kind.rpartition('/')[2]}/{namespace}/{name}"


def _standings(
    rule: str, subject: RegisteredObject, exemptions: Sequence[Exemption], day: date, urn: str
) -> Iterator[Standing]:
    key = EXEMPT_PREFIX + rule
    annotations = _annotations(subject)
    if key in annotations:
        yield _by_annotation(key, annotations[key], day)
    for exemption in exemptions:
        if matches(exemption.rules, rule) and any(
            matches(exemption.resources, each) for each in (urn, identity(subject)) if each
        ):
            yield _by_date("an exemption of the configuration", exemption.reason, exemption.until, day)


def _by_annotation(key: str, value: Any, day: date) -> Standing:
    who = f"the annotation {key}"
    if value is UNKNOWN:
        return _denied(who, "is not known before the update")
    if not isinstance(value, str):
        return _denied(who, "is no text")
    first, _, rest = re.sub(r"\s+", " ", value.strip()).partition(" ")
    if until := day_of(first.rstrip(":,;")):
        return _by_date(who, rest, until, day)
    if meant := _LIKE_A_DATE.match(value):
        found = meant[0].strip().rstrip(":,;")
        return _denied(who, f"starts with {found}, which is no date such as 2026-12-31")
    return _by_date(who, value.strip(), None, day)


def _by_date(who: str, reason: str, until: date | None, day: date) -> Standing:
    if not reason:
        return _denied(who, "gives no reason")
    if until and until < day:
        return _denied(who, f"lapsed after {until}")
    return Standing(exempt=True, why=f"until {until}: {reason}" if until else reason)


def _denied(who: str, why: str) -> Standing:
    return Standing(exempt=False, why=f"Not exempt: {who} {why}.")


def day_of(text: str) -> date | None:
    """Return the day that a text like 2026-12-31 means; None where there is none."""
    try:
        return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) else None
    except ValueError:
        return None


def _annotations(subject: RegisteredObject) -> Any:
    return texts(value_at(subject.properties, "metadata", "annotations"))


def exemption_names(known: Collection[str]) -> Rule:
    """Return the rule that exemptions by annotation name a rule there is.

    Args:
        known: Names of all rules.
    """

    def check(subject: RegisteredObject, _context: Context) -> Iterator[Problem]:
        for key in map(str, _annotations(subject)):
            name = key.removeprefix(EXEMPT_PREFIX)
            if key.startswith(EXEMPT_PREFIX) and name not in known:
                path = f"metadata.annotations['{key}']"
                yield Problem(path, name or "nothing", "the name of a rule", right_name(name, known))

    return Rule(
        name="exemptions",
        title="An exemption names a rule that there is.",
        why="An exemption from a rule that nobody knows exempts from nothing.",
        fix="Write the name as reports do, or remove the annotation.",
        severity=Severity.WARNING,
        applies_to=lambda subject: bool(subject.kind),
        check=check,
    )


def right_name(name: str, known: Collection[str]) -> str:
    """Return what to write instead of the name of a rule that there is not."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"Write {close[0]}." if close else "Write the name as reports do, or remove it."
