"""cert-manager: certificates for webhooks and gateways."""

from pulumi_lws.addons.addon import AddOnFacts

CERT_MANAGER = AddOnFacts(
    name="cert_manager",
    title="cert-manager",
    purpose="certificates for gateways and webhooks",
    pin="cert-manager-chart",
    release="cert-manager",
    namespace="cert-manager",
    values=lambda _declared, _site: {
        "crds": {"enabled": True},
        # A hook of Helm, which would not run.
        "startupapicheck": {"enabled": False},
    },
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
)
