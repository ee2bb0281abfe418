"""Labels, annotations and resource names, each written once."""

from typing import Final

# Ours.
OWN_PREFIX: Final = "pulumi-lws/"
"""Prefix of what selectors of ours follow."""
POOL: Final = "pulumi-lws/pool"
"""Pool that a node belongs to."""
ISLAND: Final = "pulumi-lws/island"
"""Island of a node: one placement group, one topology domain; ``<pool>-<index>``."""
DEPLOYMENT: Final = "pulumi-lws/deployment"
"""Deployment of a model that an object belongs to."""
ROLE: Final = "pulumi-lws/role"
"""Role of a pod in its deployment: serve, prefill or decode."""
SERVES: Final = "pulumi-lws/serves"
"""``"true"`` on pods that answer requests: what a router chooses from."""
METRICS: Final = "pulumi-lws/metrics"
"""``"none"`` on pods that answer requests, of an engine that tells Prometheus nothing."""
ROUTER: Final = "pulumi-lws/router"
"""Name of a router, on its pods."""
REVISION: Final = "pulumi-lws/revision"
"""Hash of what prefill and decode must have alike; pods of different revisions never share a request."""
SERVE_REVISION: Final = "pulumi-lws/serve-revision"
"""Annotation of the head of a Ray service: hash of what its model and the bounds of its workers are. KubeRay makes a
new cluster only for what stands in the templates of pods."""
TEAM: Final = "pulumi-lws/team"
"""Team that a namespace belongs to."""
POD_SECURITY_REASON: Final = "pulumi-lws/pod-security-reason"
"""Annotation of a namespace: why its pods may do more than the restricted level allows."""
CACHE: Final = "pulumi-lws/cache"
"""What a pod keeps ready: images or weights."""
CACHED: Final = "pulumi-lws/cached"
"""Name of the model or the volume that a pod copies weights for."""
LOAD_TEST: Final = "pulumi-lws/load-test"
"""Name of a load test, on all that it consists of; who may reach a deployment can name it."""
CONFIGURATION: Final = "pulumi-lws/configuration"
"""Annotation of pods that read their configuration once: what it says, so that another one means other pods."""
EXEMPT_PREFIX: Final = OWN_PREFIX + "exempt."
"""Prefix of annotations that exempt their object from a rule: the rule's name follows."""

# llm-d router (docs/disaggregation.md of llm-d-router 0.10).
LLM_D_PREFIX: Final = "llm-d.ai/"
LLM_D_ROLE: Final = LLM_D_PREFIX + "role"
"""What a pod does for a request: prefill or decode."""

# LeaderWorkerSet (api/leaderworkerset/v1 of LWS 0.10).
LWS_PREFIX: Final = "leaderworkerset.sigs.k8s.io/"
"""Prefix that LWS keeps for itself: a value of ours under it would be overwritten or confuse the controller."""
LWS_NAME: Final = LWS_PREFIX + "name"
LWS_GROUP_INDEX: Final = LWS_PREFIX + "group-index"
LWS_GROUP_KEY: Final = LWS_PREFIX + "group-key"
LWS_WORKER_INDEX: Final = LWS_PREFIX + "worker-index"
LWS_EXCLUSIVE_TOPOLOGY: Final = LWS_PREFIX + "exclusive-topology"
LWS_SUBGROUP_EXCLUSIVE_TOPOLOGY: Final = LWS_PREFIX + "subgroup-exclusive-topology"
LWS_SUBGROUP_INDEX: Final = LWS_PREFIX + "subgroup-index"
LWS_SUBGROUP_KEY: Final = LWS_PREFIX + "subgroup-key"
LWS_SUBGROUP_SIZE: Final = LWS_PREFIX + "subgroup-size"
LWS_SUBGROUP_POLICY_TYPE: Final = LWS_PREFIX + "subgroup-policy-type"
LWS_SUBDOMAIN_POLICY: Final = LWS_PREFIX + "subdomainPolicy"
LWS_LEADER_NAME: Final = LWS_PREFIX + "leader-name"
LWS_RECREATE_AFTER_START: Final = LWS_PREFIX + "experimental-recreate-group-after-start"

# DisaggregatedSet (api/disaggregatedset/v1 of LWS 0.10).
DS_PREFIX: Final = "disaggregatedset.x-k8s.io/"
DS_NAME: Final = DS_PREFIX + "name"
DS_ROLE: Final = DS_PREFIX + "role"

# Kubernetes well-known.
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
HOSTNAME: Final = "kubernetes.io/hostname"

NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
"""Label that the API server puts on every namespace."""
POD_SECURITY_PREFIX: Final = "pod-security.kubernetes.io/"
"""Prefix of what a namespace does with pods of a level: enforce, audit and warn follow."""

# Karpenter and Kueue.
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
NODE_POOL: Final = "karpenter.sh/nodepool"
DISCOVERY: Final = "karpenter.sh/discovery"
"""AWS tag by which Karpenter finds the subnets and security groups of a cluster; its value is the cluster's name."""
DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
KUEUE_PREFIX: Final = "kueue.x-k8s.io/"
"""Prefix of what Kueue reads from workloads and pods."""
KUEUE_QUEUE: Final = KUEUE_PREFIX + "queue-name"
KUEUE_PRIORITY: Final = KUEUE_PREFIX + "priority-class"
KUEUE_POD_SET_GROUP: Final = KUEUE_PREFIX + "podset-group-name"
KUEUE_REQUIRED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-required-topology"
KUEUE_PREFERRED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-preferred-topology"
KUEUE_UNCONSTRAINED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-unconstrained-topology"

# Envoy Gateway (internal/gatewayapi and internal/infrastructure of 1.9) and cert-manager.
ENVOY_PROXY: Final = {
    "app.kubernetes.io/name": "envoy",
    "app.kubernetes.io/component": "proxy",
    "app.kubernetes.io/managed-by": "envoy-gateway",
}
"""Labels of every proxy of Envoy Gateway."""
OWNING_GATEWAY: Final = "gateway.envoyproxy.io/owning-gateway-name"
OWNING_GATEWAY_NAMESPACE: Final = "gateway.envoyproxy.io/owning-gateway-namespace"
CERT_MANAGER_ISSUERS: Final = {
    "ClusterIssuer": "cert-manager.io/cluster-issuer",
    "Issuer": "cert-manager.io/issuer",
}
"""Annotation of a Gateway that names who gets its certificates, by the kind of issuer."""
LOAD_BALANCER_PREFIX: Final = "service.beta.kubernetes.io/aws-load-balancer-"
"""Prefix of the annotations by which a Service says what its load balancer of AWS is like."""

# Pulumi's Kubernetes provider.
PULUMI_WAIT_FOR: Final = "pulumi.com/waitFor"
PULUMI_SKIP_AWAIT: Final = "pulumi.com/skipAwait"
PULUMI_PATCH_FORCE: Final = "pulumi.com/patchForce"
"""Annotation of an object whose fields Pulumi takes back from whoever changed them since."""
PATCH_FORCE_REASON: Final = EXEMPT_PREFIX + "patch-force"
"""Annotation beside that one, which the rule patch-force wants: why."""

# Extended resources.
GPU: Final = "nvidia.com/gpu"
EFA: Final = "vpc.amazonaws.com/efa"
