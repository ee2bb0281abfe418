"""Run a Pulumi program without an engine, and see what it registers: for our tests and those of teams that use us."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi.runtime


@dataclass(frozen=True)
class Registration:
    """One resource that a program registered.

    Attributes:
        type: Pulumi type token.
        name: Pulumi name.
        inputs: Its inputs, as they go over the wire.
        provider: Reference of its provider; empty where it has none.
    """

    type: str
    name: str
    inputs: Mapping[str, Any]
    provider: str


def record(
    program: Callable[[], None], *, preview: bool = False, answers: Mapping[str, Mapping[str, Any]] | None = None
) -> list[Registration]:
    """Run ``program`` and return what it registered, in order.

    Args:
        program: Registers resources, as the body of a Pulumi program does.
        preview: Whether outputs are unknown, as in the first preview of a stack.
        answers: What providers would answer: outputs beside the inputs by type of a resource, results by token of a
            function. Default none.

    Raises:
        DeclarationError: As the program raised it; so does any other error.
    """
    registrations: list[Registration] = []
    pulumi.runtime.set_mocks(_Recorder(registrations, answers or {}), "project", "stack", preview)
    pulumi.runtime.test(program)()  # type: ignore[no-untyped-call]  # the SDK leaves it untyped
    return registrations


class _Recorder(pulumi.runtime.Mocks):
    def __init__(self, registrations: list[Registration], answers: Mapping[str, Mapping[str, Any]]) -> None:
        self._registrations = registrations
        self._answers = answers

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        self._registrations.append(Registration(args.typ, args.name, args.inputs, args.provider or ""))
        return f"{args.name}-id", {**args.inputs, **self._answers.get(args.typ, {})}

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]]]:
        if args.token not in self._answers:
            raise NotImplementedError(f"the program calls {args.token}, and nothing says what it would answer")
        return dict(self._answers[args.token]), []
