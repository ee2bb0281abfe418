"""What a rule is. A rule judges plain data and knows nothing of Pulumi, files or clusters."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity


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
    """A resource of a Pulumi program, as far as rules look at it.

    Attributes:
        type: Pulumi type token, such as ``kubernetes:core/v1:Service`` or ``pulumi:providers:kubernetes``.
        properties: Its inputs.
        name: Its Pulumi name.
        provider_name: Name of its provider; empty where none is known.
    """

    type: str
    properties: Mapping[str, Any]
    name: str = ""
    provider_name: str = ""

    @property
    def kind(self) -> str:
        """Kind of a Kubernetes object with its group, such as ``core/Service``; empty for anything else."""
        package, _, rest = self.type.partition(":")
        version, _, kind = rest.partition(":")
        return f"{version.partition('/')[0]}/{kind}" if package == "kubernetes" else ""


Check = Callable[[RegisteredObject, Mapping[str, Any]], Iterable[Problem]]
"""Judges an object with the values of the rule's parameters."""


@dataclass(frozen=True)
class Rule:
    """One thing that a deployment must hold to.

    Attributes:
        name: Name in configuration, reports and docs.
        title: What must hold, in one sentence.
        why: What happens otherwise, with the upstream reference.
        fix: What to do.
        severity: How bad a breach is; an error is mandatory in the policy pack.
        applies_to: Whether the rule has anything to say about an object.
        check: Finds the breaches.
        parameters: Values by which a team adjusts the rule.
    """

    name: str
    title: str
    why: str
    fix: str
    severity: Severity
    applies_to: Callable[[RegisteredObject], bool]
    check: Check
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    def problems(self, subject: RegisteredObject, values: Mapping[str, Any] | None = None) -> list[Problem]:
        """Return what ``subject`` breaks, with the rule's name and severity; nothing where the rule does not apply."""
        if not self.applies_to(subject):
            return []
        settings = {name: parameter.default for name, parameter in self.parameters.items()} | dict(values or {})
        return [
            replace(
                problem,
                rule=self.name,
                severity=problem.severity if problem.severity is Severity.UNSEEN else self.severity,
            )
            for problem in self.check(subject, settings)
        ]


LEADER_WORKER_SET = "leaderworkerset.x-k8s.io/LeaderWorkerSet"
"""Kind of a LeaderWorkerSet with its group."""


def is_leader_worker_set(subject: RegisteredObject) -> bool:
    """Tell whether an object is a LeaderWorkerSet, of whatever version."""
    return subject.kind == LEADER_WORKER_SET
