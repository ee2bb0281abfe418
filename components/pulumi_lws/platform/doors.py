"""The gateways of a platform, and the deployments that let them in."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.addons.installation import namespaces_of
from pulumi_lws.edge.backends import backend_of, gateway_client
from pulumi_lws.edge.settings import InferenceGatewayArgs
from pulumi_lws.platform.cluster_checks import mode_of
from pulumi_lws.platform.settings import NAMESPACES_OF_KUBERNETES, PlatformArgs
from pulumi_lws.serving.entries import DeploymentSettings
from pulumi_lws.serving.settings import Client, DeploymentArgs


def with_gateways(platform: PlatformArgs, name: str, deployment: DeploymentSettings) -> DeploymentSettings:
    """Let the gateways into a deployment that routes lead to.

    Args:
        platform: The platform.
        name: Name of the deployment.
        deployment: The deployment.
    """
    clients = _gateways_to(platform, name)
    if deployment.network is None or not clients:
        return deployment
    network = deployment.network.model_copy(update={"clients": (*deployment.network.clients, *clients)})
    return deployment.model_copy(update={"network": network})


def gateways_of(platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs]) -> dict[str, InferenceGatewayArgs]:
    """Return the arguments of the gateways by name.

    Args:
        platform: The platform.
        deployments: The arguments of its deployments by name.
    """
    backends = {name: backend for name, args in deployments.items() if (backend := backend_of(args)) is not None}
    mode = mode_of(platform)
    made = {}
    for name, gateway in platform.gateways.items():
        fields: dict[str, Any] = {field: getattr(gateway, field) for field in type(gateway).model_fields}
        made[name] = InferenceGatewayArgs(**fields, name=name, backends=backends, mode=mode)
    return made


def namespaces_of_gateways(platform: PlatformArgs) -> list[str]:
    """Return the namespaces of gateways that are to be made: nothing else of the stack does, and they are not there."""
    there = {
        *NAMESPACES_OF_KUBERNETES,
        *(gateway.namespace for gateway in platform.gateways.values() if gateway.namespace_exists),
        platform.namespace,
        *map(platform.namespace_of, platform.teams),
        *namespaces_of(platform.add_ons),
    }
    named = dict.fromkeys(gateway.namespace for gateway in platform.gateways.values())
    return [namespace for namespace in named if namespace not in there]


def _gateways_to(platform: PlatformArgs, deployment: str) -> tuple[Client, ...]:
    return tuple(
        gateway_client(name, gateway.namespace, gateway.proxies.namespace)
        for name, gateway in platform.gateways.items()
        if any(route.deployment == deployment for route in gateway.routes.values())
    )
