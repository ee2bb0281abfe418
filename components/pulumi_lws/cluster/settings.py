"""The cluster that a stack deploys to."""

from typing import Literal

from pydantic import Field

from pulumi_lws.declarations import Declaration


class ExistingCluster(Declaration):
    """A cluster that somebody else provisioned, reached by a kubeconfig of this machine."""

    kind: Literal["existing"] = "existing"
    """``existing``."""
    name: str = Field(min_length=1)
    """Stable name of the cluster, or its ARN. It identifies the provider: a change replaces every object, while a new
    address or certificate of the same cluster replaces none (https://github.com/pulumi/pulumi-kubernetes/pull/2745)."""
    context: str = Field(min_length=1)
    """Context of the kubeconfig. Required, so that a stack never reaches whatever cluster is current."""
    kubeconfig: str | None = None
    """Path of the kubeconfig; ``~`` is the home folder. Default: the first file of ``KUBECONFIG``, else
    ``~/.kube/config``."""
