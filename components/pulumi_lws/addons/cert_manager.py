"""cert-manager: certificates for webhooks and gateways."""

from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, Oldest, Site, UpgradeStep
from pulumi_lws.addons.settings import AddOn
from pulumi_lws.facts import labels

_GATEWAYS: dict[str, Any] = {
    "apiVersion": "controller.config.cert-manager.io/v1alpha1",
    "kind": "ControllerConfiguration",
    # In 1.21 another field of the same meaning stands beside it, which older ones do not know.
    "enableGatewayAPI": True,
}

_TRUSTED = {labels.PULUMI_WAIT_FOR: "jsonpath={.webhooks[0].clientConfig.caBundle}"}


def _values(_declared: AddOn, site: Site) -> dict[str, Any]:
    # It ends at once where the Gateway API is missing, so only what brings that turns this on.
    # https://cert-manager.io/docs/usage/gateway/
    gateways = {"config": _GATEWAYS} if "envoy_gateway" in site.installed else {}
    return {
        # What keepCrds says holds for these, too.
        "crds": {"enabled": True, "keep": False},
        # A hook of Helm, which would not run. It waits for what these wait for: until the API server knows the
        # authority of the webhook, every Certificate is refused.
        "startupapicheck": {"enabled": False},
        "webhook": {f"{kind}WebhookConfigurationAnnotations": _TRUSTED for kind in ("mutating", "validating")},
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
    images=("imageRegistry",),
    oldest=Oldest((1, 15), "it takes the Gateway API from its configuration"),
    steps=(
        UpgradeStep(
            (1, 18),
            "each renewal makes a new private key, and only the newest CertificateRequest is kept"
            " (https://github.com/cert-manager/cert-manager/releases/tag/v1.18.0)",
            "Set privateKey.rotationPolicy: Never on Certificates whose key somebody pins.",
        ),
    ),
)
