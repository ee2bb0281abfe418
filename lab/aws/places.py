"""Facts of the stand-in's account: who it is, its regions and zones, what they offer; pure."""

from pulumi_lws.facts.instances import INSTANCE_TYPES

ACCOUNT_ID = "123456789012"
"""The account of programs that allow no other: the one that AWS's documentation uses, which is nobody's."""

PARTITION = "aws"

KUBERNETES_VERSIONS = ("1.31", "1.32", "1.33", "1.34", "1.35", "1.36")
"""Versions that EKS runs (https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, mid 2026)."""

_REGIONS = {
    # Code within zone ids, and how many zones an account sees:
    # https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html
    "us-east-1": ("use1", 6),
    "us-east-2": ("use2", 3),
    "us-west-1": ("usw1", 2),
    "us-west-2": ("usw2", 4),
    "ca-central-1": ("cac1", 3),
    "sa-east-1": ("sae1", 3),
    "eu-central-1": ("euc1", 3),
    "eu-north-1": ("eun1", 3),
    "eu-south-2": ("eus2", 3),
    "eu-west-1": ("euw1", 3),
    "eu-west-2": ("euw2", 3),
    "eu-west-3": ("euw3", 3),
    "ap-northeast-1": ("apne1", 3),
    "ap-northeast-2": ("apne2", 4),
    "ap-south-1": ("aps1", 3),
    "ap-southeast-1": ("apse1", 3),
    "ap-southeast-2": ("apse2", 3),
    "ap-southeast-3": ("apse3", 3),
}
REGIONS = tuple(_REGIONS)
"""Regions of the stand-in: those of the commercial partition where GPU types are offered, and their neighbours."""

_SCARCE_ZONES = 2


def zones(region: str) -> dict[str, str]:
    """Zone ids of a region by the zones' names, in order."""
    code, count = _REGIONS[region]
    return {f"{region}{'abcdef'[number]}": f"{code}-az{number + 1}" for number in range(count)}


def offered(instance_type: str, region: str) -> list[str]:
    """Zones of a region that offer an instance type: every one, but the first two only for types with GPUs.

    Where real GPUs stand changes by the month and by account; here one zone lacks them, so that a program shows what it
    does about it.
    """
    names = list(zones(region))
    return names[:_SCARCE_ZONES] if instance_type in INSTANCE_TYPES else names


MANAGED_POLICIES = frozenset(
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/policy-list.html, those for EKS and its nodes
    f"arn:aws:iam::aws:policy/{name}"
    for name in (
        "AdministratorAccess",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonEC2ContainerRegistryReadOnly",
        "AmazonEKSBlockStoragePolicy",
        "AmazonEKSClusterPolicy",
        "AmazonEKSComputePolicy",
        "AmazonEKSFargatePodExecutionRolePolicy",
        "AmazonEKSLoadBalancingPolicy",
        "AmazonEKSNetworkingPolicy",
        "AmazonEKSServicePolicy",
        "AmazonEKSVPCResourceController",
        "AmazonEKSWorkerNodeMinimalPolicy",
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonFSxFullAccess",
        "AmazonS3ReadOnlyAccess",
        "AmazonSSMManagedInstanceCore",
        "CloudWatchAgentServerPolicy",
        "PowerUserAccess",
        "ReadOnlyAccess",
        "service-role/AmazonEBSCSIDriverPolicy",
        "service-role/AmazonEBSCSIDriverPolicyV2",
        "service-role/AmazonEFSCSIDriverPolicy",
        "service-role/AmazonFSxCSIDriverPolicy",
    )
)
"""Policies of AWS that roles may have attached here."""

ADDON_VERSIONS = {
    # One plausible version each; what EKS offers changes every few weeks.
    "amazon-cloudwatch-observability": "v4.8.0-eksbuild.1",
    "aws-ebs-csi-driver": "v1.55.0-eksbuild.1",
    "aws-efs-csi-driver": "v2.2.0-eksbuild.1",
    "aws-fsx-csi-driver": "v1.8.0-eksbuild.1",
    "aws-mountpoint-s3-csi-driver": "v2.3.0-eksbuild.1",
    "cert-manager": "v1.19.2-eksbuild.1",
    "coredns": "v1.13.1-eksbuild.1",
    "eks-node-monitoring-agent": "v1.5.0-eksbuild.1",
    "eks-pod-identity-agent": "v1.3.10-eksbuild.2",
    "external-dns": "v0.20.0-eksbuild.1",
    "kube-proxy": "v{kubernetes}.0-eksbuild.2",
    "kube-state-metrics": "v2.17.0-eksbuild.1",
    "metrics-server": "v0.8.0-eksbuild.6",
    "prometheus-node-exporter": "v1.10.2-eksbuild.4",
    "snapshot-controller": "v8.4.0-eksbuild.1",
    "vpc-cni": "v1.21.1-eksbuild.1",
}
"""Add-ons of EKS (https://docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html) and a version of each."""
