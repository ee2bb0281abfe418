"""Metrics of the cluster: what kube-state-metrics makes of its objects, controllers, and Prometheus itself."""

from pulumi_lws.monitoring.metrics.labels import DEPLOYMENT_LABELS, NODE_LABELS, POD_LABELS, SCRAPED, state_label
from pulumi_lws.monitoring.metrics.metric import Metric, Source, rows

STATE = Source("kube-state-metrics", "docs/metrics/", "2.20")
CUSTOM = Source("kube-state-metrics, by our configuration", "monitoring/state_metrics.py", "2.20")
KARPENTER = Source("Karpenter; not to be had on EKS Auto Mode", "pkg/metrics/metrics.go", "1.14")
KUEUE = Source("Kueue", "site/content/en/docs/reference/metrics.md", "0.19")
CONTROLLER = Source("controller-runtime", "pkg/internal/controller/metrics/metrics.go", "0.22")
PROMETHEUS = Source("Prometheus itself", "docs/concepts/jobs_instances.md", "3")

_POD = ("namespace", "pod", "uid")
_AUTOSCALER = ("namespace", "horizontalpodautoscaler")
_SET = ("namespace", "leader_worker_set", "deployment", "role")
_POOL = ("nodepool", "pool")
_CLAIM = ("nodeclaim", "nodepool")
_QUEUE = ("cluster_queue", "replica_role")
_SINCE_1970 = "seconds since 1970"
_RESOURCE = "of the resource"
_RESOURCES = "GPUs are nvidia_com_gpu, EFA interfaces vpc_amazonaws_com_efa"

CLUSTER: tuple[Metric, ...] = (
    *rows(
        STATE,
        "gauge",
        (*_POD, "node", "created_by_kind", "created_by_name"),
        ("kube_pod_info", "1", "a pod; its node is empty while it has none"),
    ),
    *rows(STATE, "gauge", (*_POD, *map(state_label, POD_LABELS)), ("kube_pod_labels", "1", "labels of a pod")),
    *rows(
        STATE,
        "gauge",
        (*_POD, "nodeselector_pulumi_lws_pool", "nodeselector_pulumi_lws_island"),
        ("kube_pod_nodeselectors", "1", "the node selector of a pod; only where asked for by --metric-opt-in-list"),
    ),
    *rows(
        STATE,
        "gauge",
        _POD,
        ("kube_pod_created", _SINCE_1970, "when a pod was made"),
        ("kube_pod_deletion_timestamp", _SINCE_1970, "when a pod that ends is to be gone"),
        ("kube_pod_status_unschedulable", "1", "a pod that the scheduler finds no node for; not one that is gated"),
    ),
    *rows(STATE, "gauge", (*_POD, "phase"), ("kube_pod_status_phase", "0 or 1", "phase of a pod")),
    *rows(
        STATE,
        "gauge",
        (*_POD, "condition"),
        ("kube_pod_status_ready", "0 or 1", "whether a pod is ready"),
        ("kube_pod_status_scheduled", "0 or 1", "whether a pod has a node"),
    ),
    *rows(
        STATE,
        "counter",
        (*_POD, "container"),
        ("kube_pod_container_status_restarts_total", "restarts", "restarts of a container"),
    ),
    *rows(
        STATE,
        "gauge",
        (*_POD, "container", "node", "resource", "unit"),
        ("kube_pod_container_resource_requests", _RESOURCE, f"what a container requests; {_RESOURCES}"),
    ),
    *rows(
        STATE,
        "gauge",
        ("node",),
        ("kube_node_created", _SINCE_1970, "when a node was made"),
        ("kube_node_spec_unschedulable", "0 or 1", "whether a node is cordoned"),
    ),
    *rows(STATE, "gauge", ("node", *map(state_label, NODE_LABELS)), ("kube_node_labels", "1", "labels of a node")),
    *rows(
        STATE,
        "gauge",
        ("node", "condition", "status"),
        ("kube_node_status_condition", "0 or 1", "conditions of a node, such as Ready"),
    ),
    *rows(
        STATE,
        "gauge",
        ("node", "resource", "unit"),
        ("kube_node_status_allocatable", _RESOURCE, f"what pods may take of a node; {_RESOURCES}"),
        ("kube_node_status_capacity", _RESOURCE, f"what a node has; {_RESOURCES}"),
    ),
    *rows(
        STATE,
        "gauge",
        ("namespace", "deployment", *map(state_label, DEPLOYMENT_LABELS)),
        ("kube_deployment_labels", "1", "labels of a Deployment"),
    ),
    *rows(
        STATE,
        "gauge",
        ("namespace", "deployment"),
        ("kube_deployment_spec_replicas", "pods", "pods that should be"),
        ("kube_deployment_status_replicas_ready", "pods", "pods that are ready"),
    ),
    *rows(
        STATE,
        "gauge",
        _AUTOSCALER,
        ("kube_horizontalpodautoscaler_spec_max_replicas", "copies", "copies that it may want at most"),
        ("kube_horizontalpodautoscaler_status_current_replicas", "copies", "copies that an autoscaler sees"),
        ("kube_horizontalpodautoscaler_status_desired_replicas", "copies", "copies that it wants"),
    ),
    *rows(
        STATE,
        "gauge",
        (*_AUTOSCALER, "condition", "status"),
        ("kube_horizontalpodautoscaler_status_condition", "0 or 1", "whether it can scale"),
    ),
    *rows(
        CUSTOM,
        "gauge",
        _SET,
        ("kube_leaderworkerset_created", _SINCE_1970, "when a LeaderWorkerSet was made"),
        ("kube_leaderworkerset_spec_replicas", "groups", "groups that should be"),
        ("kube_leaderworkerset_spec_size", "pods", "pods of one group"),
        ("kube_leaderworkerset_status_replicas", "groups", "groups that are"),
        ("kube_leaderworkerset_status_ready_replicas", "groups", "groups that are ready"),
        ("kube_leaderworkerset_status_updated_replicas", "groups", "groups of the newest revision"),
    ),
    *rows(
        CUSTOM,
        "gauge",
        (*_SET, "condition"),
        ("kube_leaderworkerset_status_condition", "0 or 1", "Available, Progressing, UpdateInProgress"),
    ),
    *rows(
        CUSTOM,
        "gauge",
        ("namespace", "role_scaler"),
        ("kube_disaggregatedsetrolescaler_spec_replicas", "groups", "groups that the autoscaler of a role wants"),
        ("kube_disaggregatedsetrolescaler_status_replicas", "groups", "groups that the role has"),
    ),
    *rows(
        CUSTOM,
        "gauge",
        (*_POOL, "resource"),
        ("kube_nodepool_spec_limits", _RESOURCE, "limit of a NodePool; resources as Kubernetes calls them, and nodes"),
        ("kube_nodepool_status_resources", _RESOURCE, "what its nodes have, with those that are on their way"),
    ),
    *rows(CUSTOM, "gauge", (*_POOL, "condition"), ("kube_nodepool_status_condition", "0 or 1", "Ready and others")),
    *rows(CUSTOM, "gauge", _CLAIM, ("kube_nodeclaim_created", _SINCE_1970, "when a NodeClaim was made")),
    *rows(
        CUSTOM,
        "gauge",
        (*_CLAIM, "condition"),
        ("kube_nodeclaim_status_condition", "0 or 1", "Launched, Registered, Initialized and others"),
    ),
    *rows(
        KARPENTER,
        "gauge",
        ("nodepool", "resource_type"),
        ("karpenter_nodepools_limit", _RESOURCE, "limit of a NodePool"),
        ("karpenter_nodepools_usage", _RESOURCE, "what its nodes have"),
    ),
    *rows(
        KARPENTER,
        "counter",
        ("nodepool", "reason"),
        ("karpenter_nodeclaims_created_total", "claims", "claims made"),
        ("karpenter_nodeclaims_disrupted_total", "claims", "claims that Karpenter took away"),
    ),
    *rows(
        KARPENTER,
        "counter",
        ("nodepool", "capacity_type", "zone"),
        ("karpenter_nodeclaims_terminated_total", "claims", "claims that ended"),
    ),
    *rows(
        KARPENTER,
        "gauge",
        ("controller",),
        ("karpenter_scheduler_queue_depth", "pods", "pods to be placed"),
        ("karpenter_scheduler_unschedulable_pods_count", "pods", "pods without a place"),
    ),
    *rows(
        KARPENTER,
        "counter",
        ("controller", "method", "provider", "error"),
        ("karpenter_cloudprovider_errors_total", "calls", "calls to the cloud that failed"),
    ),
    *rows(
        KUEUE,
        "gauge",
        (*_QUEUE, "status"),
        (
            "kueue_pending_workloads",
            "workloads",
            "workloads that wait: active, or inadmissible until something changes",
        ),
        ("kueue_cluster_queue_status", "0 or 1", "pending, active or terminated"),
    ),
    *rows(KUEUE, "gauge", _QUEUE, ("kueue_admitted_active_workloads", "workloads", "admitted and not finished")),
    *rows(
        KUEUE,
        "counter",
        (*_QUEUE, "reason", "underlying_cause", "priority_class"),
        ("kueue_evicted_workloads_total", "workloads", "evicted, by why: Preempted, PodsReadyTimeout and others"),
    ),
    *rows(
        KUEUE,
        "counter",
        ("preempting_cluster_queue", "reason", "replica_role"),
        ("kueue_preempted_workloads_total", "workloads", "evicted for others"),
    ),
    *rows(
        KUEUE,
        "histogram",
        (*_QUEUE, "priority_class"),
        ("kueue_admission_wait_time_seconds", "seconds", "time from queueing to admission"),
    ),
    *rows(
        KUEUE,
        "gauge",
        ("cohort", *_QUEUE, "flavor", "resource"),
        ("kueue_cluster_queue_nominal_quota", _RESOURCE, "quota; only with metrics.enableClusterQueueResources"),
        ("kueue_cluster_queue_resource_reservation", _RESOURCE, "quota reserved; likewise"),
        ("kueue_cluster_queue_resource_usage", _RESOURCE, "quota used; likewise"),
    ),
    *rows(
        CONTROLLER,
        "counter",
        ("controller",),
        ("controller_runtime_reconcile_errors_total", "runs", "runs of a controller that failed"),
    ),
    *rows(
        CONTROLLER,
        "counter",
        ("controller", "result"),
        ("controller_runtime_reconcile_total", "runs", "runs of a controller"),
    ),
    *rows(
        CONTROLLER,
        "gauge",
        ("name", "controller"),
        ("workqueue_depth", "objects", "objects that wait for a controller"),
    ),
    *rows(PROMETHEUS, "gauge", SCRAPED, ("up", "0 or 1", "whether the last scrape of a target worked")),
    *rows(
        PROMETHEUS,
        "gauge",
        ("alertname", "alertstate", "severity"),
        ("ALERTS", "1", "alerts that are pending or firing"),
    ),
)
"""All of them."""
