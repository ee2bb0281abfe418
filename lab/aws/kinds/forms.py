"""Forms that AWS asks of single values; pure."""

import ipaddress
import json
import re
from dataclasses import dataclass
from typing import Any, Protocol

from lab.aws.wire import as_document


class Form(Protocol):
    """Judges a known value."""

    def problem(self, value: Any) -> str | None:
        """What is wrong with it, to stand after the property's path; None where nothing is."""


@dataclass(frozen=True)
class Text:
    """A string.

    Attributes:
        longest: Most characters.
        pattern: What the whole string must match.
        shortest: Fewest characters.
    """

    longest: int
    pattern: str = ""
    shortest: int = 1

    def problem(self, value: Any) -> str | None:
        """See `Form`."""
        if not self.shortest <= len(value) <= self.longest:
            return f"must have {self.shortest} to {self.longest} characters, but {value!r} has {len(value)}."
        if self.pattern and not re.fullmatch(self.pattern, value):
            return f"must match {self.pattern}, but is {value!r}."
        return None


@dataclass(frozen=True)
class OneOf:
    """One of some values."""

    values: tuple[Any, ...]

    def problem(self, value: Any) -> str | None:
        """See `Form`."""
        return None if value in self.values else f"must be one of {', '.join(map(str, self.values))}, not {value!r}."


@dataclass(frozen=True)
class Between:
    """A number within bounds, both allowed."""

    least: int
    most: int

    def problem(self, value: Any) -> str | None:
        """See `Form`."""
        return None if self.least <= value <= self.most else f"must be {self.least} to {self.most}, not {value}."


@dataclass(frozen=True)
class Cidr:
    """A block of IPv4 addresses, written as its network address.

    Attributes:
        largest: Fewest bits of its prefix.
        smallest: Most bits of its prefix.
    """

    largest: int = 0
    smallest: int = 32

    def problem(self, value: Any) -> str | None:
        """See `Form`."""
        try:
            network = ipaddress.IPv4Network(value)
        except ValueError:
            return f"must be an IPv4 block written as its network address, such as 10.0.0.0/16, not {value!r}."
        if not self.largest <= network.prefixlen <= self.smallest:
            return f"must be a block of /{self.largest} to /{self.smallest}, not {value}."
        return None


@dataclass(frozen=True)
class Json:
    """A JSON object or list in a string."""

    def problem(self, value: Any) -> str | None:
        """See `Form`."""
        return None if as_document(value) is not None else f"must be a JSON document, not {value!r}."


@dataclass(frozen=True)
class Policy:
    """An IAM policy document in a string.

    Attributes:
        longest: Most characters, white space not counted.
        principal: Whether its statements must name principals (policies of resources) or must not (of identities).
    """

    longest: int
    principal: bool

    def problem(self, value: Any) -> str | None:
        """See `Form`: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html."""
        document = as_document(value)
        if not isinstance(document, dict):
            return "is no policy document: MalformedPolicyDocument: JSON strings must not have leading spaces."
        if (size := len(re.sub(r"\s", "", json.dumps(document)))) > self.longest:
            return f"is too long: LimitExceeded: {size} characters, at most {self.longest}."
        statements = document.get("Statement")
        statements = [statements] if isinstance(statements, dict) else statements
        if not isinstance(statements, list) or not statements:
            return "has no statements: MalformedPolicyDocument: Syntax errors in policy."
        if document.get("Version", "2012-10-17") not in ("2012-10-17", "2008-10-17"):
            return f"has the unknown version {document['Version']!r}: MalformedPolicyDocument."
        for position, statement in enumerate(statements):
            if problem := self._statement(statement):
                return f"is malformed in statement {position}: {problem}."
        return None

    def _statement(self, statement: Any) -> str | None:
        if not isinstance(statement, dict):
            return "it is no object"
        actions = statement.get("Action", statement.get("NotAction")) or []
        actions = [actions] if isinstance(actions, str) else actions
        strange = [one for one in actions if one != "*" and not re.fullmatch(r"[a-z0-9-]+:[A-Za-z0-9*?]+", one)]
        unknown = sorted(set(statement) - _STATEMENT)
        judged = {
            f"it has the unknown key {next(iter(unknown), '')}": bool(unknown),
            "Effect must be Allow or Deny": statement.get("Effect") not in ("Allow", "Deny"),
            "Sid must be letters and digits": not (self.principal or statement.get("Sid", "a").isalnum()),
            "it has no Action": not actions,
            f"{next(iter(strange), '')!r} is no action": bool(strange),
            "it needs a Principal": self.principal and not {"Principal", "NotPrincipal"} & set(statement),
            "it must not have a Principal": not self.principal and bool({"Principal", "NotPrincipal"} & set(statement)),
            "it has no Resource": not self.principal and not {"Resource", "NotResource"} & set(statement),
        }
        return next((problem for problem, wrong in judged.items() if wrong), None)


_STATEMENT = {
    *("Action", "Condition", "Effect", "NotAction", "NotPrincipal", "NotResource", "Principal", "Resource", "Sid"),
}
