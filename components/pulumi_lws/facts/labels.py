"""Labels, annotations and resource names, each written once."""

from typing import Final

# Ours.
POOL: Final = "pulumi-lws/pool"
"""Pool that a node belongs to."""
ISLAND: Final = "pulumi-lws/island"
"""Island of a node: one placement group, one topology domain; ``<pool>-<index>``."""

# LeaderWorkerSet (api/leaderworkerset/v1 of LWS 0.10).
LWS_PREFIX: Final = "leaderworkerset.sigs.k8s.io/"
"""Prefix that LWS keeps for itself: a value of ours under it would be overwritten or confuse the controller."""
LWS_NAME: Final = LWS_PREFIX + "name"
LWS_GROUP_INDEX: Final = LWS_PREFIX + "group-index"
LWS_GROUP_KEY: Final = LWS_PREFIX + "group-key"
LWS_WORKER_INDEX: Final = LWS_PREFIX + "worker-index"
LWS_EXCLUSIVE_TOPOLOGY: Final = LWS_PREFIX + "exclusive-topology"
LWS_SUBGROUP_EXCLUSIVE_TOPOLOGY: Final = LWS_PREFIX + "subgroup-exclusive-topology"

# Kubernetes well-known.
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
HOSTNAME: Final = "kubernetes.io/hostname"

# Karpenter and Kueue.
DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
KUEUE_QUEUE: Final = "kueue.x-k8s.io/queue-name"
KUEUE_REQUIRED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-required-topology"
KUEUE_PREFERRED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-preferred-topology"

# Pulumi's Kubernetes provider.
PULUMI_WAIT_FOR: Final = "pulumi.com/waitFor"
PULUMI_SKIP_AWAIT: Final = "pulumi.com/skipAwait"

# Extended resources.
GPU: Final = "nvidia.com/gpu"
EFA: Final = "vpc.amazonaws.com/efa"
