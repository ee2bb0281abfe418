"""An EKS cluster: one that is made, and one that exists in an account."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from pulumi_lws.cluster.network.settings import Cidr, NetworkSettings, RetentionDays, SubnetId
from pulumi_lws.declarations import Declaration, PositiveCount, Whole
from pulumi_lws.facts.versions import PINS
from pulumi_lws.nodes.settings import ImageAlias, Zone
from pulumi_lws.planning.problems import invalid

KUBERNETES_VERSIONS = ("1.33", "1.34", "1.35", "1.36")
"""Versions that EKS offers and that know everything that we use (``mismatchLabelKeys``; EFA in the cluster's own
security group). https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"""

_ACCOUNT = r"^\d{12}$"
_REGION = r"^[a-z]{2}(-[a-z]+)+-\d$"
_ADD_ON_VERSION = r"^v\d+\.\d+\.\d+-eksbuild\.\d+$"
_PRINCIPAL = r"^arn:aws[a-z-]*:iam::\d{12}:(role|user)/[\w+=,.@/-]+$"


def _kubernetes_version(value: Any) -> Any:
    if isinstance(value, float):
        raise invalid("text such as '1.35'", "Write it in quotes: YAML reads 1.30 as the number 1.3.")
    if isinstance(value, str) and value not in KUBERNETES_VERSIONS:
        raise invalid(", ".join(KUBERNETES_VERSIONS), "Choose a version that EKS offers, without a patch level.")
    return value


def _account(value: Any) -> Any:
    if isinstance(value, int):
        raise invalid("text of 12 digits", "Write it in quotes: YAML reads a number, and drops zeros in front.")
    if isinstance(value, str) and not re.fullmatch(_ACCOUNT, value):
        raise invalid("12 digits", "Look for it with `aws sts get-caller-identity`.")
    return value


def _region(text: str) -> str:
    if not re.fullmatch(_REGION, text):
        raise invalid("a region such as us-east-2", "Name the region, not one of its zones.")
    return text


def _add_on_version(text: str) -> str:
    if not re.fullmatch(_ADD_ON_VERSION, text):
        raise invalid(
            "a version of an EKS add-on, such as v1.35.0-eksbuild.2",
            "Look for it with `aws eks describe-addon-versions`.",
        )
    return text


def _principal(arn: str) -> str:
    if not re.fullmatch(_PRINCIPAL, arn):
        raise invalid(
            "ARN of an IAM role or user, such as arn:aws:iam::123456789012:role/deployers",
            "Name the role itself, neither a session of it (arn:aws:sts:…:assumed-role/…) nor a group.",
        )
    return arn


def _text(pattern: str, example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [example]})


PrincipalArn = Annotated[str, AfterValidator(_principal), _text(_PRINCIPAL, "arn:aws:iam::111122223333:role/deployers")]
"""ARN of an IAM role or user."""

AccountId = Annotated[str, BeforeValidator(_account), _text(_ACCOUNT, "111122223333")]
"""Number of an AWS account, in quotes."""

Region = Annotated[str, AfterValidator(_region), _text(_REGION, "us-east-2")]
"""Name of a region, such as ``us-east-2``."""

ClusterName = Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z_-]*$", max_length=100, examples=["inference"])]
"""Name of an EKS cluster."""

KmsKeyArn = Annotated[
    str,
    Field(
        pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[0-9a-f-]{36}$",
        examples=["arn:aws:kms:us-east-2:111122223333:key/01234567-89ab-cdef-0123-456789abcdef"],
    ),
]
"""ARN of a KMS key."""

SecurityGroupId = Annotated[str, Field(pattern=r"^sg-[0-9a-f]{8,17}$", examples=["sg-0123456789abcdef0"])]
"""Id of a security group."""

AddOn = Literal["coredns", "eks-pod-identity-agent", "kube-proxy", "vpc-cni"]
"""An add-on of EKS that we install where Karpenter makes the nodes; on Auto Mode they are part of the node."""

AddOnVersion = Annotated[str, AfterValidator(_add_on_version), _text(_ADD_ON_VERSION, "v1.35.0-eksbuild.2")]
"""Version of an add-on, such as ``v1.35.0-eksbuild.2``."""

LogType = Literal["api", "audit", "authenticator", "controllerManager", "scheduler"]
"""A log of the control plane."""


KubernetesVersion = Annotated[
    str,
    BeforeValidator(_kubernetes_version),
    WithJsonSchema({"type": "string", "enum": list(KUBERNETES_VERSIONS)}),
]
"""A version of Kubernetes that EKS offers, in quotes."""


class Access(Declaration):
    """What an IAM role or user may do in the cluster: by a policy of EKS, by groups of Kubernetes, or both."""

    principal_arn: PrincipalArn
    """The role or user: a team's, or that of a CI system."""
    policy: Literal["cluster-admin", "admin", "edit", "view"] | None = None
    """EKS access policy. Default none."""
    namespaces: tuple[str, ...] = ()
    """Namespaces that the policy holds for. Default all."""
    groups: tuple[str, ...] = ()
    """Groups of Kubernetes that role bindings name. Default none."""


class AutoCompute(Declaration):
    """EKS Auto Mode makes the nodes."""

    kind: Literal["auto"] = "auto"
    """``auto``."""
    system_cpus: PositiveCount = 64
    """Most CPUs of the nodes without GPU, which run controllers and routers. Default 64."""


class SystemNodes(Declaration):
    """A small managed node group for Karpenter itself, CoreDNS and other controllers."""

    instance_type: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*\.[a-z0-9-]+$", examples=["m7i.xlarge"])] = (
        "m7i.xlarge"
    )
    """EC2 instance type, x86_64. Default m7i.xlarge."""
    nodes: Annotated[Whole, Field(ge=2, le=100)] = 2
    """How many; Karpenter's two replicas want a node each. Default 2."""


class KarpenterCompute(Declaration):
    """A Karpenter of our own makes the nodes."""

    kind: Literal["karpenter"] = "karpenter"
    """``karpenter``."""
    image: ImageAlias | None = None
    """Image of the nodes of pools that name none, by a pinned alias. Default none."""
    system_nodes: SystemNodes = SystemNodes()
    """Nodes that Karpenter runs on. Default two m7i.xlarge."""
    node_overlays: bool = False
    """Feature gate NodeOverlay (alpha), which pools with hugepages need. Default false."""
    charts: str = "oci://public.ecr.aws/karpenter"
    """Where the charts ``karpenter`` and ``karpenter-crd`` lie: a registry or a folder. Default Karpenter's own."""


class EksClusterArgs(Declaration):
    """An EKS cluster that is made, with its network."""

    kind: Literal["eks"] = "eks"
    """``eks``."""
    name: ClusterName
    """Its name. Roles, queues and rules are named after it."""
    account: AccountId
    """Number of the AWS account, in quotes; with credentials of another one nothing is done."""
    region: Region
    """Region, such as us-east-2."""
    network: NetworkSettings
    """Its network."""
    compute: Annotated[AutoCompute | KarpenterCompute, Field(discriminator="kind")]
    """Who makes the nodes."""
    version: KubernetesVersion = ".".join(PINS["kubernetes"].version.split(".")[:2])
    """Version of Kubernetes, in quotes. Default: the pinned one."""
    addons: Mapping[AddOn, AddOnVersion] = {}
    """Versions of add-ons. Default: the pinned ones, which fit the pinned version of Kubernetes."""
    public_cidrs: tuple[Cidr, ...] = ()
    """Networks that reach the API server over the internet. Default none: it is reached from inside the VPC and
    networks connected with it, and so must be what runs Pulumi."""
    authentication: Literal["API", "API_AND_CONFIG_MAP"] = "API"
    """How IAM roles are admitted: by access entries, or by the old ``aws-auth`` as well. Default API."""
    access: Mapping[str, Access] = {}
    """Who may enter, by a name of your choice. Whoever makes the cluster is its administrator without an entry.
    Default none."""
    kms_key: KmsKeyArn | None = None
    """Key that encrypts Secrets. Default: one that is made."""
    log_types: tuple[LogType, ...] = ("api", "audit", "authenticator", "controllerManager", "scheduler")
    """Logs of the control plane that are kept. Default all."""
    log_retention_days: RetentionDays = 90
    """How long they are kept, in days. Default 90."""
    service_cidr: Cidr | None = None
    """Addresses of Services. Default: EKS chooses."""
    protect: bool = True
    """Whether cluster, VPC and key are protected from being deleted or replaced, by Pulumi and by EKS. Default
    true."""
    allow_replacement: bool = False
    """Whether the cluster may be destroyed and made anew, with all that runs on it, where a change needs that. Default
    false: such a change is refused at preview."""
    tags: Mapping[str, str] = {}
    """AWS tags of everything. Default none."""

    @property
    def partition(self) -> str:
        """Partition of AWS that the region belongs to, the first part of every ARN."""
        return partition_of(self.region)

    @property
    def arn(self) -> str:
        """ARN of the cluster, known before it exists."""
        return cluster_arn(self.region, self.account, self.name)


class ExistingEksCluster(Declaration):
    """An EKS cluster that somebody else provisioned, reached by its name with the credentials for AWS."""

    kind: Literal["existing-eks"] = "existing-eks"
    """``existing-eks``."""
    name: ClusterName
    """Its name."""
    account: AccountId
    """Number of the AWS account, in quotes; with credentials of another one nothing is done."""
    region: Region
    """Region, such as us-east-2."""
    compute: Literal["auto", "karpenter"]
    """Who makes the nodes."""
    node_role: str = Field(min_length=1, max_length=64)
    """Name of the IAM role of the nodes; it needs an access entry: EC2 with AmazonEKSAutoNodePolicy on Auto Mode, else
    EC2_LINUX."""
    private_subnets: Mapping[Zone, Annotated[tuple[SubnetId, ...], Field(min_length=1)]] = {}
    """Subnets of the nodes by zone. Default: those with the tag ``karpenter.sh/discovery: <name>``."""
    security_groups: tuple[SecurityGroupId, ...] = ()
    """Security groups of the nodes: the cluster's own, and one that lets EFA in from and out to itself. Default: those
    with the tag ``karpenter.sh/discovery: <name>``."""
    image: ImageAlias | None = None
    """Image of the nodes of pools that name none; not for Auto Mode. Default none."""
    tags: Mapping[str, str] = {}
    """AWS tags of everything that is made. Default none."""

    @property
    def arn(self) -> str:
        """ARN of the cluster."""
        return cluster_arn(self.region, self.account, self.name)


def partition_of(region: str) -> str:
    """Return the partition of AWS that a region belongs to."""
    return {"cn": "aws-cn", "us-gov": "aws-us-gov"}.get(region.rpartition("-")[0].rpartition("-")[0], "aws")


def cluster_arn(region: str, account: str, name: str) -> str:
    """Return the ARN of a cluster."""
    return f"arn:{partition_of(region)}:eks:{region}:{account}:cluster/{name}"


def addon_version(cluster: EksClusterArgs, addon: AddOn) -> str:
    """Return the version of an add-on that a cluster gets."""
    return cluster.addons.get(addon, PINS[f"eks-{addon.removeprefix('eks-')}"].version)
