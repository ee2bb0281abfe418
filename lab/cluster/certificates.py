"""Certificates of one lab: two authorities of its own, and one identity for each of its parts.

etcd has an authority apart from the cluster's, because etcd trusts every certificate that its authority signed: with
one for both, each part could read and write the database past the API server's access rules.
The authorities' private keys are never written; renewing issues everything anew.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lab.cluster.layout import Layout

VALIDITY = timedelta(days=30)
RENEWAL = timedelta(days=7)
"""``up`` issues everything anew when less than this is left."""

_CLOCK_SKEW = timedelta(minutes=5)

CLUSTER_AUTHORITY = "ca"
ETCD_AUTHORITY = "etcd-ca"
SERVICE_ACCOUNT_KEY = "service-accounts"
"""Signs the tokens of service accounts; kept when certificates are renewed, so that tokens stay valid."""


@dataclass(frozen=True)
class Identity:
    """Somebody who proves who they are with a certificate.

    Attributes:
        name: Base name of the files.
        user: Common name; the user that the API server sees.
        groups: Organisations; the groups that the API server sees.
        hosts: Host names and addresses that a server with this certificate answers for; empty for clients.
        authority: Who signs.
    """

    name: str
    user: str
    groups: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    authority: str = CLUSTER_AUTHORITY


_LOOPBACK = ("localhost", "127.0.0.1")

ADMIN = Identity("admin", "pulumi-lws-lab:admin", groups=("system:masters",))
CONTROLLER_MANAGER = Identity("controller-manager", "system:kube-controller-manager")
SCHEDULER = Identity("scheduler", "system:kube-scheduler")
KWOK = Identity("kwok", "pulumi-lws-lab:kwok")
STATUSES = Identity("statuses", "pulumi-lws-lab:statuses")
KARPENTER = Identity("karpenter", "pulumi-lws-lab:karpenter")
LWS_CONTROLLER = Identity("lws-controller", "pulumi-lws-lab:lws-controller")
API_SERVER = Identity(
    "api-server",
    "kube-apiserver",
    hosts=(
        *_LOOPBACK,
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "10.96.0.1",
    ),
)
LOOPBACK_SERVER = Identity("loopback", "pulumi-lws-lab:loopback", hosts=_LOOPBACK)
"""What the small servers of the other parts (health, metrics, webhooks) show."""
ETCD = Identity("etcd", "etcd", hosts=_LOOPBACK, authority=ETCD_AUTHORITY)
ETCD_CLIENT = Identity("etcd-client", "kube-apiserver", authority=ETCD_AUTHORITY)

CLIENTS = (ADMIN, CONTROLLER_MANAGER, SCHEDULER, KWOK, STATUSES, KARPENTER, LWS_CONTROLLER)
"""Who talks to the API server; each gets a kubeconfig."""

_IDENTITIES = (*CLIENTS, API_SERVER, LOOPBACK_SERVER, ETCD, ETCD_CLIENT)


def are_due(layout: Layout) -> bool:
    """Whether certificates of a lab are missing, broken, or within ``RENEWAL`` of their end."""
    names = [CLUSTER_AUTHORITY, ETCD_AUTHORITY, *(identity.name for identity in _IDENTITIES)]
    try:
        certificates = [x509.load_pem_x509_certificate(layout.certificate(name).read_bytes()) for name in names]
    except (OSError, ValueError):
        return True
    return any(certificate.not_valid_after_utc - datetime.now(UTC) < RENEWAL for certificate in certificates)


def issue(layout: Layout, now: datetime) -> None:
    """Write new authorities, certificates and keys for everybody, valid from ``now`` for ``VALIDITY``."""
    layout.keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    for authority in (CLUSTER_AUTHORITY, ETCD_AUTHORITY):
        key, certificate = _new_authority(f"pulumi-lws-lab {authority}", now)
        layout.certificate(authority).write_bytes(_pem(certificate))
        for identity in _IDENTITIES:
            if identity.authority == authority:
                own_key = ec.generate_private_key(ec.SECP256R1())
                signed = _sign(identity, own_key, key, certificate, now)
                _write_private(layout.key(identity.name), own_key)
                layout.certificate(identity.name).write_bytes(_pem(signed))
    if not layout.key(SERVICE_ACCOUNT_KEY).exists():
        _write_private(layout.key(SERVICE_ACCOUNT_KEY), ec.generate_private_key(ec.SECP256R1()))


def issue_if_due(layout: Layout) -> None:
    """Issue everything anew where :func:`are_due` says so."""
    if are_due(layout):
        issue(layout, datetime.now(UTC))


def _new_authority(name: str, now: datetime) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject(name, ())
    certificate = (
        _builder(subject, key, now)
        .issuer_name(subject)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return key, certificate


def _sign(
    identity: Identity,
    key: ec.EllipticCurvePrivateKey,
    authority_key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    now: datetime,
) -> x509.Certificate:
    purposes = [ExtendedKeyUsageOID.CLIENT_AUTH]
    builder = (
        _builder(_subject(identity.user, identity.groups), key, now)
        .issuer_name(authority.subject)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()),
            critical=False,
        )
    )
    if identity.hosts:
        # Client use stays allowed: etcd checks its peer connection to itself with the same certificate.
        purposes.append(ExtendedKeyUsageOID.SERVER_AUTH)
        builder = builder.add_extension(x509.SubjectAlternativeName(_alternative_names(identity.hosts)), critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
    return builder.sign(authority_key, hashes.SHA256())


def _builder(subject: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + VALIDITY)
    )


def _subject(user: str, groups: Iterable[str]) -> x509.Name:
    organisations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organisations, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _alternative_names(hosts: Iterable[str]) -> list[x509.GeneralName]:
    return [x509.IPAddress(IPv4Address(host)) if host[0].isdigit() else x509.DNSName(host) for host in hosts]


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _write_private(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    """Write a private key so that it is at no moment readable by others."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
