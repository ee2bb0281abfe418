"""The endpoint picker of the llm-d router: which prefill pod and which decode pod share a request.

Source: the plugins of llm-d-router 0.10, which reads its configuration strictly.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.serving.routing.pool import RoutedPool

CONTAINER = "endpoint-picker"
"""Name of the container."""

EXTERNAL_PROCESSING_PORT = 9002
"""Port on which a proxy asks for the pods of a request (gRPC)."""

HEALTH_PORT = 9003
"""Port of the health checks (gRPC)."""

METRICS_PORT = 9090
"""Port of the metrics."""

CONFIGURATION = "endpoint-picker.yaml"
"""Name of the configuration's file."""

FOLDER = "/etc/router"
"""Where the configuration is mounted."""

SHORTEST_PREFILL_TOKENS = 512
"""Fewest tokens of a prompt, beyond those that decode has cached, for which prefill is asked. Fewer are computed where
the answer is written, which is faster than a transfer."""

MATCHED_PREFIX_TOKENS = 16_384
"""How much of a prompt is compared with the caches, in tokens. Upstream's default of 128 Ki doubles the CPU time of the
picker at long prompts."""

_SERVING = "pulumi-lws-serving"
"""Endpoint attribute that exists once a pod has answered with its engine's metrics."""


def arguments(pool: RoutedPool, *, has_inference_pool: bool, beside_proxy: bool) -> list[str]:
    """Return the arguments of the picker.

    Args:
        pool: The pods.
        has_inference_pool: Whether an InferencePool names the pods; else the picker selects them itself.
        beside_proxy: Whether the only proxy that asks is in the same pod. Elsewhere proxies expect TLS.
    """
    if has_inference_pool:
        found_by = [f"--pool-name={pool.name}", f"--pool-namespace={pool.namespace}"]
    else:
        selector = ",".join(f"{key}={value}" for key, value in pool.selector.items())
        found_by = [
            f"--endpoint-selector={selector}",
            f"--endpoint-target-ports={pool.port}",
        ]
    return [
        *found_by,
        f"--config-file={FOLDER}/{CONFIGURATION}",
        # The screener and the filter of serving pods are new.
        "--allow-experimental-plugins=true",
        f"--secure-serving={'false' if beside_proxy else 'true'}",
        f"--grpc-health-port={HEALTH_PORT}",
        # It has gone on for the whole drain before it is told to stop.
        "--drain-timeout=5s",
        # Asking the API server who may read metrics takes a ClusterRole; the NetworkPolicy says it as well.
        "--metrics-endpoint-auth=false",
        "--enable-pprof=false",
        "--tracing=false",
        "--zap-encoder=json",
    ]


def configuration(pool: RoutedPool) -> dict[str, Any]:
    """Return the configuration of the picker.

    The screener comes before everything else: it draws one revision for the request, and only pods of that revision are
    looked at, so no cache goes from one version to another. It asks for decode alone: where a revision has no prefill
    pod, its decode pods compute prompts themselves, which is slow but right.

    A leader that gathers its workers is Ready for some seconds and refuses requests. So pods are only looked at once
    their engine has told its metrics, which is after it has loaded.
    """
    plugins: list[Mapping[str, Any]] = [
        {
            "type": "disaggregatedset-rollout-screener",
            "parameters": {
                "scope": {"labelSelector": ",".join(f"{key}={value}" for key, value in pool.selector.items())},
                "revisionGating": {
                    "mode": "sum",
                    "requireRoles": {"values": ["decode"]},
                    "revisionLabelKey": labels.REVISION,
                    "roleLabelKey": labels.LLM_D_ROLE,
                },
            },
        },
        {
            "type": "core-metrics-extractor",
            "parameters": {
                "engineConfigs": [
                    {
                        "name": "vllm",
                        "queuedRequestsSpec": "vllm:num_requests_waiting",
                        "runningRequestsSpec": "vllm:num_requests_running",
                        "kvUsageSpec": "vllm:kv_cache_usage_perc",
                        "loraSpec": "vllm:lora_requests_info",
                        "cacheInfoSpec": "vllm:cache_config_info",
                        "customMetrics": [{"attributeKey": _SERVING, "metricSpec": "vllm:num_requests_running"}],
                    }
                ]
            },
        },
        {
            "type": "endpoint-attribute-filter",
            "name": "serving-filter",
            "parameters": {
                "attribute": _SERVING,
                "onMissing": "Fail",
                "algorithm": {"type": "threshold", "threshold": {"operator": "GreaterThanOrEqual", "value": 0}},
            },
        },
        {"type": "prefill-filter"},
        {"type": "decode-filter"},
        {
            "type": "approx-prefix-cache-producer",
            "parameters": {"autoTune": True, "maxPrefixTokensToMatch": MATCHED_PREFIX_TOKENS},
        },
        {"type": "prefix-cache-scorer"},
        {"type": "queue-scorer"},
        {"type": "kv-cache-utilization-scorer"},
        {"type": "max-score-picker"},
        {"type": "prefix-based-pd-decider", "parameters": {"nonCachedTokens": SHORTEST_PREFILL_TOKENS}},
        {"type": "disagg-profile-handler", "parameters": {"deciders": {"prefill": "prefix-based-pd-decider"}}},
    ]
    return {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": plugins,
        "schedulingProfiles": [
            # A prompt is gone once it is computed: what holds prefill up is its queue.
            _profile("prefill", {"prefix-cache-scorer": 2, "queue-scorer": 1}),
            _profile("decode", {"prefix-cache-scorer": 2, "queue-scorer": 1, "kv-cache-utilization-scorer": 1}),
        ],
    }


def container(image: str, arguments: Sequence[str], *, drain_seconds: int) -> dict[str, Any]:
    """Render the container of the picker.

    CPU follows the requests: half a CPU to one for each of 100,000 tokens in a second, and about 0.07 for each pod
    whose metrics it reads. Upstream asks for 8 CPUs, for fleets of a hundred pods; a deployment of a few large copies
    has half as many, and may burst.
    """
    probe = {"grpc": {"port": HEALTH_PORT, "service": "readiness"}}
    return {
        "name": CONTAINER,
        "image": image,
        "args": list(arguments),
        "env": [
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for name, path in (("NAMESPACE", "metadata.namespace"), ("POD_NAME", "metadata.name"))
        ],
        "ports": [
            {"name": "ext-proc", "containerPort": EXTERNAL_PROCESSING_PORT},
            {"name": "health", "containerPort": HEALTH_PORT},
            {"name": "metrics", "containerPort": METRICS_PORT},
        ],
        "startupProbe": {**probe, "periodSeconds": 2, "failureThreshold": 60},
        "readinessProbe": {**probe, "periodSeconds": 2},
        "livenessProbe": {"grpc": {"port": HEALTH_PORT, "service": "liveness"}, "periodSeconds": 10},
        "resources": {"requests": {"cpu": "4", "memory": "8Gi"}, "limits": {"memory": "8Gi"}},
        # A stream to it stays open as long as its request: none may break before the proxy has finished them.
        "lifecycle": {"preStop": {"sleep": {"seconds": drain_seconds}}},
        "volumeMounts": [{"name": "configuration", "mountPath": FOLDER, "readOnly": True}],
    }


def _profile(role: str, weights: Mapping[str, int]) -> dict[str, Any]:
    scorers = [{"pluginRef": name, "weight": weight} for name, weight in weights.items()]
    chosen = [{"pluginRef": name} for name in (f"{role}-filter", "serving-filter")]
    return {"name": role, "plugins": [*chosen, *scorers, {"pluginRef": "max-score-picker"}]}
