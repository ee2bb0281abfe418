"""What our recording rules make, so that alerts and dashboards need not know engines and labels of Kubernetes."""

from pulumi_lws.monitoring.metrics.labels import ENGINE, GROUP, MODEL
from pulumi_lws.monitoring.metrics.metric import Metric, Source, rows

RECORDINGS = Source("our recording rules", "monitoring/recordings.py")

RECORDED: tuple[Metric, ...] = (
    *rows(
        RECORDINGS,
        "gauge",
        (*GROUP, "pod", "uid", "node", "worker", "serves", "metrics"),
        ("lws:pod:info", "1", "a pod of a group or deployment, unless it ends; without node while it has none"),
    ),
    *rows(
        RECORDINGS,
        "gauge",
        ("node", "pool", "island", "instance_type", "zone", "nodepool", "capacity_type", "compute_type"),
        ("lws:node:info", "1", "a node of a pool of ours"),
    ),
    *rows(
        RECORDINGS,
        "gauge",
        GROUP,
        ("lws:group:pods:count", "pods", "pods of a group"),
        ("lws:group:pods_ready:count", "pods", "pods of a group that are ready; none where there is no series"),
        ("lws:group:pods_bound:count", "pods", "pods of a group that have a node; none where there is no series"),
        ("lws:group:ready", "0 or 1", "whether all pods of a group are there and ready"),
        ("lws:group:gpu_utilization:max", "percent", "the busiest GPU of a group"),
    ),
    *rows(
        RECORDINGS,
        "gauge",
        (*GROUP, "island"),
        (
            "lws:group:half_island:count",
            "pods",
            "workers that have waited for a node of their island for 15 minutes while their leader holds one",
        ),
    ),
    *rows(
        RECORDINGS,
        "gauge",
        ("pool",),
        ("lws:pool:efa_expected", "interfaces", "EFA interfaces that each node of a pool has"),
        ("lws:pool:node_lifetime_seconds", "seconds", "age at which the nodes of a pool are drained, if ever"),
    ),
    *rows(
        RECORDINGS,
        "gauge",
        ENGINE,
        ("inference:requests_running:sum", "requests", "requests in the running batch of a pod"),
        ("inference:requests_waiting:sum", "requests", "requests that wait for a pod"),
        ("inference:kv_cache_usage:max", "share, 0 to 1", "the fullest KV cache of a pod"),
        ("inference:prompt_tokens:rate5m", "tokens/s", "tokens of prompts that a pod computes"),
        ("inference:generation_tokens:rate5m", "tokens/s", "tokens that a pod generates"),
    ),
    *rows(
        RECORDINGS,
        "gauge",
        (*MODEL, "le"),
        ("inference:time_to_first_token_seconds_bucket:rate5m", "requests/s", "first tokens; for histogram_quantile"),
        ("inference:inter_token_latency_seconds_bucket:rate5m", "tokens/s", "further tokens; for histogram_quantile"),
    ),
)
"""All of them."""
