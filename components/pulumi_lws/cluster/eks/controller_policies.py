"""The policies of Karpenter's controller, as tables.

They are those of the reference of karpenter-provider-aws 1.14 ("CloudFormation"), by the same names, narrowed to the
account wherever Karpenter makes the resource itself. Subnets, security groups and reservations may be shared by other
accounts.
"""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.cluster.eks import names
from pulumi_lws.cluster.eks.documents import Document, allow, document
from pulumi_lws.cluster.eks.iam import ec2_arns, made_by_nodes
from pulumi_lws.cluster.eks.settings import EksClusterArgs


def controller_policies(cluster: EksClusterArgs) -> Mapping[str, Document]:
    """Return the six policies of Karpenter's controller by name."""
    return {
        "node-lifecycle": _node_lifecycle(cluster),
        "iam-integration": _iam_integration(cluster),
        "eks-integration": document(allow("DescribeOwnCluster", "eks:DescribeCluster", cluster.arn)),
        "interruption": document(
            allow(
                "ReadInterruptions",
                ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"],
                names.queue_arn(cluster),
            )
        ),
        # The action knows no resource, but the condition does.
        "zonal-shift": document(
            allow(
                "ReadZonalShift",
                "arc-zonal-shift:GetManagedResource",
                condition={"StringEquals": {"arc-zonal-shift:ResourceIdentifier": cluster.arn}},
            )
        ),
        "resource-discovery": _resource_discovery(cluster),
    }


def _node_lifecycle(cluster: EksClusterArgs) -> Document:
    made = made_by_nodes(cluster)
    requested = _owned(cluster, "aws:RequestTag", "eks:eks-cluster-name")
    belonging = _owned(cluster, "aws:ResourceTag")
    return document(
        allow(
            "UseForInstances",
            ["ec2:RunInstances", "ec2:CreateFleet"],
            [
                *_public_arns(cluster, "image", "snapshot"),
                *ec2_arns(cluster, "security-group", "subnet", "capacity-reservation", account="*"),
                *ec2_arns(cluster, "placement-group"),
            ],
        ),
        allow(
            "UseOwnLaunchTemplates",
            ["ec2:RunInstances", "ec2:CreateFleet"],
            ec2_arns(cluster, "launch-template"),
            condition=belonging,
        ),
        allow(
            "MakeTaggedInstances",
            ["ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"],
            made,
            condition=requested,
        ),
        allow(
            "TagWhatIsMade",
            "ec2:CreateTags",
            made,
            condition={
                **requested,
                "StringEquals": {
                    **requested["StringEquals"],
                    "ec2:CreateAction": ["RunInstances", "CreateFleet", "CreateLaunchTemplate"],
                },
            },
        ),
        allow(
            "TagOwnInstances",
            "ec2:CreateTags",
            ec2_arns(cluster, "instance"),
            condition={
                **belonging,
                "StringEqualsIfExists": {"aws:RequestTag/eks:eks-cluster-name": cluster.name},
                "ForAllValues:StringEquals": {
                    "aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"]
                },
            },
        ),
        allow(
            "DeleteOwn",
            ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
            ec2_arns(cluster, "instance", "launch-template"),
            condition=belonging,
        ),
    )


def _iam_integration(cluster: EksClusterArgs) -> Document:
    profiles = _instance_profiles(cluster)
    owned = {f"kubernetes.io/cluster/{cluster.name}": "owned", "topology.kubernetes.io/region": cluster.region}
    belonging = {f"aws:ResourceTag/{key}": value for key, value in owned.items()}
    requested = {
        f"aws:RequestTag/{key}": value for key, value in {**owned, "eks:eks-cluster-name": cluster.name}.items()
    }
    node_class = "karpenter.k8s.aws/ec2nodeclass"
    return document(
        allow(
            "PassNodeRole",
            "iam:PassRole",
            names.role_arn(cluster, names.node_role(cluster)),
            condition={"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}},
        ),
        allow(
            "CreateInstanceProfiles",
            "iam:CreateInstanceProfile",
            profiles,
            condition={"StringEquals": requested, "StringLike": {f"aws:RequestTag/{node_class}": "*"}},
        ),
        allow(
            "TagOwnInstanceProfiles",
            "iam:TagInstanceProfile",
            profiles,
            condition={
                "StringEquals": {**belonging, **requested},
                "StringLike": {f"aws:ResourceTag/{node_class}": "*", f"aws:RequestTag/{node_class}": "*"},
            },
        ),
        allow(
            "ChangeOwnInstanceProfiles",
            ["iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"],
            profiles,
            condition={"StringEquals": belonging, "StringLike": {f"aws:ResourceTag/{node_class}": "*"}},
        ),
    )


def _resource_discovery(cluster: EksClusterArgs) -> Document:
    return document(
        # Describing and listing know no resources.
        allow(
            "DescribeRegion",
            [
                "ec2:DescribeCapacityReservations",
                "ec2:DescribeImages",
                "ec2:DescribeInstances",
                "ec2:DescribeInstanceStatus",
                "ec2:DescribeInstanceTypeOfferings",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeLaunchTemplates",
                "ec2:DescribePlacementGroups",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSpotPriceHistory",
                "ec2:DescribeSubnets",
            ],
            condition={"StringEquals": {"aws:RequestedRegion": cluster.region}},
        ),
        allow(
            "ReadImageIds",
            "ssm:GetParameter",
            f"arn:{cluster.partition}:ssm:{cluster.region}::parameter/aws/service/*",
        ),
        allow("ReadPrices", "pricing:GetProducts"),
        allow("ListInstanceProfiles", "iam:ListInstanceProfiles"),
        allow("ReadInstanceProfiles", "iam:GetInstanceProfile", _instance_profiles(cluster)),
    )


def _owned(cluster: EksClusterArgs, key: str, *further: str) -> dict[str, dict[str, Any]]:
    """Ask for the tags that Karpenter gives everything that it makes for this cluster."""
    return {
        "StringEquals": {
            f"{key}/kubernetes.io/cluster/{cluster.name}": "owned",
            **{f"{key}/{tag}": cluster.name for tag in further},
        },
        "StringLike": {f"{key}/karpenter.sh/nodepool": "*"},
    }


def _public_arns(cluster: EksClusterArgs, *kinds: str) -> list[str]:
    return [f"arn:{cluster.partition}:ec2:{cluster.region}::{kind}/*" for kind in kinds]


def _instance_profiles(cluster: EksClusterArgs) -> str:
    return f"arn:{cluster.partition}:iam::{cluster.account}:instance-profile/*"
