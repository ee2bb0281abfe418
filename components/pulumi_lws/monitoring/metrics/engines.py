"""Metrics of what answers requests: engines, routers, gateways and Ray."""

from collections.abc import Iterable

from pulumi_lws.monitoring.metrics.metric import Metric, Source, rows

VLLM = Source("vLLM", "vllm/v1/metrics/loggers.py", "0.33")
SGLANG = Source("SGLang, with --enable-metrics", "docs/references/production_metrics.md", "0.5")
EPP = Source("llm-d endpoint picker", "pkg/epp/metrics/llm_d_router_metrics.go", "0.10")
ENVOY = Source("Envoy, as Envoy Gateway runs it", "charts/gateway-addons-helm/dashboards/", "1.9")
KUBERAY = Source("KubeRay operator", "ray-operator/controllers/ray/metrics/", "1.7")
RAY = Source("Ray", "the page System Metrics of Ray's documentation", "2.48")

_VLLM = ("model_name", "engine")
_VLLM_NIXL = Source("vLLM with NIXL", "vllm/distributed/kv_transfer/kv_connector/v1/nixl/stats.py", "0.33")
_SGLANG = ("model_name",)
_MODEL = ("model_name", "target_model_name")
_POOL = ("name",)
_CLUSTER = ("envoy_cluster_name",)
_LISTENER = ("envoy_http_conn_manager_prefix",)
_CLASS = "envoy_response_code_class"

_LATENCIES = (
    ("time_to_first_token_seconds", "seconds", "time until the first token"),
    ("inter_token_latency_seconds", "seconds", "time between two tokens"),
    ("e2e_request_latency_seconds", "seconds", "time of a whole request"),
)
_TOKENS = (
    ("prompt_tokens_total", "tokens", "tokens of prompts computed"),
    ("generation_tokens_total", "tokens", "tokens generated"),
)


def _prefixed(prefix: str, written: Iterable[tuple[str, str, str]]) -> Iterable[tuple[str, str, str]]:
    return ((f"{prefix}:{name}", unit, meaning) for name, unit, meaning in written)


ENGINES: tuple[Metric, ...] = (
    *rows(
        VLLM,
        "gauge",
        _VLLM,
        ("vllm:num_requests_running", "requests", "requests in the running batch"),
        ("vllm:num_requests_waiting", "requests", "requests that wait to be scheduled"),
        ("vllm:kv_cache_usage_perc", "share, 0 to 1", "blocks of the KV cache in use"),
    ),
    *rows(
        VLLM,
        "gauge",
        (*_VLLM, "reason"),
        ("vllm:num_requests_waiting_by_reason", "requests", "the same by reason: capacity, or deferred (a transfer)"),
    ),
    *rows(
        VLLM,
        "counter",
        _VLLM,
        *_prefixed("vllm", _TOKENS),
        ("vllm:num_preemptions_total", "requests", "requests put back because the KV cache was full"),
        ("vllm:prefix_cache_queries_total", "tokens", "tokens looked up in the prefix cache"),
        ("vllm:prefix_cache_hits_total", "tokens", "tokens found there"),
    ),
    *rows(
        VLLM,
        "counter",
        (*_VLLM, "finished_reason"),
        ("vllm:request_success_total", "requests", "requests answered, by why they ended"),
    ),
    *rows(
        VLLM,
        "histogram",
        _VLLM,
        *_prefixed("vllm", _LATENCIES),
        ("vllm:request_queue_time_seconds", "seconds", "time spent waiting"),
        ("vllm:request_prefill_time_seconds", "seconds", "time spent on the prompt"),
        ("vllm:request_decode_time_seconds", "seconds", "time spent on the answer"),
    ),
    *rows(
        _VLLM_NIXL,
        "histogram",
        _VLLM,
        ("vllm:nixl_xfer_time_seconds", "seconds", "time of one transfer of KV caches"),
        ("vllm:nixl_bytes_transferred", "bytes", "bytes of one transfer of KV caches"),
    ),
    *rows(
        _VLLM_NIXL,
        "counter",
        _VLLM,
        ("vllm:nixl_num_failed_transfers_total", "transfers", "transfers of KV caches that failed"),
    ),
    *rows(
        SGLANG,
        "gauge",
        _SGLANG,
        ("sglang:num_running_reqs", "requests", "requests in the running batch"),
        ("sglang:num_queue_reqs", "requests", "requests that wait to be scheduled"),
        ("sglang:token_usage", "share, 0 to 1", "tokens of the KV cache in use"),
        ("sglang:cache_hit_rate", "share, 0 to 1", "prompt tokens found in the prefix cache"),
    ),
    *rows(SGLANG, "counter", _SGLANG, *_prefixed("sglang", _TOKENS)),
    *rows(SGLANG, "histogram", _SGLANG, *_prefixed("sglang", _LATENCIES)),
    *rows(
        EPP,
        "gauge",
        _POOL,
        ("llm_d_epp_ready_endpoints", "pods", "pods that a router may choose from"),
        ("llm_d_epp_average_queue_size", "requests", "requests that wait, for each pod"),
        ("llm_d_epp_average_kv_cache_utilization", "share, 0 to 1", "KV cache in use, for each pod"),
    ),
    *rows(
        EPP,
        "gauge",
        ("endpoint_name", "namespace", "producer_name"),
        ("llm_d_epp_inflight_tokens", "tokens", "tokens on their way, for each pod"),
    ),
    *rows(EPP, "gauge", _MODEL, ("llm_d_epp_request_running", "requests", "requests in flight")),
    *rows(EPP, "counter", _MODEL, ("llm_d_epp_request_total", "requests", "requests")),
    *rows(
        EPP, "counter", (*_MODEL, "error_code"), ("llm_d_epp_request_error_total", "requests", "requests that failed")
    ),
    *rows(
        EPP,
        "histogram",
        _MODEL,
        ("llm_d_epp_request_duration_seconds", "seconds", "time of a whole request"),
        ("llm_d_epp_request_ttft_seconds", "seconds", "time until the first byte of the answer"),
    ),
    *rows(
        ENVOY,
        "counter",
        (*_LISTENER, _CLASS),
        ("envoy_http_downstream_rq_xx", "requests", "answers to clients, by class"),
    ),
    *rows(ENVOY, "gauge", _LISTENER, ("envoy_http_downstream_rq_active", "requests", "requests of clients in flight")),
    *rows(
        ENVOY,
        "counter",
        (*_CLUSTER, _CLASS),
        ("envoy_cluster_upstream_rq_xx", "requests", "answers of a backend, by class"),
    ),
    *rows(
        ENVOY,
        "counter",
        _CLUSTER,
        ("envoy_cluster_upstream_rq_total", "requests", "requests to a backend"),
        ("envoy_cluster_upstream_rq_retry", "requests", "requests to a backend tried again"),
    ),
    *rows(
        ENVOY,
        "gauge",
        _CLUSTER,
        ("envoy_cluster_membership_healthy", "pods", "pods of a backend that pass the health check"),
        ("envoy_cluster_membership_total", "pods", "pods of a backend"),
    ),
    *rows(
        ENVOY,
        "histogram",
        _CLUSTER,
        ("envoy_cluster_upstream_rq_time", "milliseconds", "time of a request to a backend"),
    ),
    *rows(
        KUBERAY,
        "gauge",
        ("namespace", "name", "condition"),
        ("kuberay_cluster_condition_provisioned", "0 or 1", "whether all pods of a RayCluster came up once"),
        ("kuberay_service_condition_ready", "0 or 1", "whether a RayService serves"),
    ),
    *rows(
        RAY,
        "gauge",
        ("GpuIndex", "GpuDeviceName"),
        ("ray_node_gpus_utilization", "percent", "time in which a kernel ran"),
    ),
    *rows(
        RAY,
        "gauge",
        ("node_type",),
        ("ray_cluster_active_nodes", "nodes", "nodes of a Ray cluster"),
        ("ray_cluster_pending_nodes", "nodes", "nodes that it waits for"),
    ),
)
"""All of them."""
