"""What every component does at the Pulumi edge: read its arguments, and register manifests as they were rendered."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import metadata
from typing import Any, TypeVar

import pulumi
from pydantic import ValidationError

from pulumi_lws.declarations import Declaration
from pulumi_lws.planning.problems import Problem, Severity, describe, errors_of
from pulumi_lws.planning.validation import problems_of

Args = TypeVar("Args", bound=Declaration)

KUBERNETES_SDK_VERSION = metadata.version("pulumi-kubernetes")
"""Version of the provider that registered objects ask for; the SDK's, as its own classes do."""


_IS_PART = ContextVar("is_part", default=False)


class DeclarationError(pulumi.RunError):
    """A declaration that must not be applied. Pulumi shows its message alone, without a traceback."""

    def __init__(self, problems: list[Problem], subject: str) -> None:
        super().__init__(describe(problems, subject))
        self.problems = problems


def declared(model: type[Args], args: Args | Mapping[str, Any], subject: str) -> Args:
    """Return ``args`` as a ``model``.

    Raises:
        DeclarationError: With every problem of the declaration, each with path and fix.
    """
    if isinstance(args, model):
        return args
    try:
        return model.model_validate(args)
    except ValidationError as error:
        raise DeclarationError(problems_of(error, model), subject) from None


@contextmanager
def as_parts() -> Iterator[None]:
    """Make the parts of a whole that was judged: its warnings are shown, and its parts do not repeat them."""
    token = _IS_PART.set(True)
    try:
        yield
    finally:
        _IS_PART.reset(token)


def raise_problems(problems: list[Problem], subject: str) -> None:
    """Stop the program on errors, and show warnings, unless a whole has shown them.

    Raises:
        DeclarationError: With every error among the problems.
    """
    for problem in problems:
        if problem.severity is Severity.WARNING and not _IS_PART.get():
            pulumi.log.warn(f"{subject}: {problem}")
    if errors := errors_of(problems):
        raise DeclarationError(errors, subject)


def type_token(manifest: Mapping[str, Any]) -> str:
    """Return the Pulumi type of a manifest, such as ``kubernetes:core/v1:Service``."""
    api_version = manifest["apiVersion"]
    return f"kubernetes:{api_version if '/' in api_version else f'core/{api_version}'}:{manifest['kind']}"


class Manifest(pulumi.CustomResource):
    """One Kubernetes object, registered exactly as it was rendered.

    ``pulumi_kubernetes.apiextensions.CustomResource`` takes only ``spec`` and ``metadata``, and the typed classes would
    need a second description of the same object.
    """

    def __init__(self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(
            type_token(manifest),
            name,
            dict(manifest),
            pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=KUBERNETES_SDK_VERSION), opts),
        )
