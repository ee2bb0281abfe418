"""The dashboard of queues and capacity: why does work wait, and is there room for it?"""

from pulumi_lws.monitoring.dashboards.dashboard import Dashboard, Limits, Panel, Query, Row, Variable, stat
from pulumi_lws.monitoring.dashboards.selecting import EVERY, GPUS, IN_POOL, POOLS, on_nodes, requested
from pulumi_lws.monitoring.promql import on
from pulumi_lws.monitoring.recordings import POD
from pulumi_lws.monitoring.settings import Monitoring

_QUEUES = (Variable("queue", "Cluster queue", "label_values(kueue_pending_workloads, cluster_queue)"),)
_CHOSEN = 'cluster_queue=~"$queue"'
_BAD_IF_ANY = Limits(1, 1)
_OF_QUEUE = "{{cluster_queue}}"
_OF_POOL = "{{pool}}"
_DAY = 86_400


def queues(settings: Monitoring) -> Dashboard:
    """Return the dashboard."""
    return Dashboard(
        uid="lws-queues",
        title="Models: queues and capacity",
        answers="Why does work wait, is there room for it, and do nodes come and stay?",
        variables=(*_QUEUES, *POOLS),
        rows=(
            Row("Now", _now()),
            Row("Queues", _queues()),
            Row("Pools", _pools()),
            Row("Nodes", _nodes(settings)),
        ),
    )


def _now() -> tuple[Panel, ...]:
    free = f"sum({on_nodes(_offered())}) - (sum({on_nodes(_taken())}) or vector(0))"
    return (
        stat("Waiting workloads", "How many wait for quota?", f"sum(kueue_pending_workloads{{{_CHOSEN}}})"),
        stat("Admitted", "How many have it?", f"sum(kueue_admitted_active_workloads{{{_CHOSEN}}})"),
        stat("GPUs", "How many do nodes offer?", f"sum({on_nodes(_offered())})"),
        stat("GPUs free", "How many of them does no pod have?", free),
        stat(
            "Pods without a node",
            "How many pods of pools wait for one?",
            f"sum({_waiting_pods()}) or vector(0)",
            limits=_BAD_IF_ANY,
        ),
        stat(
            "Instances on their way",
            "How many have been bought, and are no nodes yet?",
            f"count({_joining()}) or vector(0)",
        ),
    )


def _offered() -> str:
    return f'kube_node_status_allocatable{{resource="{GPUS}"}}'


def _taken() -> str:
    return f"sum by (node) ({requested(GPUS)})"


def _waiting_pods() -> str:
    label = "nodeselector_pulumi_lws_pool"
    waits = f"and {on(POD)} (kube_pod_status_unschedulable == 1)"
    return f'count by ({label}) (kube_pod_nodeselectors{{{label}!="", {label}=~"$pool"}} {waits})'


def _joining() -> str:
    registered = 'kube_nodeclaim_status_condition{condition="Registered"} == 1'
    return f"((time() - kube_nodeclaim_created) unless {on(('nodeclaim',))} ({registered}))"


def _queues() -> tuple[Panel, ...]:
    wait = f"rate(kueue_admission_wait_time_seconds_bucket{{{_CHOSEN}}}{EVERY})"
    evicted = f"sum by (cluster_queue, reason) (increase(kueue_evicted_workloads_total{{{_CHOSEN}}}[1h])) > 0"
    preempted = "sum by (preempting_cluster_queue, reason) (increase(kueue_preempted_workloads_total[1h])) > 0"
    gpus = 'resource="nvidia.com/gpu"'
    return (
        Panel(
            "Waiting, by queue",
            "Whose work waits? What is inadmissible waits until quota or the cluster changes.",
            (
                Query(
                    f"sum by (cluster_queue, status) (kueue_pending_workloads{{{_CHOSEN}}})",
                    f"{_OF_QUEUE} {{{{status}}}}",
                ),
            ),
            alerts=("LwsQueuedLong",),
        ),
        Panel(
            "Time in the queue, p95",
            "How long does it wait?",
            (Query(f"histogram_quantile(0.95, sum by (cluster_queue, le) ({wait}))", _OF_QUEUE),),
            unit="s",
        ),
        Panel(
            "GPUs by quota",
            "Is the quota used up? (needs metrics.enableClusterQueueResources of Kueue)",
            (
                Query(
                    f"sum by (cluster_queue) (kueue_cluster_queue_resource_reservation{{{_CHOSEN}, {gpus}}})",
                    f"{_OF_QUEUE} reserved",
                ),
                Query(
                    f"sum by (cluster_queue) (kueue_cluster_queue_nominal_quota{{{_CHOSEN}, {gpus}}})",
                    f"{_OF_QUEUE} quota",
                ),
            ),
        ),
        Panel(
            "Evicted within an hour",
            "Is admitted work taken back, and why? PodsReadyTimeout: pods were not ready in time.",
            (Query(evicted, f"{_OF_QUEUE} {{{{reason}}}}"),),
            alerts=("LwsEvictedBeforeReady",),
            width=12,
        ),
        Panel(
            "Preempted within an hour",
            "Who takes quota from others?",
            (Query(preempted, "{{preempting_cluster_queue}} {{reason}}"),),
            width=12,
        ),
    )


def _pools() -> tuple[Panel, ...]:
    nodepool = f'resource="nvidia.com/gpu", {IN_POOL[1:-1]}'
    ready = 'kube_node_status_condition{condition="Ready", status="true"}'
    return (
        Panel(
            "GPUs, by pool",
            "Is there room: what may be bought, what is there, what is taken?",
            (
                Query(f"sum by (pool) (kube_nodepool_spec_limits{{{nodepool}}})", f"{_OF_POOL} at most"),
                Query(f"sum by (pool) ({on_nodes(_offered())})", f"{_OF_POOL} there"),
                Query(f"sum by (pool) ({on_nodes(_taken())})", f"{_OF_POOL} taken"),
            ),
            alerts=("LwsPoolAtLimit",),
        ),
        Panel(
            "Nodes, by pool",
            "Are nodes there and ready?",
            (
                Query(f"count by (pool) (lws:node:info{IN_POOL})", f"{_OF_POOL} there"),
                Query(f"sum by (pool) ({on_nodes(ready)})", f"{_OF_POOL} ready"),
                Query(f"sum by (pool) ({on_nodes('kube_node_spec_unschedulable')})", f"{_OF_POOL} cordoned"),
            ),
        ),
        Panel(
            "Pods without a node, by pool",
            "Which pool is too small, or does not deliver?",
            (Query(_waiting_pods(), "{{nodeselector_pulumi_lws_pool}}"),),
        ),
    )


def _nodes(settings: Monitoring) -> tuple[Panel, ...]:
    minutes = settings.thresholds.claim_minutes
    age = on_nodes("(time() - kube_node_created)")
    left = f"min by (pool, node) (-(({age}) - {on(('pool',))} group_left () lws:pool:node_lifetime_seconds))"
    failed = f"sum by (method, error) (rate(karpenter_cloudprovider_errors_total{EVERY})) > 0"
    gone = "sum by (nodepool, reason) (increase(karpenter_nodeclaims_disrupted_total[1h])) > 0"
    return (
        Panel(
            "Age of instances on their way",
            "How long does an instance take to become a node? After 15 minutes Karpenter gives it up.",
            (Query(_joining(), "{{nodepool}} {{nodeclaim}}"),),
            unit="s",
            limits=Limits(minutes * 30, minutes * 60),
            alerts=("LwsInstanceNotJoining",),
        ),
        Panel(
            "Time left for nodes",
            "When is a node drained for its age, and its group with it?",
            (Query(left, "{{pool}} {{node}}"),),
            unit="s",
            limits=Limits((settings.thresholds.node_end_days + 1) * _DAY, settings.thresholds.node_end_days * _DAY),
            alerts=("LwsNodeEnds",),
        ),
        Panel(
            "Taken away, and refused",
            "Does Karpenter take nodes away, or does the cloud refuse them? (not on EKS Auto Mode)",
            (Query(gone, "{{nodepool}} {{reason}} within an hour"), Query(failed, "{{method}} {{error}} each second")),
        ),
    )
