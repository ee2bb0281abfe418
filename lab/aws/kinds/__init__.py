"""What AWS and the real provider enforce beyond the SDK's tables, one entry per resource type."""

from lab.aws.kinds import compute, eks, eks_access, iam, network, security_groups, services
from lab.aws.kinds.kind import Kind

KINDS: dict[str, Kind] = {
    **network.KINDS,
    **security_groups.KINDS,
    **compute.KINDS,
    **eks.KINDS,
    **eks_access.KINDS,
    **iam.KINDS,
    **services.KINDS,
}
"""Every type that has rules of its own. Any other type of the SDK follows its table alone."""
