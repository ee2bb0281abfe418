"""Who gets into a real lab, and as whom."""

import os
import ssl
import subprocess
import sys
from typing import Any

import httpx
import psutil
import pytest

from lab.cluster import certificates, client, parts, processes, record
from lab.cluster.layout import Layout

pytestmark = pytest.mark.lab

SECRETS = "/api/v1/namespaces/default/secrets"
SERVICE_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default"


def _port(layout: Layout, name: str) -> int:
    known = record.load(layout)
    assert known is not None
    return known.ports[name]


def test_state_and_kubeconfigs_are_for_the_owner_only(shared_lab: Layout) -> None:
    modes = {
        path.name: path.stat().st_mode & 0o777
        for path in (shared_lab.folder, shared_lab.kubeconfig, *shared_lab.keys.glob("*.kubeconfig"))
    }
    assert modes.pop(shared_lab.folder.name) == 0o700
    assert set(modes.values()) == {0o600}
    assert len(modes) == len(certificates.CLIENTS) + 1


def test_the_official_client_gets_in_by_the_kubeconfig(shared_lab: Layout) -> None:
    program = """
from kubernetes import client, config
config.load_kube_config()
print(config.list_kube_config_contexts()[1]["name"], client.VersionApi().get_code().git_version)
"""
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"KUBECONFIG": str(shared_lab.kubeconfig)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.split()[0] == "pulumi-lws-lab"
    assert answer.stdout.split()[1].startswith("v1.35.")


def test_a_client_that_trusts_another_authority_refuses_the_server(shared_lab: Layout, tmp_path: Any) -> None:
    stranger = Layout(tmp_path)
    certificates.issue_if_due(stranger)
    url = f"https://127.0.0.1:{_port(shared_lab, parts.API_PORT)}/readyz"
    assert httpx.get(url, verify=client.trust(shared_lab), trust_env=False).text == "ok"
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(url, verify=client.trust(stranger), trust_env=False)


def test_the_server_refuses_a_client_of_another_authority(shared_lab: Layout, tmp_path: Any) -> None:
    stranger = Layout(tmp_path)
    certificates.issue_if_due(stranger)
    context = client.trust(shared_lab)
    context.load_cert_chain(stranger.certificate("admin"), stranger.key("admin"))
    url = f"https://127.0.0.1:{_port(shared_lab, parts.API_PORT)}{SECRETS}"
    assert httpx.get(url, verify=context, trust_env=False).status_code == 401


def test_the_database_refuses_everybody_but_the_api_server(shared_lab: Layout) -> None:
    url = f"https://127.0.0.1:{_port(shared_lab, 'etcd')}/health"

    def ask(identity: certificates.Identity | None) -> str:
        context = ssl.create_default_context(cafile=shared_lab.certificate(certificates.ETCD_AUTHORITY))
        if identity:
            context.load_cert_chain(shared_lab.certificate(identity.name), shared_lab.key(identity.name))
        try:
            return str(httpx.get(url, verify=context, trust_env=False).json()["health"])
        except httpx.TransportError:
            return "refused"

    answers = [ask(certificates.ETCD_CLIENT), ask(certificates.ADMIN), ask(None)]
    assert answers == ["true", "refused", "refused"]


def test_an_unprivileged_service_account_is_denied(shared_lab: Layout, api: httpx.Client) -> None:
    token = api.post(f"{SERVICE_ACCOUNT}/token", json={"spec": {}}).raise_for_status().json()["status"]["token"]
    answer = httpx.get(
        f"https://127.0.0.1:{_port(shared_lab, parts.API_PORT)}{SECRETS}",
        headers={"Authorization": f"Bearer {token}"},
        verify=client.trust(shared_lab),
        trust_env=False,
    )
    user, resource = '"system:serviceaccount:default:default"', 'resource "secrets" in API group ""'
    message = f'secrets is forbidden: User {user} cannot list {resource} in the namespace "default"'
    assert (answer.status_code, answer.json()["message"]) == (403, message)


@pytest.mark.parametrize("identity", [certificates.KWOK, certificates.STATUSES], ids=lambda identity: identity.name)
def test_parts_of_the_lab_cannot_read_secrets(shared_lab: Layout, identity: certificates.Identity) -> None:
    with client.connect(shared_lab, _port(shared_lab, parts.API_PORT), identity) as api:
        assert api.get(SECRETS).status_code == 403


def test_everything_listens_on_the_loopback_address_only(shared_lab: Layout) -> None:
    listening = {
        (found.part, connection.laddr.ip)
        for found in processes.find(shared_lab.folder)
        for connection in found.process.net_connections()
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {(part, "127.0.0.1") for part in parts.ALWAYS[:-1]}


def test_parts_get_nothing_of_the_callers_environment(
    shared_lab: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not for parts")
    layout = Layout(tmp_path)
    layout.logs.mkdir()
    process = processes.start(layout, parts.Part("sleeper", ("/bin/sleep", "60")))
    try:
        names = set(process.environ())
        assert [found.part for found in processes.find(layout.folder)] == ["sleeper"]
        assert "sleeper" not in [found.part for found in processes.find(shared_lab.folder)]
    finally:
        assert processes.stop(processes.find(layout.folder), ()) == []
    assert names - {"PATH", "TMPDIR", "LANG"} == {"HOME", processes.LAB, processes.PART}
