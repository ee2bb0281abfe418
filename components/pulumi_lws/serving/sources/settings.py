"""Where the weights of a model come from."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pulumi_lws.declarations import Declaration, DnsLabel, PositiveCount
from pulumi_lws.planning.problems import invalid

AbsolutePath = Annotated[str, Field(pattern=r"^/[^\s]*$")]
"""An absolute path."""


class HuggingFaceSource(Declaration):
    """Download from the Hugging Face hub: every node of every group reads all of it, and the hub limits the rate."""

    kind: Literal["hugging-face"] = "hugging-face"
    """``hugging-face``."""
    token_secret: DnsLabel | None = None
    """Secret of the namespace whose key ``HF_TOKEN`` opens the model. Default none. The token itself never stands in a
    declaration."""
    revision: str | None = None
    """Branch, tag or commit. Default: the newest."""
    path: AbsolutePath | None = "/mnt/k8s-disks/0/pulumi-lws/hub"
    """Folder of the node that keeps what was downloaded, so that a restarted pod and its neighbours need not do it
    again. Default: below the instance store, where EKS mounts it as RAID 0. None: lost with the pod."""


class S3Source(Declaration):
    """Stream from S3 straight into GPU memory (vLLM's ``runai_streamer``)."""

    kind: Literal["s3"]
    """``s3``."""
    uri: Annotated[str, Field(pattern=r"^s3://[a-z0-9][a-z0-9.-]+[a-z0-9]/?\S*$")]
    """Address of the folder, ``s3://bucket/folder``."""
    concurrency: PositiveCount = 16
    """Streams at a time. Default 16."""
    region: str | None = None
    """Region of the bucket. Default: the pod's own."""
    service_account: DnsLabel | None = None
    """Service account whose role may read the bucket. Default: the role of the node."""


class VolumeSource(Declaration):
    """A folder of a shared volume that already holds the weights, such as FSx for Lustre; mounted read-only."""

    kind: Literal["volume"]
    """``volume``."""
    claim: DnsLabel
    """PersistentVolumeClaim of the namespace, readable by many nodes."""
    path: str = ""
    """Folder below the root of the volume. Default: the root."""
    stream: bool = False
    """Whether to read with many streams (vLLM's ``runai_streamer``); worth it on Lustre. Default false."""


class NodeSource(Declaration):
    """A folder of the node's own disks (instance store) that already holds the weights; mounted read-only.

    A pod on a node without it does not start: something of yours has to fill every new node.
    """

    kind: Literal["node"]
    """``node``."""
    path: AbsolutePath
    """Folder of the node, such as ``/mnt/k8s-disks/0/models/glm-5``."""


Source = Annotated[HuggingFaceSource | S3Source | VolumeSource | NodeSource, Field(discriminator="kind")]
"""A source of weights, chosen by ``kind``."""


class CompileCache(Declaration):
    """Where compiled kernels are kept, so that a restarted pod does not compile them again."""

    kind: Literal["node", "claim", "none"] = "node"
    """``node``: a folder of the node's disks; ``claim``: a shared volume; ``none``: lost with the pod. Default node."""
    path: AbsolutePath = "/mnt/k8s-disks/0/pulumi-lws/cache"
    """Folder of the node. Default: below the instance store, where EKS mounts it as RAID 0."""
    claim: DnsLabel | None = None
    """PersistentVolumeClaim of the namespace; required for ``claim``, and for nothing else. Default none."""

    @model_validator(mode="after")
    def _claim_where_used(self) -> "CompileCache":
        if self.kind == "claim" and self.claim is None:
            raise invalid("the name of a claim", "Set claim, or kind to node.", field="claim", found="nothing")
        if self.kind != "claim" and self.claim is not None:
            raise invalid(
                f"nothing: the kind is {self.kind}",
                "Set kind to claim, or remove claim.",
                field="claim",
                found=self.claim,
            )
        return self
