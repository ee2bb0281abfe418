"""What a preview says, as plain data: one step for each resource, what policies found, and what went wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from pulumi_lws.rules.rule import RegisteredObject
from pulumi_lws.rules.values import value_at

PROVIDER_PREFIX = "pulumi:providers:"


class Operation(StrEnum):
    """What an update would do to a resource."""

    DELETE = "delete"
    REPLACE = "replace"
    UPDATE = "update"
    CREATE = "create"
    SAME = "same"


@dataclass(frozen=True)
class Resource:
    """A resource, before or after the update.

    Attributes:
        urn: Its name in the whole stack.
        type: Its type token.
        parent: URN of the component that it is below; empty for none.
        inputs: What the program says of it; for a Kubernetes object the manifest.
    """

    urn: str
    type: str
    parent: str
    inputs: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its Pulumi name."""
        return self.urn.rpartition("::")[2]

    @cached_property
    def registered(self) -> RegisteredObject:
        """The same, as rules read it."""
        return RegisteredObject(self.type, self.inputs, self.name)

    @property
    def kind(self) -> str:
        """Kind of a Kubernetes object with its group, such as ``karpenter.sh/NodePool``; empty for anything else."""
        return self.registered.kind

    @property
    def short_type(self) -> str:
        """Its type as people say it: ``NodePool``, ``Vpc``."""
        last = self.type.rpartition(":")[2]
        return f"{last} provider" if self.type.startswith(PROVIDER_PREFIX) else last

    @property
    def own_name(self) -> str:
        """The name that the thing itself has, where the program says one, else its Pulumi name."""
        name = value_at(self.inputs, "metadata", "name") if self.kind else value_at(self.inputs, "name")
        return name if isinstance(name, str) and name else self.name


@dataclass(frozen=True)
class Step:
    """What happens to one resource.

    Attributes:
        operation: What is done.
        old: The resource as it is; None where there is none.
        new: The resource as it will be; None where there will be none.
    """

    operation: Operation
    old: Resource | None
    new: Resource | None

    @property
    def resource(self) -> Resource:
        """The resource as it will be, or as it was."""
        found = self.new or self.old
        if found is None:
            raise AssertionError("a step is about a resource")
        return found


@dataclass(frozen=True)
class PolicyResult:
    """A policy that does not hold.

    Attributes:
        policy: Its name.
        pack: Its pack.
        mandatory: Whether it stops the update.
        urn: The resource that breaks it; empty where it is the stack.
        message: What is wrong, and the fix.
    """

    policy: str
    pack: str
    mandatory: bool
    urn: str
    message: str


@dataclass(frozen=True)
class Diagnostic:
    """Something that the preview complains of.

    Attributes:
        is_error: Whether it made the preview fail.
        urn: The resource that it is about; empty for none.
        message: What it says.
    """

    is_error: bool
    urn: str
    message: str


@dataclass(frozen=True)
class Preview:
    """A preview of one stack.

    Attributes:
        steps: One step for each resource, in the order of the engine.
        policies: What policies found; None where the file cannot tell, since only events carry it.
        packs: Policy packs that ran.
        diagnostics: Errors and warnings.
        failed: Whether the preview itself failed.
        saw_all: Whether it got to the end of the program. One that ended early has seen only some resources, and no
            deletion: nothing can be told of the whole stack, neither as it is nor as it will be.
        missing: Unchanged resources that the file leaves out.
    """

    steps: tuple[Step, ...]
    policies: tuple[PolicyResult, ...] | None
    packs: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    failed: bool
    saw_all: bool
    missing: int = 0

    @cached_property
    def before(self) -> dict[str, Resource]:
        """Resources that exist now, by URN."""
        return {step.old.urn: step.old for step in self.steps if step.old and step.operation is not Operation.CREATE}

    @cached_property
    def after(self) -> dict[str, Resource]:
        """Resources that will exist, by URN."""
        return {step.new.urn: step.new for step in self.steps if step.new and step.operation is not Operation.DELETE}

    @property
    def stack(self) -> str:
        """Project and stack, such as ``pulumi-lws/prod``; empty where no step tells."""
        for step in self.steps:
            parts = step.resource.urn.removeprefix("urn:pulumi:").split("::")
            if len(parts) > 2:
                return f"{parts[1]}/{parts[0]}"
        return ""
