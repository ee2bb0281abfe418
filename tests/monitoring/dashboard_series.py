"""A cluster in trouble, in which every panel of every dashboard has something to show."""

from tests.monitoring.series import (
    Series,
    always,
    engine,
    gpu,
    group,
    leader_worker_set,
    named,
    node,
    pod,
)

_COUNTING = "0+60x300"
_OF_QUEUE = {"cluster_queue": "team-a", "replica_role": "leader"}
_OF_POOL = {"nodepool": "p5-0", "pool": "p5"}
_GPU = "nvidia_com_gpu"
_EFA = "vpc_amazonaws_com_efa"


def _histogram(name: str) -> Series:
    ends = {"0.1": "0+30x300", "1": "0+50x300", "+Inf": _COUNTING}
    buckets = [engine(f"{name}_bucket", values, le=end) for end, values in ends.items()]
    return {series: values for each in buckets for series, values in each.items()}


ENGINES: Series = {
    **engine("num_requests_running", always(4)),
    **engine("num_requests_waiting", always(2)),
    **engine("num_requests_waiting_by_reason", always(2), reason="capacity"),
    **engine("kv_cache_usage_perc", always(0.5)),
    **{
        series: values
        for name in (
            "prompt_tokens_total",
            "generation_tokens_total",
            "num_preemptions_total",
            "prefix_cache_queries_total",
            "prefix_cache_hits_total",
            "nixl_bytes_transferred_sum",
            "nixl_num_failed_transfers_total",
        )
        for series, values in engine(name, _COUNTING).items()
    },
    **engine("request_success_total", _COUNTING, finished_reason="stop"),
    **_histogram("time_to_first_token_seconds"),
    **_histogram("inter_token_latency_seconds"),
    **_histogram("request_queue_time_seconds"),
    **_histogram("request_prefill_time_seconds"),
    **_histogram("request_decode_time_seconds"),
    **_histogram("nixl_xfer_time_seconds"),
}

IN_FRONT: Series = {
    named("llm_d_epp_ready_endpoints", namespace="team-a", name="chat"): always(1),
    named("llm_d_epp_request_error_total", namespace="team-a", model_name="llama", error_code="503"): _COUNTING,
    named(
        "envoy_http_downstream_rq_xx", envoy_http_conn_manager_prefix="http", envoy_response_code_class="2"
    ): _COUNTING,
    named("envoy_cluster_upstream_rq_retry", envoy_cluster_name="chat"): _COUNTING,
    named("envoy_cluster_membership_healthy", envoy_cluster_name="chat"): always(1),
    named("envoy_cluster_membership_total", envoy_cluster_name="chat"): always(2),
}


def _of_pod(metric: str, name: str, values: str, **labels: str) -> Series:
    return {named(metric, namespace="team-a", pod=name, uid=name, **labels): values}


GROUPS: Series = {
    **group(),
    # Its worker has waited for its island's second node for hours.
    **pod(1, 0, node="node-1-0"),
    **pod(1, 1),
    **leader_worker_set(replicas=always(2), updating=1),
    **_of_pod("kube_pod_container_status_restarts_total", "chat-0", "0+1x300", container="engine"),
    **_of_pod("kube_pod_status_phase", "chat-0", always(1), phase="Running"),
    **_of_pod(
        "kube_pod_container_resource_requests", "chat-0", always(8), node="node-0-0", container="engine", resource=_GPU
    ),
    **_of_pod(
        "kube_pod_container_resource_requests", "chat-0", always(32), node="node-0-0", container="engine", resource=_EFA
    ),
    named(
        "kube_deployment_labels", namespace="team-a", deployment="small", label_pulumi_lws_deployment="small"
    ): always(1),
    named("kube_deployment_spec_replicas", namespace="team-a", deployment="small"): always(2),
    named("kube_deployment_status_replicas_ready", namespace="team-a", deployment="small"): always(1),
    **{
        named(f"kube_horizontalpodautoscaler_{field}", namespace="team-a", horizontalpodautoscaler="chat"): always(1)
        for field in ("status_current_replicas", "status_desired_replicas", "spec_max_replicas")
    },
    **{
        named(f"kube_disaggregatedsetrolescaler_{field}", namespace="team-a", role_scaler="chat-decode"): always(1)
        for field in ("spec_replicas", "status_replicas")
    },
    named("controller_runtime_reconcile_errors_total", controller="leaderworkerset"): _COUNTING,
}

GPUS: Series = {
    **{
        series: values
        for name in (
            "GPU_UTIL",
            "GPU_TEMP",
            "MEMORY_TEMP",
            "POWER_USAGE",
            "SM_CLOCK",
            "FB_USED",
            "FB_FREE",
            "FB_RESERVED",
            "XID_ERRORS",
            "ROW_REMAP_FAILURE",
            "UNCORRECTABLE_REMAPPED_ROWS",
            "NVLINK_BANDWIDTH_TOTAL",
        )
        for series, values in gpu(name, _COUNTING if name.endswith("TOTAL") else always(60)).items()
    },
    **{
        named(f"DCGM_FI_PROF_{name}", gpu="3", Hostname="node-0-0", namespace="team-a", pod="chat-0"): always(0.5)
        for name in ("PIPE_TENSOR_ACTIVE", "DRAM_ACTIVE", "PCIE_TX_BYTES", "PCIE_RX_BYTES")
    },
}

QUEUES: Series = {
    named("kueue_pending_workloads", **_OF_QUEUE, status="inadmissible"): always(2),
    named("kueue_admitted_active_workloads", **_OF_QUEUE): always(1),
    named("kueue_evicted_workloads_total", **_OF_QUEUE, reason="PodsReadyTimeout"): _COUNTING,
    named(
        "kueue_preempted_workloads_total", preempting_cluster_queue="team-a", reason="InCohortFairSharing"
    ): _COUNTING,
    named("kueue_admission_wait_time_seconds_bucket", **_OF_QUEUE, le="10"): "0+30x300",
    named("kueue_admission_wait_time_seconds_bucket", **_OF_QUEUE, le="+Inf"): _COUNTING,
    **{
        named(f"kueue_cluster_queue_{what}", **_OF_QUEUE, flavor="p5", resource="nvidia.com/gpu"): always(16)
        for what in ("nominal_quota", "resource_reservation")
    },
}

NODES: Series = {
    **node(efa=31),
    **node("node-1-0", efa=0, island="p5-1"),
    named("kube_node_status_condition", node="node-0-0", condition="Ready", status="true"): always(1),
    named("kube_node_spec_unschedulable", node="node-0-0"): always(1),
    named("kube_nodepool_spec_limits", **_OF_POOL, resource="nvidia.com/gpu"): always(16),
    named("kube_nodeclaim_created", nodeclaim="p5-0-abcde", nodepool="p5-0"): always(0),
    named("karpenter_nodeclaims_disrupted_total", nodepool="p5-0", reason="drifted"): _COUNTING,
    named("karpenter_cloudprovider_errors_total", method="Create", error="InsufficientCapacityError"): _COUNTING,
}

TROUBLE: Series = {**ENGINES, **IN_FRONT, **GROUPS, **GPUS, **QUEUES, **NODES}
"""All of it."""
