"""The rules as a CrossGuard policy pack, for any Pulumi program.

What holds for all rules is the configuration of a policy of its own, since packs have none: the engine hands each
policy its own configuration, and only while it judges a resource. That policy stands first, so the others find it read.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi
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
from pulumi_lws.rules.exemptions import exemption_names, today
from pulumi_lws.rules.judging import could_not_judge
from pulumi_lws.rules.levels import Preset, level_of
from pulumi_lws.rules.rule import Parameter, RegisteredObject, Rule
from pulumi_lws.rules.scope import SCOPE_POLICY, SETTINGS, Scope, mistakes_in, scope_of
from pulumi_lws.rules.values import UNKNOWN

UNSEEN_POLICY = "values-not-seen"
"""The policy that reports what the rules could not judge; it never blocks."""

_NAMES = [rule.name for rule in RULES]
_STACK = "pulumi:pulumi:Stack"


class _Judged(threading.local):
    """The resource that a thread judges: all policies look at it, one after another, before the next one comes."""

    urn: str | None = None
    subject: RegisteredObject | None = None

    def begin(self, urn: str) -> None:
        """Say that the policies look at another resource from now on."""
        self.urn, self.subject = urn, None

    def read(self, args: ResourceValidationArgs) -> RegisteredObject:
        """Return the resource, read once."""
        if self.urn != args.urn:
            # The policy that says where one begins may be disabled.
            return _subject(args)
        if self.subject is None:
            self.subject = _subject(args)
        return self.subject


@dataclass
class _Pack:
    """What the policies of a pack share.

    Attributes:
        scope: What the configuration says for all rules, once it was read; the same whenever it is read.
        judged: The resource that the thread judges just now. The engine's side hands each policy a copy of its own,
            and reading one is most of the work.
    """

    scope: Scope
    judged: _Judged = field(default_factory=_Judged)


def run(preset: str = Preset.STANDARD) -> None:
    """Serve the pack to the engine that started this process. Returns only when the engine is done.

    Args:
        preset: ``advisory`` blocks nothing, ``standard`` blocks on errors, ``strict`` on warnings too.
    """
    if preset not in list(Preset):
        sys.exit(f"There is no preset {preset!r}. Write one of {', '.join(Preset)} in the program of the policy pack.")
    PolicyPack("pulumi-lws", policies(Preset(preset)))


def policies(preset: Preset = Preset.STANDARD) -> list[Policy]:
    """Return one policy for each rule, one for what is said for all of them, and one for what they could not see."""
    pack = _Pack(Scope())
    rules = [*RULES, exemption_names(_NAMES)]
    return [
        _pack_policy(pack),
        *(_stack_policy(rule, preset, pack) if rule.looks_around else _policy(rule, preset, pack) for rule in rules),
        _unseen_policy(pack),
    ]


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


def _pack_policy(pack: _Pack) -> ResourceValidationPolicy:
    def validate(args: ResourceValidationArgs, report: Callable[..., None]) -> None:
        pack.judged.begin(args.urn)
        config = plain(args.get_config())
        pack.scope = scope_of(config)
        if args.resource_type == _STACK:
            for mistake in mistakes_in(config, _NAMES):
                report(mistake)

    return ResourceValidationPolicy(
        name=SCOPE_POLICY,
        description="What holds for all rules: the cluster that is meant, namespaces and exemptions.",
        validate=validate,
        enforcement_level=EnforcementLevel.ADVISORY,
        config_schema=_schema(SETTINGS),
    )


def _policy(rule: Rule, preset: Preset, pack: _Pack) -> ResourceValidationPolicy:
    def validate(args: ResourceValidationArgs, report: Callable[..., None]) -> None:
        if rule.applies_to(_outline(args)):
            for problem in _judge(rule, args.urn, pack.judged.read(args), pack.scope, values=plain(args.get_config())):
                # Another policy says what could not be judged, and that blocks nothing.
                if problem.severity is not Severity.UNSEEN:
                    report(str(problem))

    return ResourceValidationPolicy(
        name=rule.name,
        description=_description(rule),
        validate=validate,
        enforcement_level=_level(rule, preset),
        config_schema=_schema(rule.parameters),
    )


def _stack_policy(rule: Rule, preset: Preset, pack: _Pack) -> StackValidationPolicy:
    def validate(args: StackValidationArgs, report: Callable[..., None]) -> None:
        subjects = [_subject(resource) for resource in args.resources]
        config = plain(args.get_config())
        for resource, subject in zip(args.resources, subjects, strict=True):
            for problem in _judge(rule, resource.urn, subject, pack.scope, values=config, others=subjects):
                if problem.severity is not Severity.UNSEEN:
                    report(str(problem), resource.urn)

    return StackValidationPolicy(
        name=rule.name,
        description=_description(rule),
        validate=validate,
        enforcement_level=_level(rule, preset),
        config_schema=_schema(rule.parameters),
    )


def _unseen_policy(pack: _Pack) -> ResourceValidationPolicy:
    def validate(args: ResourceValidationArgs, report: Callable[..., None]) -> None:
        governing = [rule for rule in RULES if rule.applies_to(_outline(args))]
        subject = pack.judged.read(args) if governing else _outline(args)
        for rule in governing:
            for problem in _judge(rule, args.urn, subject, pack.scope):
                if problem.severity is Severity.UNSEEN:
                    report(f"{rule.name} could not judge {problem}")

    return ResourceValidationPolicy(
        name=UNSEEN_POLICY,
        description="Values that are not known before the update keep a rule from judging them.",
        validate=validate,
        enforcement_level=EnforcementLevel.ADVISORY,
    )


def _judge(
    rule: Rule,
    urn: str,
    subject: RegisteredObject,
    scope: Scope,
    *,
    values: Mapping[str, Any] | None = None,
    others: Sequence[RegisteredObject] = (),
) -> Iterable[Problem]:
    """Return what is to be mended."""
    if not scope.covers(subject):
        return []
    try:
        problems = rule.problems(subject, scope.target, values, others)
    except Exception as error:  # noqa: BLE001 - a mistake in a rule of ours must not stop anybody's update
        pulumi.log.warn(f"{rule.name} on {urn}: {could_not_judge(rule, error)}")
        return []
    return scope.heed(problems, subject, today(), urn)[0]


def _level(rule: Rule, preset: Preset) -> EnforcementLevel:
    return EnforcementLevel(level_of(rule.severity, preset).value)


def _description(rule: Rule) -> str:
    return f"{rule.title} {rule.why}"


def _schema(parameters: Mapping[str, Parameter]) -> PolicyConfigSchema:
    return PolicyConfigSchema(
        {name: {**parameter.schema, "default": parameter.default} for name, parameter in parameters.items()}
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
