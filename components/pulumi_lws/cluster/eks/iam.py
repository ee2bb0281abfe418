"""IAM: roles, what they may do and who may take them, as tables."""

from collections.abc import Mapping, Sequence

from pulumi_lws.cluster.eks import names
from pulumi_lws.cluster.eks.documents import Document, allow, document
from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.nodes.cluster import Mode

CLUSTER_POLICIES: Mapping[Mode, Sequence[str]] = {
    "auto": (
        "AmazonEKSClusterPolicy",
        "AmazonEKSComputePolicy",
        "AmazonEKSBlockStoragePolicy",
        "AmazonEKSLoadBalancingPolicy",
        "AmazonEKSNetworkingPolicy",
    ),
    "karpenter": ("AmazonEKSClusterPolicy",),
}
"""Managed policies of the role of the cluster, by who makes its nodes."""

NODE_POLICIES: Mapping[Mode, Sequence[str]] = {
    "auto": ("AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly"),
    "karpenter": (
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    ),
}
"""Managed policies of the role of the nodes, by who makes them; system nodes have those of Karpenter's."""

NODE_ACCESS: Mapping[Mode, str] = {"auto": "EC2", "karpenter": "EC2_LINUX"}
"""Type of the access entry of the nodes."""

AUTO_NODE_ACCESS_POLICY = "AmazonEKSAutoNodePolicy"
"""Access policy of the nodes of Auto Mode."""

ACCESS_POLICIES: Mapping[str, str] = {
    "cluster-admin": "AmazonEKSClusterAdminPolicy",
    "admin": "AmazonEKSAdminPolicy",
    "edit": "AmazonEKSEditPolicy",
    "view": "AmazonEKSViewPolicy",
}
"""Access policies of EKS for people and CI."""


def managed_policy_arn(cluster: EksClusterArgs, name: str) -> str:
    """Return the ARN of a policy that AWS manages."""
    return f"arn:{cluster.partition}:iam::aws:policy/{name}"


def access_policy_arn(cluster: EksClusterArgs, name: str) -> str:
    """Return the ARN of an access policy of EKS."""
    return f"arn:{cluster.partition}:eks::aws:cluster-access-policy/{name}"


def cluster_trust() -> Document:
    """Return who may take the role of the cluster: EKS, which on Auto Mode names the cluster in the session."""
    return document(allow("", ["sts:AssumeRole", "sts:TagSession"], principal={"Service": "eks.amazonaws.com"}))


def auto_tags_policy(cluster: EksClusterArgs) -> Document:
    """Return what Auto Mode needs beyond the managed policies, which let it set no tags but its own.

    Without it, every node whose NodeClass has tags is refused.
    https://docs.aws.amazon.com/eks/latest/userguide/auto-cluster-iam-role.html
    """
    own = {"aws:RequestTag/eks:eks-cluster-name": cluster.name}
    of_nodes = ("eks:kubernetes-node-class-name", "eks:kubernetes-node-pool-name")
    return document(
        allow(
            "Compute",
            ["ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateLaunchTemplate"],
            made_by_nodes(cluster),
            condition={"StringEquals": own, "StringLike": {f"aws:RequestTag/{tag}": "*" for tag in of_nodes}},
        ),
        allow(
            "Networking",
            "ec2:CreateNetworkInterface",
            ec2_arns(cluster, "network-interface"),
            condition={"StringEquals": own, "StringLike": {"aws:RequestTag/eks:kubernetes-cni-node-name": "*"}},
        ),
    )


def node_trust(cluster: EksClusterArgs) -> Document:
    """Return who may take the role of a node: EC2."""
    suffix = ".cn" if cluster.partition == "aws-cn" else ""
    return document(allow("", "sts:AssumeRole", principal={"Service": f"ec2.amazonaws.com{suffix}"}))


def pod_trust(cluster: EksClusterArgs) -> Document:
    """Return who may take the role of a pod: EKS Pod Identity, for this cluster."""
    return document(
        allow(
            "",
            ["sts:AssumeRole", "sts:TagSession"],
            principal={"Service": "pods.eks.amazonaws.com"},
            condition={
                "StringEquals": {"aws:SourceAccount": cluster.account},
                "ArnEquals": {"aws:SourceArn": cluster.arn},
            },
        )
    )


def flow_log_trust(account: str) -> Document:
    """Return who may take the role that writes the flow logs of an account."""
    return document(
        allow(
            "",
            "sts:AssumeRole",
            principal={"Service": "vpc-flow-logs.amazonaws.com"},
            condition={"StringEquals": {"aws:SourceAccount": account}},
        )
    )


def queue_policy(cluster: EksClusterArgs) -> Document:
    """Return who may send to the queue of interruptions, and that nobody does in the clear."""
    queue = names.queue_arn(cluster)
    return document(
        allow(
            "SendEvents",
            "sqs:SendMessage",
            queue,
            principal={"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
        ),
        {
            "Sid": "DenyHTTP",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "sqs:*",
            "Resource": queue,
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
    )


def flow_log_policy(log_group_arn: str) -> Document:
    """Return what the role that writes flow logs may do with their log group."""
    return document(
        allow(
            "WriteFlowLogs",
            ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"],
            f"{log_group_arn}:*",
        )
    )


def made_by_nodes(cluster: EksClusterArgs) -> list[str]:
    """Return the ARNs of everything that is made with a node."""
    return ec2_arns(
        cluster, "fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request"
    )


def ec2_arns(cluster: EksClusterArgs, *kinds: str, account: str | None = None) -> list[str]:
    """Return the ARNs of all resources of EC2 of some kinds; of the cluster's account, unless another is named."""
    return [f"arn:{cluster.partition}:ec2:{cluster.region}:{account or cluster.account}:{kind}/*" for kind in kinds]
