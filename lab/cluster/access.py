"""Who may do what in a lab: kubeconfigs of its parts, and their rights."""

import base64
from pathlib import Path
from typing import Any

import yaml

from lab.cluster import certificates
from lab.cluster.certificates import Identity
from lab.cluster.kinds import KINDS
from lab.cluster.layout import CONTEXT, Layout
from lab.cluster.ports import LOOPBACK

_READ = ["get", "list", "watch"]
_WRITE = ["create", "update", "patch"]


def write_kubeconfigs(layout: Layout, port: int) -> None:
    """Write the administrator's kubeconfig and one for each part, all with mode 0600."""
    for identity in certificates.CLIENTS:
        _write_private(layout.part_kubeconfig(identity.name), kubeconfig(layout, port, identity))
    _write_private(layout.kubeconfig, kubeconfig(layout, port, certificates.ADMIN))


def kubeconfig(layout: Layout, port: int, identity: Identity) -> str:
    """A kubeconfig that carries its certificates within itself, so that it can be copied and exported."""
    cluster = {
        "server": f"https://{LOOPBACK}:{port}",
        "certificate-authority-data": _base64(layout.certificate(certificates.CLUSTER_AUTHORITY)),
    }
    user = {
        "client-certificate-data": _base64(layout.certificate(identity.name)),
        "client-key-data": _base64(layout.key(identity.name)),
    }
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": CONTEXT,
            "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}}],
            "clusters": [{"name": CONTEXT, "cluster": cluster}],
            "users": [{"name": CONTEXT, "user": user}],
        },
        sort_keys=False,
    )


def roles() -> list[dict[str, Any]]:
    """Roles of the parts that Kubernetes does not know itself: what each needs, no more."""
    groups = sorted({kind.group for kind in KINDS})
    return [
        _role(
            certificates.KWOK,
            ([""], ["nodes"], _READ),
            ([""], ["pods"], [*_READ, "patch", "update", "delete"]),
            ([""], ["nodes/status", "pods/status"], ["patch", "update"]),
            (["", "events.k8s.io"], ["events"], _WRITE),
            (["coordination.k8s.io"], ["leases"], [*_READ, *_WRITE]),
        ),
        _role(certificates.STATUSES, (groups, ["*"], _READ), (groups, ["*/status"], ["patch"])),
    ]


def role_bindings() -> list[dict[str, Any]]:
    """Who has which role."""
    return [
        _binding(certificates.KWOK, certificates.KWOK.user),
        _binding(certificates.STATUSES, certificates.STATUSES.user),
        # Roles of their own come with their charts, which a lab does not install, and change with each version.
        _binding(certificates.KARPENTER, "cluster-admin"),
        _binding(certificates.LWS_CONTROLLER, "cluster-admin"),
    ]


def _role(identity: Identity, *rules: tuple[list[str], list[str], list[str]]) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": identity.user},
        "rules": [{"apiGroups": groups, "resources": resources, "verbs": verbs} for groups, resources, verbs in rules],
    }


def _binding(identity: Identity, role: str) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": identity.user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": identity.user}],
    }


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(text)
