"""The whole pack, run as the engine runs it."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pulumi_policy import (
    PolicyCustomTimeouts,
    PolicyProviderResource,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from lab.rule_samples import Sample
from pulumi_lws.policies.pack import policies
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.levels import Preset
from pulumi_lws.rules.scope import SETTINGS
from pulumi_lws.rules.values import UNKNOWN


@dataclass(frozen=True)
class Registered:
    """A resource of a program; where it has no URN of its own, in a stack called prod."""

    type: str
    name: str
    properties: Mapping[str, Any]
    provider: str = "cluster"
    parent_types: tuple[str, ...] = ()
    own_urn: str = ""
    protect: bool = False
    made_from: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def urn(self) -> str:
        """The URN that the engine gives it."""
        return self.own_urn or f"urn:pulumi:prod::llm::{'$'.join([*self.parent_types, self.type])}::{self.name}"


def program_of(sample: Sample) -> list[Registered]:
    """The objects of a sample as resources of a program, called by their places."""
    return [
        Registered(
            each.type,
            str(place),
            sent(each.properties),
            each.provider_name,
            each.parent_types,
            each.urn,
            each.protect,
            each.made_from,
        )
        for place, each in enumerate(sample.together)
    ]


def config_of(sample: Sample) -> dict[str, dict[str, Any]]:
    """The configuration that names the cluster of a sample, and the values of its rule's parameters."""
    versions = {"lwsVersion": sample.target.lws, "kubernetesVersion": sample.target.kubernetes}
    meant = {name: f"{major}.{minor}" for name, (major, minor) in versions.items()}
    return {"pack": {**meant, "gangs": sorted(sample.target.gangs)}, sample.rule: dict(sample.values)}


def sent(value: Any) -> Any:
    """A value as the engine sends it: what is not known yet as a text of its own, and every number as a float."""
    if isinstance(value, Mapping):
        return {key: sent(part) for key, part in value.items()}
    if isinstance(value, list):
        return [sent(part) for part in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return UNKNOWN_STRING_VALUE if value is UNKNOWN else value


@dataclass(frozen=True)
class Violation:
    """What a policy says of a resource."""

    policy: str
    level: str
    name: str
    message: str


def outline(found: list[Violation]) -> set[tuple[str, str, str]]:
    """Policy, level and resource of each violation."""
    return {(each.policy, each.level, each.name) for each in found}


def run_pack(
    *resources: Registered, preset: Preset = Preset.STANDARD, config: Mapping[str, Mapping[str, Any]] | None = None
) -> list[Violation]:
    """Let the pack judge a program: each resource by each policy, and then all of them together."""
    defaults = {rule.name: {name: each.default for name, each in rule.parameters.items()} for rule in RULES}
    defaults["pack"] = {name: each.default for name, each in SETTINGS.items()}
    # The engine fills in what the file leaves out.
    settings = defaultdict[str, dict[str, Any]](
        dict, {k: v | dict((config or {}).get(k, {})) for k, v in defaults.items()}
    )
    pack = policies(preset)
    names = {resource.urn: resource.name for resource in resources}
    found: list[Violation] = []

    def reporter(policy: Any, of: str) -> Callable[..., None]:
        def report(message: str, urn: str | None = None) -> None:
            level = policy.enforcement_level
            found.append(Violation(policy.name, level.value, names.get(urn or of, ""), message))

        return report

    for resource in resources:
        props = unknown_checking_proxy(dict(resource.properties))
        for policy in pack:
            if isinstance(policy, ResourceValidationPolicy):
                policy.validate(_args(resource, props, settings[policy.name]), reporter(policy, resource.urn))
    for policy in pack:
        if isinstance(policy, StackValidationPolicy):
            together = StackValidationArgs([_resource(each) for each in resources], settings[policy.name], {})
            policy.validate(together, reporter(policy, ""))
    return found


def _args(resource: Registered, props: dict[str, Any], config: Mapping[str, Any]) -> ResourceValidationArgs:
    return ResourceValidationArgs(
        resource.type, props, resource.urn, resource.name, _options(resource), _provider(resource), config, {}
    )


def _resource(resource: Registered) -> PolicyResource:
    proxy = unknown_checking_proxy(dict(resource.properties))
    sources = {name: [_source(urn) for urn in urns] for name, urns in resource.made_from.items()}
    return PolicyResource(
        resource.type, proxy, resource.urn, resource.name, _options(resource), _provider(resource), None, [], sources
    )


def _source(urn: str) -> PolicyResource:
    """What a property is made from, of which nothing but its URN matters."""
    return _resource(Registered(type=urn.split("::")[2], name=urn.rpartition("::")[2], properties={}, own_urn=urn))


def _provider(resource: Registered) -> PolicyProviderResource:
    package = resource.type.partition(":")[0]
    return PolicyProviderResource(
        f"pulumi:providers:{package}", unknown_checking_proxy({}), "urn:provider", resource.provider
    )


def _options(resource: Registered) -> PolicyResourceOptions:
    return PolicyResourceOptions(resource.protect, [], None, [], PolicyCustomTimeouts(0, 0, 0), [], "")
