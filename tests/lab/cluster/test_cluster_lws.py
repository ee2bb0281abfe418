"""What the LWS controller and the API server are told about each other."""

import base64
from pathlib import Path

from lab.cluster import client, lws
from lab.cluster.layout import Layout

LAYOUT = Layout(Path("/labs/one"))
PORTS = {lws.WEBHOOK_PORT: 9443, lws.HEALTH_PORT: 8081, lws.METRICS_PORT: 8443}


def test_the_controller_listens_on_loopback_with_the_certificate_of_the_lab() -> None:
    assert lws.configuration(LAYOUT, PORTS) == {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "webhook": {"host": "127.0.0.1", "port": 9443, "certDir": "/labs/one/lws-controller"},
        "health": {"healthProbeBindAddress": "127.0.0.1:8081"},
        "metrics": {"bindAddress": "127.0.0.1:8443"},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
    }
    assert {str(link): str(target) for link, target in lws.certificate_links(LAYOUT).items()} == {
        "/labs/one/lws-controller/tls.crt": "/labs/one/pki/loopback.crt",
        "/labs/one/lws-controller/tls.key": "/labs/one/pki/loopback.key",
    }


def test_the_api_server_asks_what_the_chart_has_it_ask() -> None:
    found = {
        (collection, webhook["name"], webhook["clientConfig"]["url"]): (
            webhook["rules"][0]["apiGroups"],
            webhook["rules"][0]["resources"],
            webhook["rules"][0]["operations"],
        )
        for collection, document in lws.webhook_configurations(9443, b"").items()
        for webhook in document["webhooks"]
    }
    address, both = "https://127.0.0.1:9443", ["CREATE", "UPDATE"]
    sets = (["leaderworkerset.x-k8s.io"], ["leaderworkersets"], both)
    path = "leaderworkerset-x-k8s-io-v1-leaderworkerset"
    disaggregated = (["disaggregatedset.x-k8s.io"], ["disaggregatedsets"], both)
    assert found == {
        (client.MUTATING_WEBHOOKS, "mleaderworkerset.kb.io", f"{address}/mutate-{path}"): sets,
        (client.MUTATING_WEBHOOKS, "mpod.kb.io", f"{address}/mutate--v1-pod"): ([""], ["pods"], ["CREATE"]),
        (client.VALIDATING_WEBHOOKS, "vleaderworkerset.kb.io", f"{address}/validate-{path}"): sets,
        (client.VALIDATING_WEBHOOKS, "vpod.kb.io", f"{address}/validate--v1-pod"): ([""], ["pods"], both),
        (
            client.VALIDATING_WEBHOOKS,
            "vdisaggregatedset.kb.io",
            f"{address}/validate-disaggregatedset-x-k8s-io-v1-disaggregatedset",
        ): disaggregated,
    }


def test_only_pods_of_a_leader_worker_set_depend_on_the_controller() -> None:
    for document in lws.webhook_configurations(9443, b"-----BEGIN").values():
        for webhook in document["webhooks"]:
            is_of_pods = webhook["rules"][0]["resources"] == ["pods"]
            selector = {"matchExpressions": [{"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}]}
            assert webhook.get("objectSelector") == (selector if is_of_pods else None)
            assert webhook["failurePolicy"] == "Fail"
            assert base64.b64decode(webhook["clientConfig"]["caBundle"]) == b"-----BEGIN"
