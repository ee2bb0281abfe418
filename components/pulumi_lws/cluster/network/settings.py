"""The network of a cluster: a VPC that is made, or one that exists."""

import ipaddress
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from pulumi_lws.declarations import Count, Declaration
from pulumi_lws.nodes.settings import InstanceTypeName, Zone
from pulumi_lws.planning.problems import invalid


def _network(text: str) -> str:
    try:
        network = ipaddress.IPv4Interface(text).network
    except ValueError:
        raise invalid("an IPv4 network such as 10.0.0.0/16", "Write address and prefix length.") from None
    if "/" not in text or str(network) != text:
        raise invalid("the first address of a network and its prefix length", f"Write {network}.")
    return text


Cidr = Annotated[
    str,
    AfterValidator(_network),
    WithJsonSchema({"type": "string", "pattern": r"^\d+\.\d+\.\d+\.\d+/\d+$", "examples": ["10.0.0.0/16"]}),
]
"""An IPv4 network, such as ``10.0.0.0/16``."""

VpcId = Annotated[str, Field(pattern=r"^vpc-[0-9a-f]{8,17}$", examples=["vpc-0123456789abcdef0"])]
"""Id of a VPC."""

SubnetId = Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8,17}$", examples=["subnet-0123456789abcdef0"])]
"""Id of a subnet."""

Endpoint = Literal[
    "autoscaling", "ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticloadbalancing", "logs", "sqs", "ssm", "sts"
]
"""A service of AWS that nodes and pods reach inside the VPC."""

RetentionDays = Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827]
"""How long CloudWatch keeps logs, in days; it knows no values between them."""


class FlowLogs(Declaration):
    """Logs of the connections in a VPC, in CloudWatch."""

    traffic: Literal["ALL", "ACCEPT", "REJECT"] = "ALL"
    """Which connections are logged. EFA is no IP traffic and never is. Default ALL."""
    retention_days: RetentionDays = 30
    """How long logs are kept, in days. Default 30."""


class Vpc(Declaration):
    """A VPC that is made, with a private and a public subnet in each zone. Nodes live in the private ones.

    Of the VPC's addresses every private subnet has an eighth, every public one a sixty-fourth: with a /16, 8187 and
    1019 addresses. The subnets of a zone stay as they are when further zones are added at the end.
    """

    kind: Literal["vpc"] = "vpc"
    """``vpc``."""
    cidr: Cidr = "10.0.0.0/16"
    """Its addresses, /16 to /22. Default 10.0.0.0/16."""
    zones: tuple[Zone, ...]
    """Its availability zones, 2 to 6; the first two hold the interfaces of the control plane. Add further ones at the
    end."""
    nat: Literal["per-zone", "single", "none"] = "per-zone"
    """How nodes reach the internet: by a NAT gateway in each zone, by one for all, which costs less and fails with its
    zone, or not at all. Default per-zone."""
    endpoints: tuple[Endpoint, ...] = ("ec2", "ecr.api", "ecr.dkr", "eks", "sts")
    """Services of AWS that are reached inside the VPC; S3, where image layers lie, always is. Default ec2, ecr.api,
    ecr.dkr, eks, sts."""
    flow_logs: FlowLogs | None = None
    """Logs of connections. Default none."""
    connected_cidrs: tuple[Cidr, ...] = ()
    """Networks that the VPC is or will be connected with; its own addresses must not be among theirs. Default none."""
    offerings: Mapping[InstanceTypeName, tuple[Zone, ...]] = {}
    """Zones that have an instance type, as ``aws ec2 describe-instance-type-offerings`` tells; pools are checked
    against it. Default: not known."""
    tags: Mapping[str, str] = {}
    """AWS tags of the network alone. Default none."""


class ExistingVpc(Declaration):
    """A VPC that somebody else made, with its routes and endpoints."""

    kind: Literal["existing"] = "existing"
    """``existing``."""
    vpc_id: VpcId
    """Its id."""
    private_subnets: Mapping[Zone, Annotated[tuple[SubnetId, ...], Field(min_length=1)]]
    """Subnets of the nodes by zone. The first subnet of each of the first two zones, by name, holds the interfaces of
    the control plane."""
    free_addresses: Mapping[Zone, Count] = {}
    """How many free addresses the private subnets of a zone have together; pools are checked against it. Default: not
    known."""
    cidrs: tuple[Cidr, ...] = ()
    """Addresses of the VPC; the service addresses of the cluster must not be among them. Default: not known."""
    isolated: bool = False
    """Whether nodes have no way to the internet: then Karpenter asks for no prices. Default false."""
    offerings: Mapping[InstanceTypeName, tuple[Zone, ...]] = {}
    """Zones that have an instance type, as ``aws ec2 describe-instance-type-offerings`` tells; pools are checked
    against it. Default: not known."""

    @property
    def zones(self) -> tuple[str, ...]:
        """Zones of its private subnets, by name: a mapping has no order where it is compared with an earlier one."""
        return tuple(sorted(self.private_subnets))


NetworkSettings = Annotated[Vpc | ExistingVpc, Field(discriminator="kind")]
"""Either network."""


def is_isolated(network: Vpc | ExistingVpc) -> bool:
    """Tell whether nodes have no way to the internet."""
    return network.nat == "none" if isinstance(network, Vpc) else network.isolated


def control_plane_zones(network: Vpc | ExistingVpc) -> tuple[str, ...]:
    """Return the two zones in which EKS has its interfaces. They can never be changed."""
    return network.zones[:2]
