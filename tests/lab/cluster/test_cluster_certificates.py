import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from lab.cluster import certificates
from lab.cluster.certificates import RENEWAL, VALIDITY
from lab.cluster.layout import Layout


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "lab")


def _load(layout: Layout, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(layout.certificate(name).read_bytes())


def test_certificates_are_due_when_missing_broken_or_near_their_end(layout: Layout) -> None:
    def is_due_after(age: timedelta) -> bool:
        certificates.issue(layout, datetime.now(UTC) - age)
        return certificates.are_due(layout)

    assert certificates.are_due(layout)
    assert not is_due_after(timedelta())
    assert not is_due_after(VALIDITY - RENEWAL - timedelta(minutes=1))
    assert is_due_after(VALIDITY - RENEWAL + timedelta(minutes=1))
    assert not is_due_after(timedelta())
    layout.certificate("admin").write_text("nonsense")
    assert certificates.are_due(layout)


def test_renewing_changes_all_but_the_key_of_service_account_tokens(layout: Layout) -> None:
    def contents() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in layout.keys.iterdir()}

    certificates.issue_if_due(layout)
    first = contents()
    certificates.issue_if_due(layout)
    assert contents() == first
    certificates.issue(layout, datetime.now(UTC))
    assert {name for name, content in contents().items() if content == first[name]} == {"service-accounts.key"}


def test_private_keys_are_for_the_owner_only_and_no_authority_has_one(layout: Layout) -> None:
    certificates.issue(layout, datetime.now(UTC))
    keys = sorted(layout.keys.glob("*.key"))
    assert {path.stat().st_mode & 0o777 for path in keys} == {0o600}
    assert layout.keys.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in keys if "ca" in path.stem.split("-")] == []


def test_the_api_server_may_answer_for_its_addresses_and_clients_for_none(layout: Layout) -> None:
    certificates.issue(layout, datetime.now(UTC))
    names = _load(layout, "api-server").extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == [
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    ]
    assert list(map(str, names.get_values_for_type(x509.IPAddress))) == ["127.0.0.1", "10.96.0.1"]
    usage = _load(layout, "kwok").extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_the_administrator_is_a_master_and_no_part_is(layout: Layout) -> None:
    certificates.issue(layout, datetime.now(UTC))
    subjects = {
        identity.name: _load(layout, identity.name).subject.rfc4514_string() for identity in certificates.CLIENTS
    }
    assert subjects == {
        "admin": "CN=pulumi-lws-lab:admin,O=system:masters",
        "controller-manager": "CN=system:kube-controller-manager",
        "scheduler": "CN=system:kube-scheduler",
        "kwok": "CN=pulumi-lws-lab:kwok",
        "statuses": "CN=pulumi-lws-lab:statuses",
        "karpenter": "CN=pulumi-lws-lab:karpenter",
        "lws-controller": "CN=pulumi-lws-lab:lws-controller",
    }


def test_the_database_trusts_another_authority_than_the_cluster(layout: Layout) -> None:
    certificates.issue(layout, datetime.now(UTC))
    _load(layout, "etcd-client").verify_directly_issued_by(_load(layout, "etcd-ca"))
    _load(layout, "admin").verify_directly_issued_by(_load(layout, "ca"))
    with pytest.raises(ValueError, match="Issuer"):
        _load(layout, "admin").verify_directly_issued_by(_load(layout, "etcd-ca"))


def test_strict_verification_accepts_the_authority(layout: Layout) -> None:
    certificates.issue(layout, datetime.now(UTC))
    context = ssl.create_default_context(cafile=layout.certificate("ca"))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.load_cert_chain(layout.certificate("admin"), layout.key("admin"))
    assert context.cert_store_stats()["x509_ca"] == 1
