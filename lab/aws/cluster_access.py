"""How the stand-in's clusters are reached: all of them are the lab's API server."""

import base64
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

UNKNOWN_AT_PREVIEW = "LWS_LAB_KUBECONFIG_UNKNOWN"
"""Variable that, set to 1, leaves the kubeconfig of a cluster that does not exist yet unknown, as AWS does."""

_NOWHERE = "https://127.0.0.1:1"


@dataclass(frozen=True)
class ClusterAccess:
    """The API server and the administrator's way in.

    Attributes:
        kubeconfig: The lab's kubeconfig; clusters are unreachable where it does not exist.
        credential: Where what ``exec`` in a kubeconfig prints is kept.
    """

    kubeconfig: Path
    credential: Path

    @property
    def endpoint(self) -> str:
        """URL of the API server."""
        return str(self._cluster().get("server", _NOWHERE))

    @property
    def certificate_authority(self) -> str:
        """Certificate of the API server's authority, PEM in base64."""
        nobody = base64.b64encode(b"no lab runs").decode()
        return str(self._cluster().get("certificate-authority-data", nobody))

    def kubeconfig_of(self, cluster: str) -> dict[str, Any]:
        """A kubeconfig of the form that EKS clusters have: a command gives the credential, so that it holds no secret.

        The command is ``cat`` instead of ``aws eks get-token``, since nobody here has the AWS CLI.
        """
        self._write_credential()
        command = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "cat",
            "args": [str(self.credential)],
            "env": [{"name": "LWS_LAB_CLUSTER", "value": cluster}],
            "interactiveMode": "Never",
        }
        known = self._cluster().get("certificate-authority-data")
        server = {"server": self.endpoint, **({"certificate-authority-data": known} if known else {})}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "kubernetes", "cluster": server}],
            "contexts": [{"name": "aws", "context": {"cluster": "kubernetes", "user": "aws"}}],
            "current-context": "aws",
            "users": [{"name": "aws", "user": {"exec": command}}],
        }

    def _write_credential(self) -> None:
        document = self._document()
        if not document:
            return
        user = document["users"][0]["user"]
        status = {
            "clientCertificateData": base64.b64decode(user["client-certificate-data"]).decode(),
            "clientKeyData": base64.b64decode(user["client-key-data"]).decode(),
        }
        text = json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status})
        draft = self.credential.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(text, encoding="utf-8")
        draft.replace(self.credential)

    def _cluster(self) -> dict[str, Any]:
        document = self._document()
        cluster: dict[str, Any] = document["clusters"][0]["cluster"] if document else {}
        return cluster

    def _document(self) -> Any:
        try:
            return yaml.safe_load(self.kubeconfig.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
