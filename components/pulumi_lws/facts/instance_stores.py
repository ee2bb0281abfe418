"""Where nodes mount their instance store as RAID 0: it follows from the operating system of their image.

Sources: ``setup-local-disks`` of nodeadm (https://github.com/awslabs/amazon-eks-ami), ``ephemeral-storage`` of
Bottlerocket's apiclient (https://github.com/bottlerocket-os/bottlerocket-core-kit). Auto Mode says nothing of it; its
image is a Bottlerocket, and others mount folders of it there
(https://github.com/aws-games/cloud-game-development-toolkit).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

OperatingSystem = Literal["al2023", "bottlerocket", "auto"]
"""Amazon Linux 2023, Bottlerocket, or the image of EKS Auto Mode."""


@dataclass(frozen=True)
class InstanceStore:
    """The instance store of a node.

    Attributes:
        mount: Folder of the node.
        doubt: What is not known for sure, to be put after it.
    """

    mount: str
    doubt: str = ""


INSTANCE_STORES: Mapping[OperatingSystem, InstanceStore] = {
    "al2023": InstanceStore("/mnt/k8s-disks/0"),
    "bottlerocket": InstanceStore("/mnt/.ephemeral"),
    "auto": InstanceStore("/mnt/.ephemeral", " (that of Bottlerocket, which Auto Mode is made from; not tried there)"),
}
"""The instance store of each."""
