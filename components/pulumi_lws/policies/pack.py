"""The rules as a CrossGuard policy pack, for any Pulumi program."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    PolicyPack,
    PolicyResource,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.rule import RegisteredObject, Rule, Target
from pulumi_lws.rules.values import UNKNOWN

UNSEEN_POLICY = "values-not-seen"
"""The policy that reports what the rules could not judge; it never blocks."""

_LEVELS = {Severity.ERROR: EnforcementLevel.MANDATORY, Severity.WARNING: EnforcementLevel.ADVISORY}


def run() -> None:
    """Serve the pack to the engine that started this process. Returns only when the engine is done."""
    PolicyPack("pulumi-lws", policies(), enforcement_level=EnforcementLevel.ADVISORY)


def policies() -> list[Policy]:
    """Return one policy for each rule, and one for what they could not see."""
    return [*(_stack_policy(rule) if rule.looks_around else _policy(rule) for rule in RULES), _unseen_policy()]


def plain(value: Any) -> Any:
    """Return what the engine sent as plain data, with ``UNKNOWN`` wherever a value is not known yet."""
    if isinstance(value, Mapping):
        return {key: _plain_item(value, key) for key in value}
    # The SDK's own list is a Sequence but no list; text is a Sequence too.
    if hasattr(value, "__getitem__") and not isinstance(value, str | bytes):
        return [_plain_item(value, index) for index in range(len(value))]
    return value


def _plain_item(container: Any, key: Any) -> Any:
    try:
        return plain(container[key])
    except UnknownValueError:
        return UNKNOWN


def _policy(rule: Rule) -> ResourceValidationPolicy:
    def validate(args: ResourceValidationArgs, report: Callable[..., None]) -> None:
        if rule.applies_to(_outline(args)):
            for problem in _seen(rule.problems(_subject(args), Target(), plain(args.get_config()))):
                report(str(problem))

    return ResourceValidationPolicy(
        name=rule.name,
        description=_description(rule),
        validate=validate,
        enforcement_level=_LEVELS[rule.severity],
        config_schema=_schema(rule),
    )


def _stack_policy(rule: Rule) -> StackValidationPolicy:
    def validate(args: StackValidationArgs, report: Callable[..., None]) -> None:
        subjects = [_subject(resource) for resource in args.resources]
        config = plain(args.get_config())
        for resource, subject in zip(args.resources, subjects, strict=True):
            for problem in _seen(rule.problems(subject, Target(), config, subjects)):
                report(str(problem), resource.urn)

    return StackValidationPolicy(
        name=rule.name,
        description=_description(rule),
        validate=validate,
        enforcement_level=_LEVELS[rule.severity],
        config_schema=_schema(rule),
    )


def _seen(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Leave out what could not be judged: another policy says so, and that blocks nothing."""
    return (problem for problem in problems if problem.severity is not Severity.UNSEEN)


def _description(rule: Rule) -> str:
    return f"{rule.title} {rule.why}"


def _schema(rule: Rule) -> PolicyConfigSchema:
    return PolicyConfigSchema(
        {name: {**parameter.schema, "default": parameter.default} for name, parameter in rule.parameters.items()}
    )


def _unseen_policy() -> ResourceValidationPolicy:
    def validate(args: ResourceValidationArgs, report: Callable[..., None]) -> None:
        governing = [rule for rule in RULES if rule.applies_to(_outline(args))]
        subject = _subject(args) if governing else _outline(args)
        for rule in governing:
            for problem in rule.problems(subject, Target()):
                if problem.severity is Severity.UNSEEN:
                    report(f"{rule.name} could not judge {problem}")

    return ResourceValidationPolicy(
        name=UNSEEN_POLICY,
        description="Values that are not known before the update keep a rule from judging them.",
        validate=validate,
        enforcement_level=EnforcementLevel.ADVISORY,
    )


def _outline(args: ResourceValidationArgs | PolicyResource) -> RegisteredObject:
    """Return a resource without its properties. It costs next to nothing, and tells which rules have a say."""
    provider = args.provider.name if args.provider else ""
    return RegisteredObject(args.resource_type, {}, args.name, provider, _parent_types(args.urn))


def _parent_types(urn: str) -> tuple[str, ...]:
    """Read the components that a resource is below from ``urn:pulumi:<stack>::<project>::<type>$<type>::<name>``."""
    parts = urn.split("::")
    return tuple(parts[2].split("$")[:-1]) if len(parts) > 3 else ()


def _subject(args: ResourceValidationArgs | PolicyResource) -> RegisteredObject:
    return replace(_outline(args), properties=plain(args.props))
