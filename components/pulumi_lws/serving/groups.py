"""The groups of a role, as the spec of a LeaderWorkerSet."""

from pulumi_lws.facts import labels
from pulumi_lws.rules.rule import major_and_minor
from pulumi_lws.serving.pods import pod_template
from pulumi_lws.serving.queueing import queue_labels
from pulumi_lws.serving.roles import Role
from pulumi_lws.workloads.settings import (
    LeaderWorkerSetArgs,
    LeaderWorkerSetSpec,
    LeaderWorkerTemplate,
    RestartPolicy,
    RollingUpdate,
    RolloutStrategy,
)


def groups(role: Role) -> LeaderWorkerSetArgs:
    """Return the LeaderWorkerSet of a role."""
    deployment = role.deployment
    return LeaderWorkerSetArgs(
        name=role.workload,
        namespace=role.namespace,
        labels={labels.DEPLOYMENT: role.deployment_name, labels.ROLE: role.name, **queue_labels(role)},
        exclusive_topology=labels.ISLAND if role.keeps_islands else None,
        spec=LeaderWorkerSetSpec(
            replicas=role.settings.replicas,
            leader_worker_template=group_template(role),
            rollout_strategy=RolloutStrategy(rolling_update_configuration=rolling_update(role)),
            startup_policy="LeaderReady",
        ),
        wait=deployment.wait,
        wait_minutes=role.launch.timeouts.update_minutes,
        scaled_elsewhere=role.settings.autoscaling is not None,
        lws_version=deployment.lws_version,
        kubernetes_version=deployment.kubernetes_version,
    )


def group_template(role: Role) -> LeaderWorkerTemplate:
    """Return the pods of one group. A group of one pod has one template."""
    leader = pod_template(role, "leader")
    single = role.shape.size == 1
    return LeaderWorkerTemplate(
        leader_template=None if single else leader,
        worker_template=leader if single else pod_template(role, "worker"),
        size=role.shape.size,
        restart_policy=_restart_policy(role),
    )


def rolling_update(role: Role) -> RollingUpdate:
    """Roll over spare GPUs where there are some, else take one group down at a time."""
    return RollingUpdate(max_unavailable=1 - role.surge, max_surge=role.surge)


def _restart_policy(role: Role) -> RestartPolicy:
    """Recreate a group whose container restarts, once it has started where LWS can tell.

    Before that, a container that fails while others still start would recreate the whole group again and again.
    https://github.com/kubernetes-sigs/lws/issues/726
    """
    since_09 = major_and_minor(role.deployment.lws_version) >= (0, 9)
    return "RecreateGroupAfterStart" if since_09 else "RecreateGroupOnPodRestart"
