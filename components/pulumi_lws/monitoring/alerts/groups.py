"""Alerts of groups: LWS has no metrics, so they look at its objects and pods."""

from collections.abc import Iterator

from pulumi_lws.monitoring.alerts.alert import IN_GROUP, IN_ROLE, PODS_OF_GROUP, Alert
from pulumi_lws.monitoring.metrics.labels import GROUP
from pulumi_lws.monitoring.promql import by, on
from pulumi_lws.monitoring.settings import Monitoring
from pulumi_lws.monitoring.site import MonitoredSite, rollout_minutes, start_minutes

_OF_GROUP = ("namespace", "group_key")
_SET = ("namespace", "leader_worker_set", "deployment", "role")
_ROLE = ("namespace", "deployment", "role")
_LOGS = "kubectl logs -n NAMESPACE POD -c engine --tail=200"
_EVENTS = "kubectl get events -n NAMESPACE --sort-by=.lastTimestamp | tail -n 50"
_PROBE_OF_LEADER = "kubectl describe pod -n NAMESPACE SET-GROUP"


def group_alerts(settings: Monitoring, site: MonitoredSite) -> Iterator[Alert]:
    """Yield the alerts."""
    yield _not_ready(start_minutes(settings, site))
    yield _recreated(settings.thresholds.recreations_per_hour)
    yield _partly_pending(settings.thresholds.partly_pending_minutes)
    yield _half_island()
    yield _rollout_stuck(rollout_minutes(settings, site))
    yield _all_down(settings.thresholds.down_minutes)


def _not_ready(minutes: int) -> Alert:
    return Alert(
        name="LwsGroupNotReady",
        expression="lws:group:ready == 0",
        minutes=minutes,
        severity="warning",
        summary=f"{IN_GROUP} is not ready.",
        description=f"For {minutes} minutes not all its pods have been ready, which is longer than a start may take.",
        meaning="A group serves only when its leader and all workers are ready; until then it holds GPUs for nothing.",
        look=(
            ("Which pod is it, and has it a node?", f"{PODS_OF_GROUP} -o wide"),
            ("What does its engine say?", _LOGS),
            ("What do its probes say?", _PROBE_OF_LEADER),
        ),
        fixes=(
            (
                "the leader is not ready and there are no workers: its readiness needs them (LeaderReady)",
                "Give it the two-phase readiness of `MultiNodeVllm`, or LeaderCreated.",
            ),
            (
                "workers crash with “cannot connect to head”: they start before the leader listens",
                "`startupPolicy: LeaderReady`, and workers that wait for LWS_LEADER_ADDRESS.",
            ),
            (
                "the leader's address does not resolve",
                (
                    "Look for a Service called like the set, a NetworkPolicy that stops DNS, and hostNetwork without"
                    " `dnsPolicy: ClusterFirstWithHostNet`."
                ),
            ),
            (
                "NCCL errors, or a hang at the start",
                (
                    "NCCL_SOCKET_IFNAME is an interface of the pod; the image has aws-ofi-nccl, the node its EFA"
                    " interfaces (LwsEfaMissing), the security group a rule to itself in both directions."
                ),
            ),
            ("it only loads longer than planned", "Raise `startBudgetMinutes`, or cache image and weights."),
        ),
    )


def _recreated(times: int) -> Alert:
    leaders = 'last_over_time(lws:pod:info{group_key!="", worker="0"}[1h])'
    return Alert(
        name="LwsGroupRecreatedOften",
        expression=f"count {by(GROUP)} (max {by((*GROUP, 'uid'))} ({leaders})) > {times}",
        minutes=0,
        severity="warning",
        summary=f"{IN_GROUP} is made again and again.",
        description=f"{{{{ $value }}}} leaders within an hour; {times} are allowed.",
        meaning="LWS makes a whole group again when a container of it restarts, without a pause and without an end.",
        look=(
            ("Why did the last containers end?", f"{PODS_OF_GROUP} -o yaml | grep -A8 lastState"),
            ("When was it made again?", f"{_EVENTS} | grep RecreateGroup"),
            ("What did the engine say before it ended?", f"{_LOGS} --previous"),
        ),
        fixes=(
            (
                "images are pulled while the engine's time-out runs (RecreateGroupOnPodRestart)",
                "RecreateGroupAfterStart (LWS 0.9), or pull images before pods start.",
            ),
            ("the engine crashes: memory, arguments, weights", "Mend it; `lws plan` shows what fits."),
            ("one node is bad (LwsGpuError, LwsEfaMissing)", "Cordon it, then delete the leader."),
        ),
    )


def _partly_pending(minutes: int) -> Alert:
    partly = "lws:group:pods_bound:count < lws:group:pods:count"
    return Alert(
        name="LwsGroupPartlyPending",
        expression=f"{partly} unless {on(_OF_GROUP)} lws:group:half_island:count",
        minutes=minutes,
        severity="warning",
        summary=f"{IN_GROUP} holds GPUs while the rest of it has no node.",
        description=f"Only {{{{ $value }}}} of its pods have had a node for {minutes} minutes.",
        meaning="Nobody schedules the group as a whole, so some of its pods hold nodes that they cannot use.",
        look=(
            ("Why does the scheduler find no node?", f"{_EVENTS} | grep FailedScheduling"),
            ("Is the pool at its limit?", "kubectl get nodepools"),
            ("What has each node left?", "kubectl describe nodes -l pulumi-lws/pool=POOL | grep -A12 Allocated"),
        ),
        fixes=(
            ("no gang scheduling", "Name a queue of Kueue for the deployment, or run Volcano or KAI."),
            ("the pool's limit is below what all groups need", "Raise `islands` or `nodes`; see LwsPoolAtLimit."),
            (
                "a request that no node meets: EFA, huge pages, a taint, a selector",
                "Compare the pod's requests with the node's allocatable.",
            ),
        ),
    )


def _half_island() -> Alert:
    return Alert(
        name="LwsHalfIsland",
        expression="lws:group:half_island:count > 0",
        minutes=0,
        severity="critical",
        summary=f"{IN_GROUP} is on half an island: {{{{ $labels.island }}}}.",
        description="Its leader holds a node, and {{ $value }} of its workers have waited for one for 15 minutes."
        " Nobody gets it out by itself.",
        meaning="LWS binds workers to their leader's island and never picks again; EC2 delivers no other node.",
        look=(
            (
                "Which worker waits for which island?",
                (
                    "kubectl get pods -A --field-selector status.phase=Pending -o"
                    " custom-columns='NAMESPACE:.metadata.namespace,WORKER:.metadata.name,"
                    "ISLAND:.spec.nodeSelector.pulumi-lws/island'"
                ),
            ),
            ("What does Karpenter say?", "kubectl get nodeclaims -l pulumi-lws/island=ISLAND -o wide"),
        ),
        fixes=(
            (
                "EC2 has no second node, or one of two died",
                (
                    "In this order: `kubectl cordon -l pulumi-lws/island=ISLAND`, `kubectl delete nodepool ISLAND`,"
                    " `kubectl delete pod -n NAMESPACE LEADER`. The group takes a spare island; `pulumi up --refresh`"
                    " later brings this one back. Why each step: [troubleshooting](troubleshooting.md#half-an-island)."
                ),
            ),
        ),
    )


def _rollout_stuck(minutes: int) -> Alert:
    moving = 'kube_leaderworkerset_status_condition{condition="UpdateInProgress"} == 1'
    still = "changes(kube_leaderworkerset_status_updated_replicas[10m]) == 0"
    return Alert(
        name="LwsRolloutStuck",
        expression=f"max {by(_SET)} ({moving}) and {on(('namespace', 'leader_worker_set'))} ({still})",
        minutes=minutes,
        severity="warning",
        summary="The rollout of {{ $labels.namespace }}/{{ $labels.leader_worker_set }} does not move.",
        description=f"No further group has had the new revision for {minutes} minutes.",
        meaning="A rollout waits until the group that it changed is ready, or until there is room for one more.",
        look=(
            ("How far is it?", "kubectl get lws -n NAMESPACE SET -o jsonpath='{.status}'"),
            ("Which group is not ready?", "kubectl get pods -n NAMESPACE -l leaderworkerset.sigs.k8s.io/name=SET"),
        ),
        fixes=(
            ("the new revision does not start", "See LwsGroupNotReady; `pulumi up` with the old settings goes back."),
            ("no room for one more group", "A spare island, or `surge: 0`, which takes one group down at a time."),
            ("all groups were down before (LWS 0.6)", "Upgrade LWS."),
        ),
    )


def _all_down(minutes: int) -> Alert:
    sets = (
        f'sum {by(_ROLE)} (kube_leaderworkerset_status_ready_replicas{{deployment!=""}}) == 0'
        f' and sum {by(_ROLE)} (kube_leaderworkerset_spec_replicas{{deployment!=""}}) > 0'
        f" and sum {by(_ROLE)}"
        ' (max_over_time(kube_leaderworkerset_status_ready_replicas{deployment!=""}[1d])) > 0'
    )
    deployment = by(("namespace", "deployment"))
    ours = 'kube_deployment_labels{label_pulumi_lws_deployment!=""}'
    deployments = (
        f"max {deployment} (kube_deployment_status_replicas_ready) == 0"
        f" and max {deployment} (kube_deployment_spec_replicas) > 0"
        f" and max {deployment} (max_over_time(kube_deployment_status_replicas_ready[1d])) > 0"
        f" and max {deployment} ({ours})"
    )
    return Alert(
        name="LwsAllLeadersDown",
        expression=f"({sets}) or ({deployments})",
        minutes=minutes,
        severity="critical",
        summary=f"No copy of {IN_ROLE} is ready.",
        description=f"It served within the last day, and for {minutes} minutes nothing has answered.",
        meaning="Requests fail: no group of the role has a leader that is ready.",
        look=(
            ("What is there?", "kubectl get pods -n NAMESPACE -l pulumi-lws/deployment=DEPLOYMENT -o wide"),
            ("What happened?", _EVENTS),
            ("Were nodes taken?", "kubectl get nodeclaims -o wide; kubectl get nodes -l pulumi-lws/pool=POOL"),
        ),
        fixes=(
            ("nodes went: spot, the end of a reservation, an upgrade", "Bring capacity back; `lws plan` shows dates."),
            ("a change of settings", "`pulumi up` with the settings before it."),
            ("engines crash or hang", "See LwsGroupRecreatedOften and LwsServedThenStuck."),
            ("evicted from the queue", "See LwsEvictedBeforeReady."),
        ),
    )
