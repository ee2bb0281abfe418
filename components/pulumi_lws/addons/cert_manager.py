"""cert-manager: certificates for webhooks and gateways."""

from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, Oldest, Site
from pulumi_lws.addons.settings import AddOn

_GATEWAYS: dict[str, Any] = {
    "apiVersion": "controller.config.cert-manager.io/v1alpha1",
    "kind": "ControllerConfiguration",
    # In 1.21 another field of the same meaning stands beside it, which older ones do not know.
    "enableGatewayAPI": True,
}


def _values(_declared: AddOn, site: Site) -> dict[str, Any]:
    # It ends at once where the Gateway API is missing, so only what brings that turns this on.
    # https://cert-manager.io/docs/usage/gateway/
    gateways = {"config": _GATEWAYS} if "envoy_gateway" in site.installed else {}
    return {
        "crds": {"enabled": True},
        # A hook of Helm, which would not run.
        "startupapicheck": {"enabled": False},
        **gateways,
    }


CERT_MANAGER = AddOnFacts(
    name="cert_manager",
    title="cert-manager",
    purpose="certificates for gateways and webhooks",
    pin="cert-manager-chart",
    release="cert-manager",
    namespace="cert-manager",
    values=_values,
    after=("envoy_gateway",),
    crds=(
        "certificaterequests.cert-manager.io",
        "certificates.cert-manager.io",
        "challenges.acme.cert-manager.io",
        "clusterissuers.cert-manager.io",
        "issuers.cert-manager.io",
        "orders.acme.cert-manager.io",
    ),
    controllers=(
        "Deployment/cert-manager",
        "Deployment/cert-manager-cainjector",
        "Deployment/cert-manager-webhook",
    ),
    oldest=Oldest((1, 15), "it takes the Gateway API from its configuration"),
)
