"""The API InferencePool: pods among which a router chooses for a Gateway."""

from pulumi_lws.addons.addon import AddOnFacts

INFERENCE_POOLS = AddOnFacts(
    name="inference_pools",
    title="InferencePool API",
    purpose="pods among which a router chooses for a Gateway",
    pin="inference-pools",
    release="inference-pools",
    namespace="",
    manifests="https://github.com/kubernetes-sigs/gateway-api-inference-extension/releases/download/v{version}/manifests.yaml",
    after=("envoy_gateway",),
    crds=(
        "inferencepoolimports.inference.networking.x-k8s.io",
        "inferencepools.inference.networking.k8s.io",
    ),
)
