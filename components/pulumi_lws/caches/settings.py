"""What a user declares of caches: images and weights that are there before a pod asks for them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from pulumi_lws.declarations import Declaration, DnsLabel, LabelKey, ObjectName, PositiveCount
from pulumi_lws.nodes.settings import LabelValue
from pulumi_lws.planning.problems import invalid
from pulumi_lws.serving.names import ModelName, PinnedImage
from pulumi_lws.serving.sources.settings import AbsolutePath, FolderPath, Revision

Gigabytes = Annotated[PositiveCount, Field(le=100_000)]
"""GB of a billion bytes, at most 100000."""


class S3Origin(Declaration):
    """A folder in S3."""

    kind: Literal["s3"] = "s3"
    """``s3``."""
    uri: Annotated[str, Field(pattern=r"^s3://[a-z0-9][a-z0-9.-]+[a-z0-9]/[^\s]+$", examples=["s3://bucket/folder"])]
    """Address of the folder, ``s3://bucket/folder``. What lies there must not change: new weights get a new folder."""
    region: str | None = None
    """Region of the bucket. Default: the pod's own."""


class HubOrigin(Declaration):
    """A repository of the Hugging Face hub."""

    kind: Literal["hugging-face"] = "hugging-face"
    """``hugging-face``."""
    model: ModelName
    """Id of the repository."""
    revision: Revision
    """Commit or tag. A branch would give nodes that load on different days different weights."""
    token_secret: ObjectName | None = None
    """Secret of the namespace whose key ``HF_TOKEN`` opens the model. Default none."""


Origin = Annotated[S3Origin | HubOrigin, Field(discriminator="kind")]
"""Where weights are copied from, chosen by ``kind``."""


class Copy(Declaration):
    """Weights that are copied once, whole or not at all."""

    origin: Origin
    """Where they come from."""
    size_gb: Gigabytes
    """Size of the folder in GB of a billion bytes, rounded up. Room is checked before, and the copy after."""
    service_account: ObjectName | None = None
    """Service account whose role may read the bucket; a stack file makes it. Default: the namespace's own,
    ``default``."""
    image: PinnedImage | None = None
    """Image that copies: with ``aws`` for S3, with ``hf`` for the hub; both need a shell and the GNU coreutils.
    Default: the AWS CLI or vLLM of the pin table."""


class NodeModel(Copy):
    """Weights on the disks of every node of static pools, before a pod asks for them.

    A deployment reads them by ``source: {kind: node, path: …, finishFile: .pulumi-lws-finished}``.
    """

    pools: Annotated[tuple[DnsLabel, ...], Field(min_length=1)]
    """Pools whose nodes keep them; static ones, since a node that comes with its pod has nothing beforehand."""
    path: AbsolutePath
    """Folder of the node, for this model and revision alone."""
    remove: bool = False
    """Whether the folder is deleted from the nodes instead. Set it, apply, then take the entry out: an entry that only
    goes leaves the folder. Default false."""


def _below_the_root(path: str) -> str:
    if not path.strip("/."):
        raise invalid("a folder below the root of the volume", "Name one, such as models/glm-5.")
    return path


VolumeFolder = Annotated[FolderPath, AfterValidator(_below_the_root)]
"""A folder of a volume, not its root."""


class VolumeCopy(Copy):
    """Weights that a Job copies onto a shared volume."""

    path: VolumeFolder
    """Folder below the root of the volume, for this model and revision alone."""
    node_selector: Mapping[LabelKey, LabelValue] = {}
    """Labels of the node that copies, which must have no taints: its network decides how long it takes. Default: any
    node."""


class SharedVolume(Declaration):
    """What volumes have in common. The name of an entry is that of its PersistentVolumeClaim."""

    team: DnsLabel | None = None
    """Name of a team under ``teams``, in whose namespace the claim is. Default: none, and the platform's namespace."""
    copies: Mapping[DnsLabel, VolumeCopy] = {}
    """Weights that are copied onto it, by name. Default none: it holds them already, or you fill it."""


class FsxVolume(SharedVolume):
    """A file system of FSx for Lustre that exists. Needs the EKS add-on ``aws-fsx-csi-driver``."""

    kind: Literal["fsx-lustre"] = "fsx-lustre"
    """``fsx-lustre``."""
    file_system: Annotated[str, Field(pattern=r"^fs-[0-9a-f]{8,40}$", examples=["fs-0123456789abcdef0"])]
    """Id of the file system. For another one make another entry: a claim cannot change its volume."""
    dns_name: Annotated[
        str, Field(pattern=r"^[a-z0-9.-]+$", examples=["fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com"])
    ]
    """Its DNS name."""
    mount_name: Annotated[str, Field(pattern=r"^[a-z0-9]+$", examples=["fsx", "lxwqtb4v"])]
    """Its mount name."""
    size_gib: PositiveCount
    """Its size in GiB."""
    mount_options: tuple[str, ...] = ("flock",)
    """Options of ``mount``. Default flock."""


class EfsVolume(SharedVolume):
    """A file system of EFS that exists. Needs the EKS add-on ``aws-efs-csi-driver``."""

    kind: Literal["efs"] = "efs"
    """``efs``."""
    file_system: Annotated[str, Field(pattern=r"^fs-[0-9a-f]{8,40}$", examples=["fs-0123456789abcdef0"])]
    """Id of the file system. For another one make another entry: a claim cannot change its volume."""
    access_point: (
        Annotated[str, Field(pattern=r"^fsap-[0-9a-f]{8,40}$", examples=["fsap-0123456789abcdef0"])] | None
    ) = None
    """Id of an access point, whose folder is then the root. Default: that of the file system."""
    mount_options: tuple[str, ...] = ()
    """Options of ``mount``. Default none."""


class ExistingClaim(SharedVolume):
    """A PersistentVolumeClaim that exists, which many nodes can mount; the name of the entry is its name."""

    kind: Literal["claim"] = "claim"
    """``claim``."""


Volume = Annotated[FsxVolume | EfsVolume | ExistingClaim, Field(discriminator="kind")]
"""A shared volume, chosen by ``kind``."""


def _all_or_some(value: Any) -> Any:
    # Said here, since a union would complain once for each of its kinds.
    if isinstance(value, bool) or (isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)):
        return value
    raise invalid("true, false, or a list of names of pools", "Write true for all pools, or [name].")


Pools = Annotated[bool | tuple[str, ...], BeforeValidator(_all_or_some)]
"""All pools, none, or those that are named."""


class Caches(Declaration):
    """Images and weights that are there before a pod asks for them."""

    pre_pull: Pools = False
    """Pools whose nodes pull the images of their deployments as soon as they stand: all with ``true``, or those named.
    Default false: the first pod on a node waits for its image."""
    pre_pull_images: tuple[PinnedImage, ...] = ()
    """Further images for those pools, such as the one that the next rollout brings. Default none."""
    tool_image: PinnedImage | None = None
    """Image with a static ``/bin/busybox`` that pre-pulling works with. Default: the one of the pin table."""
    node_models: Mapping[DnsLabel, NodeModel] = {}
    """Weights on the disks of nodes, by name. Default none."""
    shared_volumes: Mapping[DnsLabel, Volume] = {}
    """Volumes that many nodes read, by the name of their claim. Default none."""

    def pre_pulls(self, pool: str) -> bool:
        """Tell whether the nodes of a pool pull images beforehand."""
        return self.pre_pull if isinstance(self.pre_pull, bool) else pool in self.pre_pull
