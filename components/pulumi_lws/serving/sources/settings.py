"""Where the weights of a model come from."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from pulumi_lws.declarations import Declaration, ObjectName, PositiveCount
from pulumi_lws.facts.instance_stores import INSTANCE_STORES
from pulumi_lws.planning.problems import invalid

_LONGEST_PATH = 4096

_STORE = INSTANCE_STORES["al2023"].mount

HUB_BELOW = "pulumi-lws/hub"
"""Folder of the instance store that keeps what comes from the hub."""

COMPILED_BELOW = "pulumi-lws/cache"
"""Folder of the instance store that keeps compiled kernels."""


def _folder(path: str) -> str:
    if len(path) > _LONGEST_PATH or not path.isprintable() or ".." in path.split("/"):
        raise invalid(
            f"a path of at most {_LONGEST_PATH} characters without '..' and control characters",
            "Write where the folder is, from the root.",
        )
    return path


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise invalid("a path that starts with '/'", "Write where the folder is, from the root.")
    return _folder(path)


FolderPath = Annotated[str, AfterValidator(_folder)]
"""The path of a folder; blanks may be in it."""

AbsolutePath = Annotated[
    str,
    AfterValidator(_absolute),
    WithJsonSchema({"type": "string", "pattern": "^/", "examples": ["/mnt/k8s-disks/0/models/glm-5"]}),
]
"""An absolute path; blanks may be in it."""

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.][-A-Za-z0-9_.]*$", max_length=255, examples=["finished"])]
"""The name of a file in a folder."""

Revision = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][-A-Za-z0-9_./+]*$", max_length=255, examples=["main"])]
"""Branch, tag or commit of a repository."""


class HuggingFaceSource(Declaration):
    """Download from the Hugging Face hub: every node of every group reads all of it, and the hub limits the rate."""

    kind: Literal["hugging-face"] = "hugging-face"
    """``hugging-face``."""
    token_secret: ObjectName | None = None
    """Secret of the namespace whose key ``HF_TOKEN`` opens the model. Default none. The token itself never stands in a
    declaration."""
    revision: Revision | None = None
    """Branch, tag or commit. Default: the newest."""
    path: AbsolutePath | None = f"{_STORE}/{HUB_BELOW}"
    """Folder of the node that keeps what was downloaded, so that a restarted pod and its neighbours need not do it
    again. Default: below the instance store; a stack file knows where the nodes of its pools mount it, a program of
    your own takes them for Amazon Linux 2023. None: lost with the pod."""


class S3Source(Declaration):
    """Stream from S3 straight into GPU memory (vLLM's ``runai_streamer``)."""

    kind: Literal["s3"] = "s3"
    """``s3``."""
    uri: Annotated[str, Field(pattern=r"^s3://[a-z0-9][a-z0-9.-]+[a-z0-9]/?\S*$", examples=["s3://bucket/folder"])]
    """Address of the folder, ``s3://bucket/folder``."""
    concurrency: PositiveCount = 16
    """Streams at a time. Default 16."""
    region: str | None = None
    """Region of the bucket. Default: the pod's own."""
    service_account: ObjectName | None = None
    """Service account whose role may read the bucket. Default: the namespace's own, ``default``. A stack file
    makes it. A cluster that is made here gives it a role by EKS Pod Identity; elsewhere you do: pods do not reach the
    role of their node."""


class VolumeSource(Declaration):
    """A folder of a shared volume that already holds the weights, such as FSx for Lustre; mounted read-only."""

    kind: Literal["volume"] = "volume"
    """``volume``."""
    claim: ObjectName
    """PersistentVolumeClaim of the namespace, readable by many nodes."""
    path: FolderPath = ""
    """Folder below the root of the volume. Default: the root."""
    stream: bool = False
    """Whether to read with many streams (vLLM's ``runai_streamer``); worth it on Lustre. Default false."""


class NodeSource(Declaration):
    """A folder of the node's own disks (instance store) that already holds the weights; mounted read-only.

    A pod on a node without it does not start: ``caches.nodeModels`` or something of yours has to fill every new node.
    """

    kind: Literal["node"] = "node"
    """``node``."""
    path: AbsolutePath
    """Folder of the node, such as ``/mnt/k8s-disks/0/models/glm-5``."""
    finish_file: FileName | None = None
    """File of the folder that says, by being there, that the weights are whole: pods wait for it as long as the start
    budget lasts. ``.pulumi-lws-finished`` for a folder of ``caches.nodeModels``. The image needs a shell. Default none:
    the folder is whole, or not there."""


Source = Annotated[HuggingFaceSource | S3Source | VolumeSource | NodeSource, Field(discriminator="kind")]
"""A source of weights, chosen by ``kind``."""


class CompileCache(Declaration):
    """Where compiled kernels are kept, so that a restarted pod does not compile them again."""

    kind: Literal["node", "claim", "none"] = "node"
    """``node``: a folder of the node's disks; ``claim``: a shared volume; ``none``: lost with the pod. Default node."""
    path: AbsolutePath = f"{_STORE}/{COMPILED_BELOW}"
    """Folder of the node. Default: below the instance store; a stack file knows where the nodes of its pools mount it,
    a program of your own takes them for Amazon Linux 2023."""
    claim: ObjectName | None = None
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
