"""Alerts of nodes and their GPUs, and of who makes them."""

from collections.abc import Iterator

from pulumi_lws.monitoring.alerts.alert import Alert
from pulumi_lws.monitoring.promql import copied, left, on
from pulumi_lws.monitoring.settings import Monitoring

_GPU = "GPU {{ $labels.gpu }} of {{ $labels.Hostname }}"
_REPLACE = (
    "Cordon the node and delete the leader of the group on it; the group takes another island. Then delete the"
    " NodeClaim: Karpenter ends the instance."
)
PROGRAM_ERRORS = (13, 31, 43, 45)
"""XIDs that a faulty program causes, after the list in NVIDIA's GPU deployment and management documentation."""


def node_alerts(settings: Monitoring) -> Iterator[Alert]:
    """Yield the alerts."""
    thresholds = settings.thresholds
    yield _gpu_error()
    yield _gpu_memory_failing()
    yield _efa_missing(thresholds.missing_minutes)
    yield _gpu_idle(thresholds.idle_minutes)
    yield _instance_not_joining(thresholds.claim_minutes)
    yield _node_ends(thresholds.node_end_days)
    yield _pool_at_limit()


def _gpu_error() -> Alert:
    of_hardware = " ".join(f"!= {number}" for number in PROGRAM_ERRORS)
    return Alert(
        name="LwsGpuError",
        expression=f"DCGM_FI_DEV_XID_ERRORS > 0 {of_hardware}",
        minutes=0,
        severity="critical",
        summary=f"{_GPU} has had XID {{{{ $value }}}}.",
        description="It is an error of the GPU, its memory, NVLink or the driver. It stands until the exporter or the"
        " node is started again.",
        meaning="The GPU may compute wrongly or not at all; a group over several nodes hangs with it.",
        look=(
            (
                "What does the driver say?",
                "kubectl debug node/NODE -it --image=busybox --profile=sysadmin -- dmesg | grep Xid",
            ),
            ("Which pods are on the node?", "kubectl get pods -A -o wide --field-selector spec.nodeName=NODE"),
        ),
        fixes=(
            ("XID 48, 63, 64, 74, 79, 94, 95, 119, 120 and others of the hardware", _REPLACE),
            ("XID 13, 31, 43, 45 do not fire: a program caused them", "Look at the engine, not at the node."),
        ),
    )


def _gpu_memory_failing() -> Alert:
    return Alert(
        name="LwsGpuMemoryFailing",
        expression="DCGM_FI_DEV_ROW_REMAP_FAILURE > 0",
        minutes=0,
        severity="critical",
        summary=f"Memory of {_GPU} fails.",
        description="Rows with errors could not be replaced.",
        meaning="The GPU has no spare memory left where errors come up again.",
        look=(("How many rows are gone?", "kubectl exec -n NAMESPACE POD -- nvidia-smi -q -d ROW_REMAPPER"),),
        fixes=(("the GPU is worn", _REPLACE),),
    )


def _efa_missing(minutes: int) -> Alert:
    has = f'kube_node_status_allocatable{{resource="vpc_amazonaws_com_efa"}} * {on(("node",))} {left(("pool",))}'
    whole = f"({has} lws:node:info) >= {on(('pool',))} {left()} lws:pool:efa_expected"
    return Alert(
        name="LwsEfaMissing",
        expression=(f"lws:node:info * {on(('pool',))} {left()} lws:pool:efa_expected unless {on(('node',))} ({whole})"),
        minutes=minutes,
        severity="warning",
        summary="{{ $labels.node }} lacks EFA interfaces.",
        description="A node of the pool {{ $labels.pool }} should offer {{ $value }}.",
        meaning="Pods that ask for EFA find no room, or NCCL goes over TCP at a tenth of the speed.",
        look=(
            ("What does the node offer?", "kubectl get node NODE -o jsonpath='{.status.allocatable}'"),
            ("Does the plugin run there?", "kubectl get pods -n kube-system -o wide | grep efa"),
        ),
        fixes=(
            ("the plugin is kept off by a taint", "Tolerate it with the operator Exists."),
            ("the plugin does not know the instance type", "Add it to `supportedInstanceLabels.values`."),
            (
                "the node was made for a pod that asks for none",
                "A running node never gets EFA: delete its NodeClaim, or set `efa: explicit`.",
            ),
        ),
    )


def _gpu_idle(minutes: int) -> Alert:
    return Alert(
        name="LwsGpuIdle",
        expression="lws:group:gpu_utilization:max == 0",
        minutes=minutes,
        severity="info",
        summary="The GPUs of {{ $labels.namespace }}/{{ $labels.deployment }}"
        "{{ with $labels.group }} group {{ . }}{{ end }} do nothing.",
        description=f"None of them has run a kernel for {minutes} minutes.",
        meaning="Somebody pays for GPUs that nobody uses.",
        look=(("Does anybody ask the model?", "kubectl get pods -n NAMESPACE -l pulumi-lws/serves=true"),),
        fixes=(
            ("nobody needs it now", "Fewer `replicas`, or `scaleToZero` where the cold start is bearable."),
            ("it should serve", "See LwsGroupNotReady and LwsServedThenStuck."),
        ),
    )


def _instance_not_joining(minutes: int) -> Alert:
    registered = 'kube_nodeclaim_status_condition{condition="Registered"} == 1'
    return Alert(
        name="LwsInstanceNotJoining",
        expression=f"time() - kube_nodeclaim_created > {minutes * 60} unless {on(('nodeclaim',))} ({registered})",
        minutes=0,
        keep_minutes=15,
        severity="warning",
        summary="The instance of {{ $labels.nodeclaim }} does not join the cluster.",
        description=f"It has had {minutes} minutes. After 15 Karpenter gives it up and tries again.",
        meaning="EC2 delivers nothing, or what it delivers does not become a node; either way it is paid for.",
        look=(
            ("What is it waiting for?", "kubectl describe nodeclaim NODECLAIM"),
            ("Is the node class ready?", "kubectl get nodeclasses,ec2nodeclasses"),
        ),
        fixes=(
            ("not launched: no capacity, reservation or quota", "Another zone, a reservation, a higher quota."),
            (
                "launched but not registered: security groups, subnets, role",
                (
                    "The node needs the cluster's security group beside that of EFA, a route to the API server, and a"
                    " role with an access entry."
                ),
            ),
            ("slow image or user data", "Shorten `userData`."),
        ),
    )


def _node_ends(days: int) -> Alert:
    age = f"(time() - kube_node_created) * {on(('node',))} {left(('pool', 'island'))} lws:node:info"
    return Alert(
        name="LwsNodeEnds",
        expression=f"({age}) > {on(('pool',))} {left()} (lws:pool:node_lifetime_seconds - {days * 86400})",
        minutes=0,
        severity="warning",
        summary="{{ $labels.node }} of {{ with $labels.island }}the island {{ . }}{{ else }}the pool"
        " {{ $labels.pool }}{{ end }} must go within days.",
        description=f"It is {{{{ $value | humanizeDuration }}}} old. Within {days} days it is drained, with its group.",
        meaning="Nodes of EKS Auto Mode live 21 days at most, and others as long as their pool says.",
        look=(
            ("How old are the nodes?", "kubectl get nodes -l pulumi-lws/pool --sort-by=.metadata.creationTimestamp"),
        ),
        fixes=(
            (
                "always",
                (
                    "Roll the groups onto a spare island while traffic is low: `kubectl cordon -l"
                    " pulumi-lws/island=ISLAND`, then delete the leaders there one at a time, each after the one before"
                    " serves again."
                ),
            ),
        ),
    )


def _pool_at_limit() -> Alert:
    asked = copied("kube_pod_nodeselectors", "nodeselector_pulumi_lws_pool", "pool")
    in_use, limit = (
        f'sum by (pool) (kube_nodepool_{field}{{resource="nodes"}})' for field in ("status_resources", "spec_limits")
    )
    return Alert(
        name="LwsPoolAtLimit",
        expression=(
            f"count by (pool) ({asked} and on (namespace, pod, uid) (kube_pod_status_unschedulable == 1))"
            f" and on (pool) ({in_use} >= {limit})"
        ),
        minutes=15,
        severity="warning",
        summary="The pool {{ $labels.pool }} is full, and pods wait for it.",
        description="{{ $value }} pods find no node, and its NodePools have as many as they may.",
        meaning="Karpenter makes no further node of this pool, however long the pods wait.",
        look=(
            ("How full is it?", "kubectl get nodepools -l pulumi-lws/pool=POOL -o wide"),
            ("Which pods wait?", "kubectl get pods -A --field-selector status.phase=Pending"),
        ),
        fixes=(
            (
                "more copies than the pool holds",
                "Raise `islands` or `nodes` where the AWS quota allows it, or fewer copies.",
            ),
            ("a rollout without a spare island", "Wait, or `surge: 0`."),
            ("nodes of a group that is gone are still there", "They go after `consolidateAfterMinutes`."),
        ),
    )
