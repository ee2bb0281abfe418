"""Pools of GPU nodes: what a stack file may say of them."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from pulumi_lws.declarations import Count, Declaration, DnsLabel, LabelKey, PositiveCount, Whole
from pulumi_lws.facts.instances import INSTANCE_TYPES, InstanceType
from pulumi_lws.nodes.capacity import Capacity, CapacityBlock, OnDemand, Reservation
from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.problems import invalid


def _known_instance_type(name: str) -> str:
    if name not in INSTANCE_TYPES:
        raise invalid(", ".join(INSTANCE_TYPES), "Choose an instance type of the catalogue.")
    return name


InstanceTypeName = Annotated[
    str, AfterValidator(_known_instance_type), WithJsonSchema({"type": "string", "enum": list(INSTANCE_TYPES)})
]
"""Name of an instance type of the catalogue."""

Zone = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d(-[a-z]+-\d)?[a-z]$", examples=["us-east-2a"])]
"""Name of an availability zone, such as ``us-east-2a``."""

_IMAGE_ALIAS = r"^(al2023@(v\d{8}|latest)|bottlerocket@(v?\d+\.\d+\.\d+|latest))$"


def _image_alias(text: str) -> str:
    if not re.fullmatch(_IMAGE_ALIAS, text):
        raise invalid("an alias such as al2023@v20260901 or bottlerocket@1.50.0", "Name one of the two and a release.")
    return text


ImageAlias = Annotated[
    str,
    AfterValidator(_image_alias),
    WithJsonSchema({"type": "string", "pattern": _IMAGE_ALIAS, "examples": ["al2023@v20260901"]}),
]
"""Karpenter's alias of a node image: ``al2023@v20260901`` or ``bottlerocket@1.50.0``."""

LabelValue = Annotated[
    str, Field(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", max_length=63, examples=["inference"])
]
"""Value of a Kubernetes label."""

MOST_NODES = 10_000
"""Nodes of one stack. More are a slip of the keyboard, or need several clusters."""

NodeCount = Annotated[Count, Field(le=MOST_NODES)]
"""A number of nodes, or of islands."""

Hours = Annotated[PositiveCount, Field(le=87_600)]
"""Hours, at most ten years."""

EfaMode = Literal["dynamic", "explicit", "none"]
"""How nodes get their EFA interfaces."""


class RootVolume(Declaration):
    """The EBS volume of a node: gp3, encrypted, gone with the node.

    Where there is an instance store, images and the files of pods live on that instead.
    """

    size_gib: Annotated[Whole, Field(ge=20, le=16_384)] = 100
    """Size in GiB, 20 to 16384. Default 100."""
    iops: Annotated[Whole, Field(ge=3_000, le=16_000)] | None = None
    """Operations per second, 3000 to 16000. Default: gp3's 3000."""
    throughput: Annotated[Whole, Field(ge=125, le=1_000)] | None = None
    """MiB per second, 125 to 1000. Default: gp3's 125."""
    kms_key: str | None = None
    """Id or ARN of the KMS key. Default: the account's own key for EBS."""


class Disruption(Declaration):
    """When nodes are taken away.

    By choice only empty ones are, one at a time: drift and consolidation never move a loaded model, a rollout does.
    """

    consolidate_after_minutes: Annotated[PositiveCount, Field(le=525_600)] | None = None
    """How long a node must be empty, in minutes; not less than the longest start budget on the pool, for a group's
    second node is empty while the leader starts. Default: that budget, at least 60."""
    expire_after_hours: Hours | None = None
    """Age in hours at which a node is drained, even with a model on it. Default: never; on Auto Mode, whose nodes live
    at most 21 days, as late as it allows."""
    termination_grace_hours: Hours = 24
    """How long a drained node waits for its pods, in hours; then they are killed. It only counts for nodes that expire.
    Default 24."""


class Taint(Declaration):
    """A taint of the pool's nodes; deployments on the pool tolerate it."""

    key: LabelKey
    """Its key."""
    value: LabelValue = ""
    """Its value. Default empty."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"
    """What it does to pods that do not tolerate it. Default NoSchedule."""


class GpuPool(Declaration):
    """A pool of equal GPU nodes: an *island pool* for groups over several nodes, else a *plain pool*.

    An island is one placement group and one topology domain: a group lives on one island and shares it with none.
    """

    instance_type: InstanceTypeName
    """EC2 instance type of every node."""
    islands: NodeCount = 0
    """Islands of the pool; each holds one group. Default 0: a plain pool."""
    nodes_per_island: Annotated[NodeCount, Field(ge=1)] = 1
    """Nodes of one island: the nodes of one group. Default 1."""
    nodes: NodeCount = 0
    """Most nodes of a plain pool, for pods that need one node or share one. An island pool counts its own.
    Default 0."""
    zone: Zone | None = None
    """Availability zone of every node. EFA does not leave a zone, and a placement group, a reservation and a block lie
    in one. Default: any zone of the cluster."""
    capacity: Capacity = OnDemand()
    """How nodes are bought. Default on demand."""
    static: bool | None = None
    """Whether nodes exist before pods ask for them, all of them and always. Default: of a reservation and a capacity
    block, which are paid for anyway."""
    weight: Annotated[Whole, Field(ge=1, le=100)] | None = None
    """Which pool Karpenter tries first where a pod fits several, 1 to 100, highest first. Default 100 for reserved, 50
    for on-demand, 10 for spot nodes."""
    role: DnsLabel | None = None
    """Role that the nodes are kept for, such as prefill: label and taint ``pulumi-lws/role``. Default none."""
    efa: EfaMode | None = None
    """``dynamic``: a node gets all its EFA interfaces when the pod that it is made for asks for one, each with an IP
    address; ``explicit``: always, without IP addresses of their own; ``none``. Default: explicit for static pools, else
    dynamic, none for types without EFA."""
    placement_group: bool | None = None
    """Whether each island, or the plain pool, is a cluster placement group. Default: islands of several nodes, except
    on a capacity block, which is placed closely anyway."""
    image: ImageAlias | None = None
    """Image of the nodes by a pinned alias; EKS Auto Mode chooses its own. Default: the cluster's."""
    root_volume: RootVolume = RootVolume()
    """EBS volume of a node. Default 100 GiB."""
    hugepages: bool = False
    """Whether pods may request ``hugepages-2Mi``. The images set 10 GiB aside where there is EFA, which Karpenter does
    not know: a NodeOverlay (alpha) tells it 5 GiB. Libfabric does without. Default false."""
    metadata_hop_limit: Annotated[Whole, Field(ge=1, le=64)] = 1
    """Network hops that answers of the instance metadata service may take, 1 to 64; with 2 every pod can take the
    node's role. Always IMDSv2. Default 1."""
    disruption: Disruption = Disruption()
    """When nodes are taken away. Default: only empty ones."""
    labels: Mapping[LabelKey, LabelValue] = {}
    """Further labels of the nodes. Default none."""
    taints: tuple[Taint, ...] = ()
    """Further taints of the nodes. Default none."""
    tags: Mapping[str, str] = {}
    """Further AWS tags of instances and volumes. Default none."""
    node_class: Mapping[str, Any] = {}
    """Further fields for the ``spec`` of the node class (EC2NodeClass; on Auto Mode NodeClass), such as ``userData``,
    or one that is newer than this library. Default none."""

    @property
    def instance(self) -> InstanceType:
        """The catalogue's entry for the instance type."""
        return INSTANCE_TYPES[self.instance_type]

    @property
    def most_nodes(self) -> int:
        """Nodes that the pool can have at once."""
        return self.islands * self.nodes_per_island if self.islands else self.nodes

    @property
    def gpus(self) -> int:
        """GPUs that the pool can have at once."""
        return self.most_nodes * self.instance.gpus

    @property
    def spot_overflow(self) -> int:
        """Islands, of a plain pool nodes, that are spot beyond a base on demand."""
        return self.capacity.spot_overflow if isinstance(self.capacity, OnDemand) else 0

    @property
    def is_static(self) -> bool:
        """Whether nodes exist before pods do."""
        return isinstance(self.capacity, Reservation | CapacityBlock) if self.static is None else self.static

    @property
    def efa_mode(self) -> EfaMode:
        """How nodes get their EFA interfaces, decided."""
        if self.efa is not None:
            return self.efa
        if not self.instance.efa_interfaces:
            return "none"
        return "explicit" if self.is_static else "dynamic"

    @property
    def is_placed(self) -> bool:
        """Whether each island, or the plain pool, is a placement group."""
        if self.placement_group is not None:
            return self.placement_group
        return self.islands > 0 and self.nodes_per_island > 1 and not isinstance(self.capacity, CapacityBlock)

    @model_validator(mode="after")
    def _either_islands_or_nodes(self) -> "GpuPool":
        if self.islands and self.nodes:
            raise invalid(
                f"none: {counted(self.islands, 'island')} of {counted(self.nodes_per_island, 'node')} say it already",
                "Remove it, or remove islands.",
                field="nodes",
                found=str(self.nodes),
            )
        if self.most_nodes > MOST_NODES:
            raise invalid(
                f"at most {MOST_NODES} nodes in one pool",
                "Lower islands or nodesPerIsland, or make several pools.",
                field="islands",
                found=f"{self.islands} of {self.nodes_per_island} nodes",
            )
        return self
