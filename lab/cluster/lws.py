"""What the controller of LeaderWorkerSet is told, and what the API server is told about it; pure.

The webhooks ask for what those of the chart ask for and have their names, which stand in every refusal. They are
reached at a loopback address, since in a lab nothing reaches a Service.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.cluster import certificates, client
from lab.cluster.layout import Layout
from lab.cluster.ports import LOOPBACK
from pulumi_lws.facts import labels

WEBHOOK_PORT = "lws-webhook"
HEALTH_PORT = "lws-health"
METRICS_PORT = "lws-metrics"

NAME = "pulumi-lws-lab-lws-controller"
"""Name of both webhook configurations: another one than the chart's, which may be installed in a lab too."""


@dataclass(frozen=True)
class Webhook:
    """One question of the API server to the controller.

    Attributes:
        name: Name in refusals.
        path: Where it is asked.
        group: API group of the objects.
        plural: Their resource.
        updates: Whether it is asked before changes too, not only before objects are made.
    """

    name: str
    path: str
    group: str
    plural: str
    updates: bool = True


_LWS_GROUP = "leaderworkerset.x-k8s.io"
_MUTATING = (
    Webhook(
        "mleaderworkerset.kb.io",
        "/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset",
        _LWS_GROUP,
        "leaderworkersets",
    ),
    Webhook("mpod.kb.io", "/mutate--v1-pod", "", "pods", updates=False),
)
_VALIDATING = (
    Webhook(
        "vleaderworkerset.kb.io",
        "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset",
        _LWS_GROUP,
        "leaderworkersets",
    ),
    Webhook("vpod.kb.io", "/validate--v1-pod", "", "pods"),
    Webhook(
        "vdisaggregatedset.kb.io",
        "/validate-disaggregatedset-x-k8s-io-v1-disaggregatedset",
        "disaggregatedset.x-k8s.io",
        "disaggregatedsets",
    ),
)
WEBHOOKS = {
    client.MUTATING_WEBHOOKS: ("MutatingWebhookConfiguration", _MUTATING),
    client.VALIDATING_WEBHOOKS: ("ValidatingWebhookConfiguration", _VALIDATING),
}

LAST_PATH = _VALIDATING[-1].path
"""The webhook that the controller registers last: once it answers, all do."""


def configuration(layout: Layout, ports: Mapping[str, int]) -> dict[str, Any]:
    """The controller's own configuration."""
    return {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "webhook": {"host": LOOPBACK, "port": ports[WEBHOOK_PORT], "certDir": str(layout.lws_controller)},
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{ports[HEALTH_PORT]}"},
        "metrics": {"bindAddress": f"{LOOPBACK}:{ports[METRICS_PORT]}"},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
    }


def certificate_links(layout: Layout) -> dict[Path, Path]:
    """Where the controller looks for the certificate and key that it shows → where they stand."""
    identity = certificates.LOOPBACK_SERVER.name
    return {
        layout.lws_controller / "tls.crt": layout.certificate(identity),
        layout.lws_controller / "tls.key": layout.key(identity),
    }


def webhook_configurations(port: int, authority: bytes) -> dict[str, dict[str, Any]]:
    """Collection → configuration of the webhooks in it.

    Args:
        port: Where the controller listens.
        authority: Certificate of who signed its own, PEM.
    """
    address, bundle = f"https://{LOOPBACK}:{port}", base64.b64encode(authority).decode()
    return {
        collection: {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": NAME},
            "webhooks": [_webhook(webhook, address, bundle) for webhook in webhooks],
        }
        for collection, (kind, webhooks) in WEBHOOKS.items()
    }


def _webhook(webhook: Webhook, address: str, bundle: str) -> dict[str, Any]:
    rule = {
        "apiGroups": [webhook.group],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"] if webhook.updates else ["CREATE"],
        "resources": [webhook.plural],
    }
    document = {
        "name": webhook.name,
        "clientConfig": {"url": address + webhook.path, "caBundle": bundle},
        "rules": [rule],
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    if webhook.plural == "pods":
        # So that all other pods can be made while the controller is down.
        document["objectSelector"] = {"matchExpressions": [{"key": labels.LWS_NAME, "operator": "Exists"}]}
    return document
