"""The security group of EFA.

Nodes have it beside the cluster's own group, which alone reaches the API server.
"""

from collections.abc import Mapping

EFA_GROUP_DESCRIPTION = "EFA between GPU nodes: everything from and to itself"
"""AWS shows it; it cannot be changed later."""

EFA_RULES: Mapping[str, str] = {
    "ingress": "EFA from other GPU nodes",
    # A rule to 0.0.0.0/0 does not do: EFA addresses are no IP addresses, and NCCL would find its peers unresponsive.
    "egress": "EFA to other GPU nodes",
}
"""Descriptions of its rules by direction; each lets every protocol through, from or to the group itself."""
