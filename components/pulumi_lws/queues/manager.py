"""Kueue's own configuration, as its chart takes it."""

from collections.abc import Iterable
from typing import Any

import yaml

from pulumi_lws.facts import labels
from pulumi_lws.queues.settings import Queues
from pulumi_lws.serving import timeouts
from pulumi_lws.serving.settings import DeploymentArgs

NEVER_MANAGED = ("kube-system", "kueue-system")
"""Namespaces that Kueue refuses to manage."""

FRAMEWORKS = (
    "batch/job",
    "ray.io/rayjob",
    "ray.io/raycluster",
    "ray.io/rayservice",
    "pod",
    "deployment",
    "statefulset",
    "leaderworkerset.x-k8s.io/leaderworkerset",
)
"""What may wait in a queue. A kind whose CRD is missing is taken up once it is there."""

_DEFAULT_START_BUDGET_MINUTES = 60


def longest_start(deployments: Iterable[DeploymentArgs]) -> int:
    """Return the longest start budget of the deployments that are in queues, in minutes."""
    budgets = [args.start_budget_minutes for args in deployments if args.queue is not None]
    return max(budgets, default=_DEFAULT_START_BUDGET_MINUTES)


def manager_values(queues: Queues, deployments: Iterable[DeploymentArgs]) -> dict[str, Any]:
    """Return the values of Kueue's chart that follow from the queues, and from how long the deployments start."""
    text = yaml.safe_dump(configuration(queues, longest_start(deployments)), sort_keys=False)
    return {"managerConfig": {"controllerManagerConfigYaml": text}}


def configuration(queues: Queues, start_budget_minutes: int) -> dict[str, Any]:
    """Return Kueue's Configuration (``config.kueue.x-k8s.io/v1beta2``).

    No feature gate is set: in Kueue 0.19 all that deployments need are on, among them WorkloadIdentifierAnnotations and
    LWSImmutableGroupSize.

    Args:
        queues: The queues.
        start_budget_minutes: Longest start budget of the deployments in queues.
    """
    manager = queues.manager
    ready, requeuing = manager.wait_for_pods_ready, manager.wait_for_pods_ready.requeuing
    timeout = ready.timeout_minutes or timeouts.derive(start_budget_minutes).update_minutes
    strategy: dict[str, Any] = {
        "timestamp": requeuing.timestamp,
        "backoffBaseSeconds": requeuing.backoff_base_seconds,
        "backoffMaxSeconds": requeuing.backoff_max_seconds,
    }
    if requeuing.backoff_limit is not None:
        strategy["backoffLimitCount"] = requeuing.backoff_limit
    # Pods of other namespaces do not even pass Kueue's webhooks, so they start while it is down.
    managed = sorted({*queues.namespaces, *manager.namespaces})
    found: dict[str, Any] = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "clientConnection": {"qps": 300, "burst": 500},
        "manageJobsWithoutQueueName": False,
        "managedJobsNamespaceSelector": {
            "matchExpressions": [{"key": labels.NAMESPACE_NAME, "operator": "In", "values": managed}]
        },
        "waitForPodsReady": {
            "timeout": f"{timeout}m",
            "recoveryTimeout": f"{ready.recovery_timeout_minutes or timeout}m",
            "blockAdmission": ready.block_admission,
            "requeuingStrategy": strategy,
        },
        "integrations": {"frameworks": list(FRAMEWORKS)},
    }
    if manager.fair_sharing is not None:
        found["fairSharing"] = {"preemptionStrategies": list(manager.fair_sharing.preemption_strategies)}
    return found
