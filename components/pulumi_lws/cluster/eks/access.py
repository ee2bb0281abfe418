"""Reaching the API server of an EKS cluster."""

from typing import Any


def kubeconfig_of(name: str, region: str, endpoint: str, certificate: str) -> dict[str, Any]:
    """Return the kubeconfig of a cluster; the AWS CLI gets tokens by the credentials that Pulumi has.

    Args:
        name: Name of the cluster.
        region: Its region.
        endpoint: Address of its API server.
        certificate: Its certificate authority, in base64.
    """
    arguments = ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"]
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": endpoint, "certificate-authority-data": certificate}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "users": [
            {
                "name": name,
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": "aws",
                        "args": arguments,
                        "interactiveMode": "Never",
                    }
                },
            }
        ],
    }
