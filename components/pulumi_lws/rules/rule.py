"""What a rule is. A rule judges plain data and knows nothing of Pulumi, files or clusters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from pulumi_lws.planning.problems import Problem, Severity

Version = tuple[int, int]
"""Major and minor version."""


def major_and_minor(version: str) -> Version:
    """Return the first two numbers of a version such as ``v1.35.4``."""
    major, minor = version.removeprefix("v").split(".")[:2]
    return int(major), int(minor)


@dataclass(frozen=True)
class Target:
    """The cluster that objects are meant for.

    Attributes:
        lws: Version of LWS.
        kubernetes: Version of Kubernetes.
        gangs: What schedules groups as a whole there: ``kueue``, ``volcano``, ``kai``.
    """

    lws: Version = (0, 10)
    kubernetes: Version = (1, 35)
    gangs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Parameter:
    """A value with which a team adjusts a rule.

    Attributes:
        schema: JSON schema of the value, its description included.
        default: The value where none is given.
    """

    schema: Mapping[str, Any]
    default: Any


@dataclass(frozen=True)
class RegisteredObject:
    """A resource of a Pulumi program, or an object of a file, as far as rules look at it.

    Attributes:
        type: Pulumi type token, such as ``kubernetes:core/v1:Service`` or ``pulumi:providers:kubernetes``.
        properties: Its inputs: for a Kubernetes object the manifest.
        name: Its Pulumi name.
        provider_name: Name of its provider; empty where none is known.
        parent_types: Types of the components that it is below, the outermost first.
        ignored: Paths of inputs whose changes the program ignores.
        urn: Its URN; empty for an object of a file.
        protect: Whether the engine refuses to delete it.
        made_from: URNs of the resources of the program that a property is made from, by property. Only rules that look
            around are told.
    """

    type: str
    properties: Mapping[str, Any]
    name: str = ""
    provider_name: str = ""
    parent_types: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    urn: str = ""
    protect: bool = False
    made_from: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def kind(self) -> str:
        """Kind of a Kubernetes object with its group, such as ``core/Service``; empty for anything else."""
        package, _, rest = self.type.partition(":")
        version, _, kind = rest.partition(":")
        return f"{version.partition('/')[0]}/{kind}" if package == "kubernetes" else ""

    @property
    def stack(self) -> str:
        """Name of its stack, which is the first part of a URN; empty for an object of a file."""
        return self.urn.partition("::")[0].rpartition(":")[2]


_Made = TypeVar("_Made")


class Program(tuple[RegisteredObject, ...]):
    """All objects of a program or of an input, with what rules make of all of them.

    A rule that looks around is asked for every object. What it looks for stands in an index that is made once, so that
    its work grows with the objects and not with their square.
    """

    @cached_property
    def _made(self) -> dict[Callable[["Program"], Any], Any]:
        return {}

    def once(self, make: Callable[["Program"], _Made]) -> _Made:
        """Return what a pure function makes of the objects, such as an index; it is called once."""
        if make not in self._made:
            self._made[make] = make(self)
        made: _Made = self._made[make]
        return made


@dataclass(frozen=True)
class Context:
    """What a rule knows beside the object that it judges.

    Attributes:
        target: The cluster that the object is meant for.
        values: Values of the rule's parameters.
        others: All objects of the same program or input, the judged one among them.
    """

    target: Target
    values: Mapping[str, Any]
    others: Program


Check = Callable[[RegisteredObject, Context], Iterable[Problem]]
"""Judges an object."""


@dataclass(frozen=True)
class Rule:
    """One thing that a deployment must hold to.

    Attributes:
        name: Name in configuration, reports and docs.
        title: What must hold, in one sentence.
        why: What happens otherwise, with the upstream reference.
        fix: What to do.
        severity: How bad a breach is; an error is mandatory in the policy pack.
        since: Version of this library that brought the rule.
        applies_to: Whether the rule has anything to say about an object.
        check: Finds the breaches.
        parameters: Values by which a team adjusts the rule.
        house: Whether it is a choice of this library, which the policy pack and ``lws check`` hold objects to while
            components leave it to them.
        looks_around: Whether it needs the other objects of the program.
        of_programs: Whether it judges how a Pulumi program registers objects, which files do not tell.
    """

    name: str
    title: str
    why: str
    fix: str
    severity: Severity
    applies_to: Callable[[RegisteredObject], bool]
    check: Check
    since: str = "0.1"
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    house: bool = False
    looks_around: bool = False
    of_programs: bool = False

    def problems(
        self,
        subject: RegisteredObject,
        target: Target,
        values: Mapping[str, Any] | None = None,
        others: Sequence[RegisteredObject] = (),
    ) -> list[Problem]:
        """Return what ``subject`` breaks, with the rule's name and severity; nothing where the rule does not apply.

        Args:
            subject: The object.
            target: The cluster that it is meant for.
            values: Values of parameters; the defaults where one is missing.
            others: All objects, the judged one among them. Who judges many of them hands over one ``Program``.
        """
        if not self.applies_to(subject):
            return []
        program = others if isinstance(others, Program) else Program(others or (subject,))
        settings = {name: parameter.default for name, parameter in self.parameters.items()} | dict(values or {})
        return [
            replace(
                problem,
                rule=self.name,
                severity=problem.severity if problem.severity is Severity.UNSEEN else self.severity,
            )
            for problem in self.check(subject, Context(target, settings, program))
        ]


LEADER_WORKER_SET = "leaderworkerset.x-k8s.io/LeaderWorkerSet"
"""Kind of a LeaderWorkerSet with its group."""

DISAGGREGATED_SET = "disaggregatedset.x-k8s.io/DisaggregatedSet"
"""Kind of a DisaggregatedSet with its group."""


def is_kind(*kinds: str) -> Callable[[RegisteredObject], bool]:
    """Return a test for objects of these kinds, of whatever version."""
    return lambda subject: subject.kind in kinds
