"""Names of what belongs to a cluster: known before anything exists, so that previews and policies see them."""

from pulumi_lws.cluster.eks.settings import EksClusterArgs

QUEUE_NAME = 80
"""Longest name of a queue."""
ROLE_NAME = RULE_NAME = 64
"""Longest name of a role of IAM and of a rule of EventBridge."""


def cluster_role(cluster: EksClusterArgs) -> str:
    """Return the name of the role of the cluster itself."""
    return f"{cluster.name}-{cluster.region}-cluster"


def node_role(cluster: EksClusterArgs) -> str:
    """Return the name of the role of the nodes that Auto Mode or Karpenter makes. Roles belong to no region."""
    return f"{cluster.name}-{cluster.region}-nodes"


def system_role(cluster: EksClusterArgs) -> str:
    """Return the name of the role of the system nodes; EKS gives it an access entry of its own."""
    return f"{cluster.name}-{cluster.region}-system"


def controller_role(cluster: EksClusterArgs) -> str:
    """Return the name of Karpenter's own role."""
    return f"{cluster.name}-{cluster.region}-karpenter"


def queue(cluster: EksClusterArgs) -> str:
    """Return the name of the queue that announces interruptions."""
    return f"{cluster.name}-karpenter"


def rule(cluster: EksClusterArgs, event: str) -> str:
    """Return the name of the rule that sends an event to the queue."""
    return f"{cluster.name}-{event}"


def role_arn(cluster: EksClusterArgs, name: str) -> str:
    """Return the ARN of a role."""
    return f"arn:{cluster.partition}:iam::{cluster.account}:role/{name}"


def queue_arn(cluster: EksClusterArgs) -> str:
    """Return the ARN of the queue."""
    return f"arn:{cluster.partition}:sqs:{cluster.region}:{cluster.account}:{queue(cluster)}"


def log_group(cluster: EksClusterArgs) -> str:
    """Return the log group that EKS writes the logs of the control plane to."""
    return f"/aws/eks/{cluster.name}/cluster"
