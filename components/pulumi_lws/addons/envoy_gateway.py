"""Envoy Gateway: the front door of deployments, with the Gateway API.

Its chart makes certificates for itself, and a key for OIDC, by a Job that is a hook of Helm. Hooks are not run here, so
the same Job is an object of its own before the chart. Of the values that say where images come from, it knows those
under ``global``.
"""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, UpgradeStep

_NAME = "envoy-gateway-certgen"
_REGISTRY = "docker.io"
_NOTES = "https://github.com/envoyproxy/gateway/releases/tag/"
_SECURITY = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "runAsUser": 65532,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def _certificates(version: str, namespace: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the Job that makes what is missing of the certificates, and what it may do."""
    images = values.get("global", {})
    own = images.get("images", {}).get("envoyGateway", {}).get("image") or f"{_REGISTRY}/envoyproxy/gateway:{version}"
    registry, _, repository = own.partition("/")
    secrets = images.get("imagePullSecrets", [])
    inside = {"name": _NAME, "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": _NAME}
    pod = {
        "serviceAccountName": _NAME,
        "restartPolicy": "Never",
        **({"imagePullSecrets": secrets} if secrets else {}),
        "containers": [
            {
                "name": "certgen",
                "image": f"{images.get('imageRegistry') or registry}/{repository}",
                "command": ["envoy-gateway", "certgen", "--disable-topology-injector"],
                "env": [
                    {
                        "name": "ENVOY_GATEWAY_NAMESPACE",
                        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
                    },
                    {"name": "KUBERNETES_CLUSTER_DOMAIN", "value": "cluster.local"},
                ],
                "resources": {kind: {"cpu": "100m", "memory": "128Mi"} for kind in ("requests", "limits")},
                "securityContext": _SECURITY,
            }
        ],
    }
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": inside},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": inside,
            "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "create", "update"]}],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": inside,
            "roleRef": role,
            "subjects": [{"kind": "ServiceAccount", **inside}],
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            # A Job never changes: another version is another one.
            "metadata": {**inside, "name": f"{_NAME}-{version.lower().replace('.', '-').replace('+', '-')}"},
            "spec": {"backoffLimit": 3, "template": {"spec": pod}},
        },
    ]


ENVOY_GATEWAY = AddOnFacts(
    name="envoy_gateway",
    title="Envoy Gateway",
    purpose="the front door: TLS, authentication, limits; brings the Gateway API",
    pin="envoy-gateway-chart",
    release="eg",
    namespace="envoy-gateway-system",
    values=lambda _declared, _site: {
        # Its webhook gets a certificate from the hook, too; proxies do without the zone of their node.
        "topologyInjector": {"enabled": False},
        "deployment": {"replicas": 2},
        # Its chart leaves out what it finds on the cluster and was not put there by Helm, so the policy would come and
        # go with every second update.
        "crds": {"gatewayAPI": {"safeUpgradePolicy": {"enabled": False}}},
    },
    before=_certificates,
    crds=(
        "backends.gateway.envoyproxy.io",
        "backendtlspolicies.gateway.networking.k8s.io",
        "backendtrafficpolicies.gateway.envoyproxy.io",
        "clienttrafficpolicies.gateway.envoyproxy.io",
        "envoyextensionpolicies.gateway.envoyproxy.io",
        "envoypatchpolicies.gateway.envoyproxy.io",
        "envoyproxies.gateway.envoyproxy.io",
        "gatewayclasses.gateway.networking.k8s.io",
        "gateways.gateway.networking.k8s.io",
        "grpcroutes.gateway.networking.k8s.io",
        "httproutefilters.gateway.envoyproxy.io",
        "httproutes.gateway.networking.k8s.io",
        "listenersets.gateway.networking.k8s.io",
        "referencegrants.gateway.networking.k8s.io",
        "securitypolicies.gateway.envoyproxy.io",
        "tcproutes.gateway.networking.k8s.io",
        "tlsroutes.gateway.networking.k8s.io",
        "udproutes.gateway.networking.k8s.io",
        "xbackends.gateway.networking.x-k8s.io",
        "xbackendtrafficpolicies.gateway.networking.x-k8s.io",
        "xmeshes.gateway.networking.x-k8s.io",
    ),
    controllers=("Deployment/envoy-gateway",),
    images=("global.imageRegistry", "global.images.envoyProxy.image"),
    steps=(
        UpgradeStep(
            (1, 8),
            "a time-out of 0s in a SecurityPolicy now means none, and tracing samples a hundred times as much"
            f" ({_NOTES}v1.8.0)",
            "Change SecurityPolicies and samplingFraction of your own, and update CRDs first that are not the chart's.",
        ),
        UpgradeStep(
            (1, 9),
            "Lua is off until extensionApis.enableLua, names in generated configuration are others, and policies that"
            f" were taken are refused: an empty clientIPDetection, mergeType on a Gateway ({_NOTES}v1.9.0)",
            "Change EnvoyExtensionPolicies, EnvoyPatchPolicies and the others of your own.",
        ),
    ),
)
