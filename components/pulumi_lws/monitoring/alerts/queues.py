"""Alerts of Kueue."""

from collections.abc import Iterator

from pulumi_lws.monitoring.alerts.alert import Alert
from pulumi_lws.monitoring.settings import Monitoring

_QUEUE = "kubectl get clusterqueue QUEUE -o yaml"
_WORKLOADS = "kubectl get workloads -A -o wide"


def queue_alerts(settings: Monitoring) -> Iterator[Alert]:
    """Yield the alerts."""
    yield _evicted()
    yield _queued_long(settings.thresholds.queued_minutes)


def _evicted() -> Alert:
    evicted = 'kueue_evicted_workloads_total{reason="PodsReadyTimeout"}'
    # A counter that starts with its first event has not increased for Prometheus.
    new = f"sum by (cluster_queue) ({evicted} unless {evicted} offset 1h) > 0"
    return Alert(
        name="LwsEvictedBeforeReady",
        expression=f"sum by (cluster_queue) (increase({evicted}[1h])) > 0 or {new}",
        minutes=0,
        severity="warning",
        summary="Kueue takes groups of {{ $labels.cluster_queue }} down before they are ready.",
        description='{{ $value | printf "%.0f" }} within an hour: they had quota, and not all pods were ready in time.',
        meaning="The group starts from the beginning, and if it is always too slow, it never serves. After some tries"
        " its Workload is switched off.",
        look=(
            ("Which workloads?", f"{_WORKLOADS} | grep -i evicted"),
            ("How long may they take?", "kubectl get cm -n kueue-system kueue-manager-config -o yaml | grep -A6 Ready"),
        ),
        fixes=(
            ("the start takes longer than the time-out", "`waitForPodsReady.timeout` above the start budget."),
            ("quota without nodes", "Quota and the limits of the pools agree; see LwsPoolAtLimit."),
            ("a Workload with `active: false`", "Set it to true once the cause is gone."),
        ),
    )


def _queued_long(minutes: int) -> Alert:
    # Every replica of the manager reports the same.
    pending = "sum by (cluster_queue) (max by (cluster_queue, status) (kueue_pending_workloads))"
    return Alert(
        name="LwsQueuedLong",
        expression=f"{pending} > 0",
        minutes=minutes,
        severity="warning",
        summary="Groups have waited long in {{ $labels.cluster_queue }}.",
        description=f"{{{{ $value }}}} wait now, and for {minutes} minutes there was always one.",
        meaning="There is no quota for them, or none that fits: their pods are gated and no node is made.",
        look=(
            ("Why is it not admitted?", "kubectl describe workload -n NAMESPACE WORKLOAD | tail -n 30"),
            ("What is used of which quota?", _QUEUE),
        ),
        fixes=(
            ("quota below one group, or below groups and surge", "`lws plan` shows both; raise quota or lower copies."),
            ("a requested resource without quota", "Quota for every resource: GPUs, EFA, memory, storage."),
            ("a topology that no nodes have yet", "Topology-aware scheduling on static pools only."),
            ("a queue that is stopped or not active", "`stopPolicy: None`; its flavors must exist."),
        ),
    )
