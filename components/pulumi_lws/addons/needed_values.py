"""Values of add-ons that other parts need, and that a chart leaves off or a user took away."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pulumi_lws.addons.addon import Site
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.checks import value_at
from pulumi_lws.addons.installation import installation
from pulumi_lws.addons.settings import AddOnName, AddOns
from pulumi_lws.planning.problems import Problem


@dataclass(frozen=True)
class NeededValue:
    """A value of the chart of an add-on.

    Attributes:
        add_on: The add-on.
        path: Where it stands.
        value: What it must be.
        why: What happens otherwise, after a colon.
        fix: How to set it.
        argument: Argument of its controller that does the same; empty where there is none.
    """

    add_on: AddOnName
    path: tuple[str, ...]
    value: Any
    why: str
    fix: str
    argument: str = ""


REDIS_LIMITS = NeededValue(
    "envoy_gateway",
    ("config", "envoyGateway", "rateLimit", "backend", "type"),
    "Redis",
    "Envoy Gateway refuses the policy of every route without one",
    "Set values.config.envoyGateway.rateLimit.backend to {type: Redis, redis: {url: …}}, or counted to each-proxy.",
)
"""A rate limit that all proxies count together."""

GATEWAY_CERTIFICATES = NeededValue(
    "cert_manager",
    ("config", "enableGatewayAPI"),
    True,
    "cert-manager looks at no Gateway, and their certificates never come",
    "Take config out of its values, or set config.enableGatewayAPI to true.",
    argument="--enable-gateway-api",
)
"""Certificates that cert-manager makes for listeners of gateways."""


def values_off(needed: Iterable[tuple[str, NeededValue]], add_ons: AddOns, site: Site) -> list[Problem]:
    """Return the needed values that installed add-ons do not have; of others nobody here knows.

    Args:
        needed: Values, each with the path of what needs it.
        add_ons: What is installed.
        site: Where.
    """
    problems = []
    for path, need in needed:
        declared = getattr(add_ons, need.add_on)
        if declared is None or declared.manifests is not None:
            continue
        values: Mapping[str, Any] = installation(ADD_ONS[need.add_on], declared, add_ons, site).values
        arguments = [str(one).removesuffix("=true") for one in value_at(values, ("extraArgs",)) or ()]
        found = value_at(values, need.path)
        if found != need.value and need.argument not in arguments:
            problems.append(
                Problem(
                    f"addOns.{ADD_ONS[need.add_on].key}.values.{'.'.join(need.path)}",
                    "nothing" if found is None else f"{found!r}",
                    f"{need.value!r}, since {path} asks for it: {need.why}",
                    need.fix,
                )
            )
    return problems
