"""The programs of a running lab, and the command line of each; pure."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.cluster import certificates, lws
from lab.cluster.certificates import Identity
from lab.cluster.kinds import KINDS, with_status_writer
from lab.cluster.layout import Layout
from lab.cluster.nodes import FAKE
from lab.cluster.ports import LOOPBACK
from lab.cluster.record import Record
from lab.folders import PROJECT
from lab.tools.given import LWS_CONTROLLER

ETCD = "etcd"
API_SERVER = "kube-apiserver"
CONTROLLER_MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"
KWOK = "kwok"
STATUSES = "statuses"
KARPENTER = "karpenter"

ALWAYS = (ETCD, API_SERVER, CONTROLLER_MANAGER, SCHEDULER, KWOK, STATUSES)
ON_DEMAND = (KARPENTER, LWS_CONTROLLER)
"""Real controllers of other projects."""
START_ORDER = (*ALWAYS, *ON_DEMAND)

API_PORT = "api"
PORTS = (
    API_PORT,
    "etcd",
    "etcd-peer",
    "controller-manager",
    "scheduler",
    "kwok",
    "karpenter-health",
    "karpenter-metrics",
    lws.WEBHOOK_PORT,
    lws.HEALTH_PORT,
    lws.METRICS_PORT,
)
"""What the lab listens for."""

_STAGES = Path(__file__).with_name("stages.yaml")


@dataclass(frozen=True)
class Part:
    """One program of a lab.

    Attributes:
        name: Name in messages, logs and process markers.
        command: Program and arguments.
        port: Main port it listens on; None where it listens on none.
        health: Where it says that it works, below its port; empty where being alive has to do.
        scheme: Protocol of ``health``.
        environment: Variables beside those that every part gets.
        needs_crds: Whether it is started once the custom resources are served.
    """

    name: str
    command: tuple[str, ...]
    port: int | None = None
    health: str = ""
    scheme: str = "https"
    environment: Mapping[str, str] = field(default_factory=dict)
    needs_crds: bool = False

    @property
    def health_url(self) -> str:
        """Full address of ``health``."""
        return f"{self.scheme}://{LOOPBACK}:{self.port}{self.health}"


def all_parts(layout: Layout, lab: Record) -> tuple[Part, ...]:
    """The parts of a lab in the order in which they start: a store, its API server, then all that talk to it."""
    ports, binaries = lab.ports, lab.programs()
    always = (
        _etcd(layout, ports, binaries),
        _api_server(layout, ports, binaries),
        _controller_manager(layout, ports, binaries),
        _scheduler(layout, ports, binaries),
        _kwok(layout, ports, binaries),
        _statuses(layout, ports, lab.real_controllers),
    )
    karpenter = (_karpenter(layout, ports, binaries),) if lab.karpenter else ()
    lws_controller = (_lws_controller(layout, ports, binaries),) if lab.lws_controller else ()
    return (*always, *karpenter, *lws_controller)


def _etcd(layout: Layout, ports: Mapping[str, int], binaries: Mapping[str, Path]) -> Part:
    client, peer = (f"https://{LOOPBACK}:{ports[name]}" for name in ("etcd", "etcd-peer"))
    authority = layout.certificate(certificates.ETCD_AUTHORITY)
    certificate, key = _pair(layout, certificates.ETCD)
    return Part(
        ETCD,
        (
            str(binaries["etcd"]),
            f"--data-dir={layout.etcd_data}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--client-cert-auth",
            f"--trusted-ca-file={authority}",
            f"--cert-file={certificate}",
            f"--key-file={key}",
            "--peer-client-cert-auth",
            f"--peer-trusted-ca-file={authority}",
            f"--peer-cert-file={certificate}",
            f"--peer-key-file={key}",
            # A lab that dies with its machine is made anew; waiting for the disk would cost seconds each time.
            "--unsafe-no-fsync",
        ),
        port=ports["etcd"],
    )


def _api_server(layout: Layout, ports: Mapping[str, int], binaries: Mapping[str, Path]) -> Part:
    certificate, key = _pair(layout, certificates.API_SERVER)
    etcd_certificate, etcd_key = _pair(layout, certificates.ETCD_CLIENT)
    tokens = layout.key(certificates.SERVICE_ACCOUNT_KEY)
    return Part(
        API_SERVER,
        (
            str(binaries["kube-apiserver"]),
            f"--bind-address={LOOPBACK}",
            f"--secure-port={ports[API_PORT]}",
            f"--advertise-address={LOOPBACK}",
            # Nothing in a lab reaches the API server by a Service, and endpoints may not be loopback addresses.
            "--endpoint-reconciler-type=none",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--client-ca-file={layout.certificate(certificates.CLUSTER_AUTHORITY)}",
            f"--etcd-servers=https://{LOOPBACK}:{ports['etcd']}",
            f"--etcd-cafile={layout.certificate(certificates.ETCD_AUTHORITY)}",
            f"--etcd-certfile={etcd_certificate}",
            f"--etcd-keyfile={etcd_key}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={tokens}",
            f"--service-account-signing-key-file={tokens}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--allow-privileged=true",
        ),
        port=ports[API_PORT],
        health="/readyz",
    )


def _controller_manager(layout: Layout, ports: Mapping[str, int], binaries: Mapping[str, Path]) -> Part:
    return Part(
        CONTROLLER_MANAGER,
        (
            str(binaries["kube-controller-manager"]),
            *_client_of_the_api_server(layout, ports["controller-manager"], certificates.CONTROLLER_MANAGER),
            f"--service-account-private-key-file={layout.key(certificates.SERVICE_ACCOUNT_KEY)}",
            f"--root-ca-file={layout.certificate(certificates.CLUSTER_AUTHORITY)}",
            # As in real clusters, so that a controller that lacks a right fails here too.
            "--use-service-account-credentials=true",
            # At the usual 20 requests a second, getting a credential for each controller takes seconds.
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        ),
        port=ports["controller-manager"],
        health="/healthz",
    )


def _scheduler(layout: Layout, ports: Mapping[str, int], binaries: Mapping[str, Path]) -> Part:
    return Part(
        SCHEDULER,
        (
            str(binaries["kube-scheduler"]),
            *_client_of_the_api_server(layout, ports["scheduler"], certificates.SCHEDULER),
        ),
        port=ports["scheduler"],
        health="/healthz",
    )


def _kwok(layout: Layout, ports: Mapping[str, int], binaries: Mapping[str, Path]) -> Part:
    key, value = FAKE
    return Part(
        KWOK,
        (
            str(binaries["kwok"]),
            f"--kubeconfig={layout.part_kubeconfig(certificates.KWOK.name)}",
            f"--config={_STAGES}",
            f"--manage-nodes-with-annotation-selector={key}={value}",
            f"--server-address={LOOPBACK}:{ports['kwok']}",
            "--cidr=10.244.0.0/16",
            # Of all fake nodes alike: nothing listens there.
            "--node-ip=10.128.0.1",
            "--node-lease-duration-seconds=40",
        ),
        port=ports["kwok"],
        health="/healthz",
        scheme="http",
    )


def _statuses(layout: Layout, ports: Mapping[str, int], real_controllers: frozenset[str]) -> Part:
    covered = {kind.name for kind in with_status_writer(real_controllers)}
    left_alone = [kind.name for kind in KINDS if kind.status and kind.name not in covered]
    return Part(
        STATUSES,
        (
            sys.executable,
            "-m",
            "lab.cluster.statuses",
            f"--folder={layout.folder}",
            f"--port={ports[API_PORT]}",
            *(f"--leave={name}" for name in left_alone),
        ),
        environment={"PYTHONPATH": f"{PROJECT}:{PROJECT / 'components'}"},
        needs_crds=True,
    )


def _karpenter(layout: Layout, ports: Mapping[str, int], binaries: Mapping[str, Path]) -> Part:
    return Part(
        KARPENTER,
        (
            str(binaries["karpenter"]),
            "--disable-leader-election",
            f"--instance-types-file-path={layout.instance_types}",
            "--feature-gates=StaticCapacity=true",
            # Unlike the other parts it answers on these ports at every address of the machine, with no option against
            # it: https://github.com/kubernetes-sigs/karpenter/blob/v1.14.1/pkg/operator/operator.go
            f"--health-probe-port={ports['karpenter-health']}",
            f"--metrics-port={ports['karpenter-metrics']}",
        ),
        port=ports["karpenter-health"],
        health="/readyz",
        scheme="http",
        environment={
            "KUBECONFIG": str(layout.part_kubeconfig(certificates.KARPENTER.name)),
            "KUBERNETES_MIN_VERSION": "1.26.0",
            "SYSTEM_NAMESPACE": "kube-system",
        },
        needs_crds=True,
    )


def _lws_controller(layout: Layout, ports: Mapping[str, int], binaries: Mapping[str, Path]) -> Part:
    return Part(
        LWS_CONTROLLER,
        (
            str(binaries[LWS_CONTROLLER]),
            f"--kubeconfig={layout.part_kubeconfig(certificates.LWS_CONTROLLER.name)}",
            f"--config={layout.lws_configuration}",
        ),
        port=ports[lws.WEBHOOK_PORT],
        # What it calls its readiness is there before its webhooks are. It logs this question as one bad request.
        health=lws.LAST_PATH,
        needs_crds=True,
    )


def _client_of_the_api_server(layout: Layout, port: int, identity: Identity) -> tuple[str, ...]:
    certificate, key = _pair(layout, certificates.LOOPBACK_SERVER)
    return (
        f"--kubeconfig={layout.part_kubeconfig(identity.name)}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={certificate}",
        f"--tls-private-key-file={key}",
        "--leader-elect=false",
    )


def _pair(layout: Layout, identity: Identity) -> tuple[Path, Path]:
    return layout.certificate(identity.name), layout.key(identity.name)
