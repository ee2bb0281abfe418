"""What a check found: plain data that every format is written from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pulumi_lws.checking.located import line_of
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import Rule

STANDARD_INPUT = "-"
"""The name under which standard input is read and reported."""

SCHEMA_RULE = "schema"
"""Stands as the rule of what the API server's schema refuses."""

SCHEMA_WHY = "The API server refuses an object with fields that its schema does not have, or with values out of bounds."


@dataclass(frozen=True)
class ReadObject:
    """An object as it was read.

    Attributes:
        file: The file as it was named, or found below a folder.
        document: Position of its document in the file, counted from 0.
        line: The line on which it starts, counted from 1.
        manifest: What it says.
    """

    file: str
    document: int
    line: int
    manifest: Mapping[str, Any]

    def text(self, *path: str) -> str | None:
        """Return the text at ``path``; None where there is something else, or nothing."""
        value: Any = self.manifest
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        return value if isinstance(value, str) else None


@dataclass(frozen=True)
class Unreadable:
    """A file or document that could not be read.

    Attributes:
        file: The file as it was named.
        document: Position of the document, counted from 0; None where the whole file cannot be read.
        line: The line on which reading failed; None where there is none.
        message: Why, in one sentence.
    """

    file: str
    document: int | None
    line: int | None
    message: str


@dataclass(frozen=True)
class LeftOut:
    """A document of a folder that is no object, such as the values of a chart, or a kustomization.

    Attributes:
        file: The file as it was found.
    """

    file: str


@dataclass(frozen=True)
class CheckedObject:
    """An object with what is wrong with it.

    Attributes:
        read: The object.
        schema: What it was judged by: ``own`` models, the ``core`` schemas of Kubernetes, or ``none``.
        problems: The worst first.
    """

    read: ReadObject
    schema: str
    problems: tuple[Problem, ...]

    def line_of(self, problem: Problem) -> int:
        """Return the line on which a problem stands."""
        return line_of(self.read.manifest, problem.path, self.read.line)


@dataclass(frozen=True)
class Report:
    """What a check found.

    Attributes:
        objects: The objects, in the order in which they were read.
        errors: What could not be read.
        rules: The rules that the objects were held to.
        notes: What the reader should know about how it was judged.
    """

    objects: tuple[CheckedObject, ...]
    errors: tuple[Unreadable, ...]
    rules: tuple[Rule, ...]
    notes: tuple[str, ...] = ()

    @property
    def problems(self) -> Iterator[Problem]:
        """All problems of all objects."""
        return (problem for checked in self.objects for problem in checked.problems)

    def exit_code(self, fail_on: Severity) -> int:
        """Return 2 if something was unreadable, 1 if a problem is as bad as ``fail_on`` or worse, else 0."""
        if self.errors:
            return 2
        failing = {Severity.ERROR, fail_on}
        return int(any(problem.severity in failing for problem in self.problems))
