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
from pulumi_lws.policies.reading import Readings, read_once
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.exemptions import exemption_names, today
from pulumi_lws.rules.judging import could_not_judge
from pulumi_lws.rules.levels import Preset, level_of
from pulumi_lws.rules.rule import Parameter, Program, RegisteredObject, Rule
from pulumi_lws.rules.scope import SCOPE_POLICY, SETTINGS, Scope, mistakes_in, scope_of
from pulumi_lws.rules.values import UNKNOWN

UNSEEN_POLICY = "values-not-seen"
"""The policy that reports what the rules could not judge; it never blocks."""

UNSEEN_AROUND_POLICY = "objects-not-seen"
"""The same of the rules that look at other objects: only once the program has ended are all of them there."""

_NAMES = [rule.name for rule in RULES]
_STACK = "pulumi:pulumi:Stack"


class _Judged(threading.local):
    """The resource that a thread judges: all policies look at it, one after another, before the next one comes."""

    props: object = None
    subject: RegisteredObject | None = None

    def read(self, args: ResourceValidationArgs) -> RegisteredObject:
        """Return the resource, read once."""
        if self.subject is None or self.props is not args.props:
            self.props, self.subject = args.props, _subject(args)
        return self.subject


@dataclass
class _Pack:
    """What the policies of a pack share.

    Attributes:
        readings: What the SDK has read of the resource that the thread judges just now.
        scope: What the configuration says for all rules, once it was read; the same whenever it is read.
        judged: The resource that the thread judges just now.
        inputs: What the program declared, by URN. Policies of whole stacks are handed outputs, which are empty where a
            preview does not reach the cluster.
        not_seen: What was said already of what could not be judged: rule, URN and place.
        not_seen_around: What is still to be said of it, each with its URN.
    """

    readings: Readings
    scope: Scope = field(default_factory=Scope)
    judged: _Judged = field(default_factory=_Judged)
    inputs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    not_seen: set[tuple[str, str, str]] = field(default_factory=set)
    not_seen_around: list[tuple[str, str]] = field(default_factory=list)


def run(preset: str = Preset.STANDARD) -> None:
    """Serve the pack to the engine that started this process. Returns only when the engine is done.

    Args:
        preset: ``advisory`` blocks nothing, ``standard`` blocks on errors, ``strict`` on warnings too.
    """
    if preset not in list(Preset):
        sys.exit(f"There is no preset {preset!r}. Write one of {', '.join(Preset)} in the program of the policy pack.")
    PolicyPack("pulumi-lws", policies(Preset(preset), read_once()))


def policies(preset: Preset = Preset.STANDARD, readings: Readings | None = None) -> list[Policy]:
    """Return one policy for each rule, one for what is said for all of them, and one for what they could not see.

    Args:
        preset: The levels.
        readings: What the SDK remembers of a resource, to be forgotten once all policies have seen it.
    """
    pack = _Pack(readings or Readings())
    rules = [*RULES, exemption_names(_NAMES)]
    return [
        _pack_policy(pack),
        *(_stack_policy(rule, preset, pack) if rule.looks_around else _policy(rule, preset, pack) for rule in rules),
        _unseen_policy(pack),
        _unseen_around_policy(pack),
    ]


def plain(value: Any) -> Any:
    """Return what the engine sent as plain data, with ``UNKNOWN`` wherever a value is not known yet.

    Whole numbers are whole again: the engine sends every number as a float.
    """
    if isinstance(value, Mapping):
        return {key: _plain_item(value, key) for key in value}
    # The SDK's own list is a Sequence but no list; text is a Sequence too.
    if hasattr(value, "__getitem__") and not isinstance(value, str | bytes):
        return [_plain_item(value, index) for index in range(len(value))]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_unknown_within(value: Any) -> bool:
    """Tell whether anything within plain data is not known yet."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is UNKNOWN or any(map(is_unknown_within, parts))


def _plain_item(container: Any, key: Any) -> Any:
    try:
        return plain(container[key])
    except UnknownValueError:
        return UNKNOWN


def _pack_policy(pack: _Pack) -> ResourceValidationPolicy:
    def validate(args: ResourceValidationArgs, report: Callable[..., None]) -> None:
        pack.inputs[args.urn] = pack.judged.read(args).properties
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
        subject = pack.judged.read(args)
        if rule.applies_to(subject):
            for problem in _judge(rule, args.urn, subject, pack.scope, values=plain(args.get_config())):
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
        if not any(rule.applies_to(_outline(resource)) for resource in args.resources):
            return
        # The engine hands them over in any order, and what is said of the same program should be the same.
        resources = sorted(args.resources, key=lambda resource: resource.urn)
        subjects = Program(_declared(resource, pack.inputs.get(resource.urn)) for resource in resources)
        config = plain(args.get_config())
        for subject in subjects:
            for problem in _judge(rule, subject.urn, subject, pack.scope, values=config, others=subjects):
                if problem.severity is not Severity.UNSEEN:
                    report(str(problem), subject.urn)
                elif (rule.name, subject.urn, problem.path) not in pack.not_seen:
                    pack.not_seen_around.append((f"{rule.name} could not judge {problem}", subject.urn))

    return StackValidationPolicy(
        name=rule.name,
        description=_description(rule),
        validate=validate,
        enforcement_level=_level(rule, preset),
        config_schema=_schema(rule.parameters),
    )


def _unseen_policy(pack: _Pack) -> ResourceValidationPolicy:
    def validate(args: ResourceValidationArgs, report: Callable[..., None]) -> None:
        subject = pack.judged.read(args)
        pack.readings.forget()
        for rule in RULES if is_unknown_within(subject.properties) else ():
            for problem in _judge(rule, args.urn, subject, pack.scope):
                if problem.severity is Severity.UNSEEN:
                    pack.not_seen.add((rule.name, args.urn, problem.path))
                    report(f"{rule.name} could not judge {problem}")

    return ResourceValidationPolicy(
        name=UNSEEN_POLICY,
        description="Values that are not known before the update keep a rule from judging them.",
        validate=validate,
        enforcement_level=EnforcementLevel.ADVISORY,
    )


def _unseen_around_policy(pack: _Pack) -> StackValidationPolicy:
    def validate(_args: StackValidationArgs, report: Callable[..., None]) -> None:
        for message, urn in pack.not_seen_around:
            report(message, urn)
        pack.not_seen_around.clear()

    return StackValidationPolicy(
        name=UNSEEN_AROUND_POLICY,
        description="Values that are not known before the update keep a rule from judging how objects go together.",
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
    return RegisteredObject(
        args.resource_type,
        properties={},
        name=args.name,
        provider_name=args.provider.name if args.provider else "",
        parent_types=_parent_types(args.urn),
        ignored=tuple(args.opts.ignore_changes),
        urn=args.urn,
        protect=args.opts.protect,
    )


def _parent_types(urn: str) -> tuple[str, ...]:
    """Read the components that a resource is below from ``urn:pulumi:<stack>::<project>::<type>$<type>::<name>``."""
    parts = urn.split("::")
    return tuple(parts[2].split("$")[:-1]) if len(parts) > 3 else ()


def _subject(args: ResourceValidationArgs) -> RegisteredObject:
    return replace(_outline(args), properties=plain(args.props))


def _declared(resource: PolicyResource, inputs: Mapping[str, Any] | None) -> RegisteredObject:
    """Read a resource as the program declared it, though the engine shows its outputs once the program has ended.

    Args:
        resource: The resource as the engine shows it.
        inputs: What the program declared; None where the engine did not show it before, as of what is no target.
    """
    made_from = {name: [each.urn for each in sources] for name, sources in resource.property_dependencies.items()}
    if inputs is not None:
        return replace(_outline(resource), properties=inputs, made_from=made_from)
    # What is not known yet and made from nothing was not declared: the provider will fill it in.
    shown = plain(resource.props).items()
    declared = {name: value for name, value in shown if value is not UNKNOWN or name in made_from}
    return replace(_outline(resource), properties=declared, made_from=made_from)
