"""The dashboard of groups: which are not ready and why, does a rollout move, does scaling work?"""

from pulumi_lws.facts import labels
from pulumi_lws.monitoring.dashboards.dashboard import Dashboard, Limits, Panel, Query, Row, stat
from pulumi_lws.monitoring.dashboards.selecting import DEPLOYMENTS, EVERY, IN_NAMESPACE, OF_ROLE, ROLE, of
from pulumi_lws.monitoring.metrics.labels import state_label
from pulumi_lws.monitoring.promql import by, left, on
from pulumi_lws.monitoring.recordings import POD
from pulumi_lws.monitoring.settings import Monitoring

_OF_GROUP = "{{leader_worker_set}} {{group}}"
_GROUP = ("namespace", "leader_worker_set", "group")
_SET = "{{leader_worker_set}}"
_BAD_IF_ANY = Limits(1, 2)
_LEADERS = of("lws:pod:info", 'group_key!=""', 'worker="0"')


def groups(settings: Monitoring) -> Dashboard:
    """Return the dashboard."""
    return Dashboard(
        uid="lws-groups",
        title="Models: groups",
        answers="Which groups are not ready and why, does a rollout move, and does scaling work?",
        variables=DEPLOYMENTS,
        rows=(
            Row("Now", _now()),
            Row("Groups", _groups(settings)),
            Row("Pods", _pods()),
            Row("Rollouts and copies", _rollouts()),
            Row("Scaling and controllers", _scaling()),
        ),
    )


def _now() -> tuple[Panel, ...]:
    ready = of("lws:group:ready")
    return (
        stat("Ready groups", "How many groups serve?", f"sum({ready})"),
        stat("Wanted groups", "How many should?", f"sum({of('kube_leaderworkerset_spec_replicas')})"),
        stat(
            "Groups not ready",
            "How many do not, for whatever reason?",
            f"count({ready} == 0) or vector(0)",
            limits=_BAD_IF_ANY,
        ),
        stat(
            "Partly pending",
            "How many hold GPUs while a part of them has no node?",
            f"count({of('lws:group:pods_bound:count')} < {of('lws:group:pods:count')}) or vector(0)",
            limits=_BAD_IF_ANY,
        ),
        stat(
            "Half islands",
            "How many hold half an island, and wait for the rest for more than 15 minutes?",
            f"count({of('lws:group:half_island:count')}) or vector(0)",
            limits=_BAD_IF_ANY,
        ),
        stat(
            "Pods without a node",
            "How many does the scheduler find no node for?",
            f"sum({_unschedulable()}) or vector(0)",
            limits=_BAD_IF_ANY,
        ),
    )


def _unschedulable() -> str:
    return f"kube_pod_status_unschedulable * {on(POD)} {left(('deployment', 'role'))} {of('lws:pod:info')}"


def _groups(settings: Monitoring) -> tuple[Panel, ...]:
    not_ready = f"and {on(('namespace', 'group_key'))} (lws:group:ready == 0)"
    pods = of("lws:group:pods:count")
    missing = f"{pods} * 0"
    counted = (
        (pods, "Pods"),
        (f"({of('lws:group:pods_bound:count')} or {missing})", "With a node"),
        (f"({of('lws:group:pods_ready:count')} or {missing})", "Ready"),
    )
    age = f"(time() - kube_pod_created) * {on(POD)} {left(('leader_worker_set', 'group'))} {_LEADERS}"
    made = f"last_over_time({_LEADERS}[1h])"
    return (
        Panel(
            "Ready",
            "When did which group serve?",
            (Query(of("lws:group:ready"), _OF_GROUP),),
            kind="state-timeline",
            width=12,
            alerts=("LwsGroupNotReady", "LwsAllLeadersDown"),
        ),
        Panel(
            "Groups that are not ready",
            "What do they lack: pods, a node, or is it the engine that is not ready?",
            tuple(Query(f"{expression} {not_ready}", head) for expression, head in counted),
            kind="table",
            width=12,
            columns={"namespace": "Namespace", "leader_worker_set": "Set", "group": "Group"},
            alerts=("LwsGroupPartlyPending", "LwsHalfIsland"),
        ),
        Panel(
            "Age",
            "When was a group made? A saw says that it is made again and again.",
            (Query(f"max {by(_GROUP)} ({age})", _OF_GROUP),),
            unit="s",
            width=12,
        ),
        Panel(
            "Made within an hour",
            "Is a group made again and again?",
            (Query(f"count {by(_GROUP)} (max {by((*_GROUP, 'uid'))} ({made}))", _OF_GROUP),),
            width=12,
            limits=Limits(2, settings.thresholds.recreations_per_hour + 1),
            alerts=("LwsGroupRecreatedOften",),
        ),
    )


def _pods() -> tuple[Panel, ...]:
    restarts = (
        f"increase(kube_pod_container_status_restarts_total{IN_NAMESPACE}[1h])"
        f" * {on(POD)} {left(('deployment', 'role'))} {of('lws:pod:info')} > 0"
    )
    return (
        Panel(
            "Pods of groups",
            "Are there as many as there should be, and do they have nodes?",
            (
                Query(f"sum {by(ROLE)} ({of('lws:group:pods:count')})", f"{OF_ROLE} pods"),
                Query(f"sum {by(ROLE)} ({of('lws:group:pods_bound:count')})", f"{OF_ROLE} with a node"),
                Query(f"sum {by(ROLE)} ({of('lws:group:pods_ready:count')})", f"{OF_ROLE} ready"),
            ),
        ),
        Panel(
            "Without a node",
            "Whose pods does the scheduler find no node for?",
            (Query(f"sum {by(ROLE)} ({_unschedulable()})", OF_ROLE),),
        ),
        Panel(
            "Restarts within an hour",
            "Which containers crash? With LWS each restart makes the whole group again.",
            (Query(restarts, "{{pod}} {{container}}"),),
        ),
    )


def _rollouts() -> tuple[Panel, ...]:
    label = state_label(labels.DEPLOYMENT)
    ours = f'kube_deployment_labels{{namespace=~"$namespace", {label}!="", {label}=~"$deployment"}}'
    of_ours = f"* {on(('namespace', 'deployment'))} {left()} {ours}"
    return (
        Panel(
            "Rollout",
            "Does a rollout move: how many groups have the new revision, and how many serve?",
            tuple(
                Query(of(f"kube_leaderworkerset_{field}"), f"{_SET} {what}")
                for field, what in (
                    ("spec_replicas", "wanted"),
                    ("status_updated_replicas", "of the new revision"),
                    ("status_ready_replicas", "ready"),
                )
            ),
            alerts=("LwsRolloutStuck",),
        ),
        Panel(
            "Updates under way",
            "Which sets are in a rollout?",
            (Query(of("kube_leaderworkerset_status_condition", 'condition="UpdateInProgress"'), _SET),),
            maximum=1,
        ),
        Panel(
            "Models on one node",
            "Are all copies of Deployments there?",
            (
                Query(f"kube_deployment_spec_replicas {of_ours}", "{{deployment}} wanted"),
                Query(f"kube_deployment_status_replicas_ready {of_ours}", "{{deployment}} ready"),
            ),
        ),
    )


def _scaling() -> tuple[Panel, ...]:
    autoscaler = "kube_horizontalpodautoscaler"
    failed = f"sum by (controller) (rate(controller_runtime_reconcile_errors_total{EVERY})) > 0"
    return (
        Panel(
            "Autoscalers",
            "What do they want, and are they at their end?",
            tuple(
                Query(f"{autoscaler}_{field}{IN_NAMESPACE}", f"{{{{horizontalpodautoscaler}}}} {what}")
                for field, what in (
                    ("status_current_replicas", "there"),
                    ("status_desired_replicas", "wanted"),
                    ("spec_max_replicas", "at most"),
                )
            ),
        ),
        Panel(
            "Roles of DisaggregatedSets",
            "Do roles follow their scalers?",
            (
                Query(f"kube_disaggregatedsetrolescaler_spec_replicas{IN_NAMESPACE}", "{{role_scaler}} wanted"),
                Query(f"kube_disaggregatedsetrolescaler_status_replicas{IN_NAMESPACE}", "{{role_scaler}} there"),
            ),
        ),
        Panel(
            "Controllers that fail",
            "Does a controller (LWS, Kueue, KubeRay) fail at its objects?",
            (Query(failed, "{{controller}}"),),
            unit="ops",
        ),
    )
