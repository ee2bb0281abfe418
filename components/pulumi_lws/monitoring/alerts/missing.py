"""Alerts of what nobody reports: without it the others stay silent."""

from collections.abc import Iterator

from pulumi_lws.monitoring.alerts.alert import Alert
from pulumi_lws.monitoring.promql import copied, on
from pulumi_lws.monitoring.recordings import POD
from pulumi_lws.monitoring.settings import Monitoring


def missing_alerts(settings: Monitoring) -> Iterator[Alert]:
    """Yield the alerts."""
    minutes = settings.thresholds.missing_minutes
    yield _serving_unseen(minutes)
    yield _state_metrics_missing(minutes)
    yield _gpu_metrics_missing(minutes)


def _serving_unseen(minutes: int) -> Alert:
    ready = 'kube_pod_status_ready{condition="true"} == 1'
    serves = f'lws:pod:info{{serves="true",metrics!="none"}} and {on(POD)} ({ready})'
    return Alert(
        name="LwsServingUnseen",
        expression=f'({serves}) unless {on(("namespace", "pod"))} (up{{deployment!=""}} == 1)',
        minutes=minutes,
        severity="warning",
        summary="Prometheus does not see {{ $labels.namespace }}/{{ $labels.pod }}, which serves.",
        description=f"The pod has been ready for {minutes} minutes, and its metrics cannot be read.",
        meaning="Alerts and autoscalers are blind for this pod.",
        look=(
            ("Does it answer?", "kubectl get --raw /api/v1/namespaces/NAMESPACE/pods/POD:8000/proxy/metrics | head"),
            ("What does Prometheus say?", "Prometheus → Status → Targets, podMonitor/…/pulumi-lws-engines"),
        ),
        fixes=(
            ("a NetworkPolicy", "`network.monitoring` names the namespace of Prometheus."),
            (
                "the engine has no /metrics",
                "SGLang needs `--enable-metrics`; an engine of your own `hasMetrics: false`, its default.",
            ),
            ("Prometheus ignores the PodMonitor", "`podMonitorSelectorNilUsesHelmValues: false`, or `objectLabels`."),
        ),
    )


def _state_metrics_missing(minutes: int) -> Alert:
    blind = (
        "absent(kube_pod_info)",
        '(count(lws:pod:info{leader_worker_set!=""}) > 0 unless on () count(kube_leaderworkerset_spec_size))',
        "(sum(kube_leaderworkerset_status_replicas) > 0 unless on () count(lws:pod:info))",
    )
    return Alert(
        name="LwsStateMetricsMissing",
        expression=" or ".join(blind),
        minutes=minutes,
        severity="critical",
        summary="kube-state-metrics does not report groups.",
        description="Pods or LeaderWorkerSets are missing: no alert of groups can fire.",
        meaning="kube-state-metrics is down, may not read LeaderWorkerSets, or does not pass labels of pods on.",
        look=(
            ("Does it run?", "kubectl get pods -A -l app.kubernetes.io/name=kube-state-metrics"),
            ("What is it refused?", "kubectl logs -n monitoring deploy/KUBE-STATE-METRICS | grep -i forbidden"),
            ("What is it told?", "kubectl get deploy -n monitoring KUBE-STATE-METRICS -o yaml | grep -A12 args"),
        ),
        fixes=(
            ("its values are not ours", "`kube_prometheus_stack_values()`: labels, rights and custom resources."),
            ("the definitions came after it", "Restart it."),
        ),
    )


def _gpu_metrics_missing(minutes: int) -> Alert:
    gpus = 'kube_node_status_allocatable{resource="nvidia_com_gpu"} > 0'
    reported = copied("DCGM_FI_DEV_GPU_UTIL", "Hostname", "node")
    return Alert(
        name="LwsGpuMetricsMissing",
        # On Auto Mode the exporter is better left out.
        expression=f'({gpus} and on (node) lws:node:info{{compute_type!="auto"}}) unless on (node) ({reported})',
        minutes=minutes,
        severity="warning",
        summary="Nobody reports the GPUs of {{ $labels.node }}.",
        description="The node offers {{ $value }} GPUs, and the DCGM exporter says nothing of them.",
        meaning="Errors of these GPUs stay unseen.",
        look=(("Does the exporter run there?", "kubectl get pods -A -o wide | grep dcgm"),),
        fixes=(
            ("a taint keeps it off", "Tolerate it with the operator Exists."),
            ("it lacks memory", "A limit of 512 MiB or more."),
        ),
    )
