"""The whole pack, run as the engine runs it."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
from pulumi_policy.proxy import unknown_checking_proxy

from pulumi_lws.policies.pack import policies
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.levels import Preset
from pulumi_lws.rules.scope import SETTINGS


@dataclass(frozen=True)
class Registered:
    """A resource of a program."""

    type: str
    name: str
    properties: Mapping[str, Any]
    provider: str = "cluster"

    @property
    def urn(self) -> str:
        """The URN that the engine gives it."""
        return f"urn:pulumi:prod::llm::{self.type}::{self.name}"


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
        for policy in pack:
            if isinstance(policy, ResourceValidationPolicy):
                policy.validate(_args(resource, settings[policy.name]), reporter(policy, resource.urn))
    for policy in pack:
        if isinstance(policy, StackValidationPolicy):
            together = StackValidationArgs([_resource(each) for each in resources], settings[policy.name], {})
            policy.validate(together, reporter(policy, ""))
    return found


def _args(resource: Registered, config: Mapping[str, Any]) -> ResourceValidationArgs:
    proxy = unknown_checking_proxy(dict(resource.properties))
    return ResourceValidationArgs(
        resource.type, proxy, resource.urn, resource.name, _OPTIONS, _provider(resource), config, {}
    )


def _resource(resource: Registered) -> PolicyResource:
    proxy = unknown_checking_proxy(dict(resource.properties))
    return PolicyResource(
        resource.type, proxy, resource.urn, resource.name, _OPTIONS, _provider(resource), None, [], {}
    )


def _provider(resource: Registered) -> PolicyProviderResource:
    package = resource.type.partition(":")[0]
    return PolicyProviderResource(
        f"pulumi:providers:{package}", unknown_checking_proxy({}), "urn:provider", resource.provider
    )


_OPTIONS = PolicyResourceOptions(False, [], None, [], PolicyCustomTimeouts(0, 0, 0), [], "")
