"""What node objects must know of the cluster that they belong to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pulumi_lws.facts import labels

Mode = Literal["auto", "karpenter", "lab"]
"""Who makes the nodes: EKS Auto Mode, a Karpenter of our own, or the lab's Karpenter with its fake nodes."""

Reference = Any
"""An id or a name: text, or an ``Output`` of a resource of the same program."""

LABEL_DOMAINS: Mapping[Mode, str] = {"auto": "eks.amazonaws.com", "karpenter": "karpenter.k8s.aws"}
"""Domain of the labels that describe an instance, such as ``<domain>/instance-gpu-count``. They are the same in both
modes but for it, and one of the wrong domain never matches; the lab's nodes have none."""


@dataclass(frozen=True)
class NodeCluster:
    """The cluster, as far as its nodes need it.

    Attributes:
        name: Its name; placement groups and tags are made from it.
        mode: Who makes its nodes.
        node_role: Name of the IAM role of the nodes.
        subnets: Subnets of the nodes by zone. Empty: those that carry the discovery tag.
        security_groups: Security groups of the nodes: the one that reaches the API server and the one of EFA. Empty:
            those that carry the discovery tag.
        image: Alias of the image that pools without their own get; unused on Auto Mode.
        tags: AWS tags of everything.
    """

    name: str
    mode: Mode
    node_role: Reference = ""
    subnets: Mapping[str, Sequence[Reference]] = field(default_factory=dict)
    security_groups: Sequence[Reference] = ()
    image: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def discovery_tags(self) -> dict[str, str]:
        """Tags by which node classes find what they are not given by id: put them on subnets and security groups."""
        return {labels.DISCOVERY: self.name}
