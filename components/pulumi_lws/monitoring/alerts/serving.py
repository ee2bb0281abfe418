"""Alerts of engines and routers: slow, full, or stuck."""

from collections.abc import Iterator

from pulumi_lws.monitoring.alerts.alert import IN_ROLE, Alert
from pulumi_lws.monitoring.metrics.labels import MODEL
from pulumi_lws.monitoring.promql import by, copied, on
from pulumi_lws.monitoring.settings import Monitoring, Thresholds

_ROLE = ("namespace", "deployment", "role")
_RATE_MINUTES = 5
"""Window of the recorded rates."""

_POD = "{{ $labels.namespace }}/{{ $labels.pod }}"
_METRICS = "kubectl get --raw /api/v1/namespaces/NAMESPACE/pods/POD:8000/proxy/metrics | grep -v '^#'"
_LOGS = "kubectl logs -n NAMESPACE POD -c engine --tail=200"


def serving_alerts(settings: Monitoring) -> Iterator[Alert]:
    """Yield the alerts."""
    thresholds = settings.thresholds
    yield _stuck(thresholds)
    yield _cache_full(thresholds)
    yield _queue_long(thresholds)
    yield _first_token_slow(thresholds)
    yield _router_without_endpoints()


def _stuck(thresholds: Thresholds) -> Alert:
    engine = ("namespace", "pod", "model_name", "engine")
    tokens = (f"sum {by(engine)} (inference:{what}_tokens:rate5m)" for what in ("generation", "prompt"))
    return Alert(
        name="LwsServedThenStuck",
        expression=f"inference:requests_running:sum > 0 and {on(engine)} ({' + '.join(tokens)} == 0)",
        minutes=thresholds.stuck_minutes - _RATE_MINUTES,
        severity="critical",
        summary=f"{_POD} has requests and computes nothing.",
        description=f"{{{{ $value }}}} requests run, and for {thresholds.stuck_minutes} minutes there was no token.",
        meaning="The engine hangs, often in a collective: a rank died or lost its network, and the others wait for it."
        " Long time-outs, which slow starts need, hide it; `/health` may still answer.",
        look=(
            ("Is every rank there?", "kubectl get pods -n NAMESPACE -l pulumi-lws/deployment=DEPLOYMENT -o wide"),
            ("What do the ranks say?", _LOGS),
            ("Did a GPU or a node fail?", "kubectl describe node NODE | grep -A20 Conditions"),
        ),
        fixes=(
            ("any", "Delete the leader: the group is made again. Before that save the logs of all its pods."),
            ("it comes back on the same nodes", "Cordon them; see LwsGpuError and LwsEfaMissing."),
            (
                "throughput fell before, or NCCL errors",
                (
                    "NCCL went over TCP, or the group lies on several domains: exclusive topology, EFA requests, an"
                    " image with aws-ofi-nccl."
                ),
            ),
        ),
    )


def _cache_full(thresholds: Thresholds) -> Alert:
    share = thresholds.kv_cache_share
    return Alert(
        name="LwsCacheFull",
        expression=f"inference:kv_cache_usage:max >= {share}",
        minutes=10,
        severity="warning",
        summary=f"The KV cache of {_POD} is full.",
        description=f"{{{{ $value | humanizePercentage }}}} are in use; from {share:.0%} on requests are put back and"
        " computed again.",
        meaning="More and longer requests run than the cache holds, so the engine throws work away.",
        look=(
            ("How many run, wait and are put back?", f"{_METRICS} | grep -E 'num_requests|num_preemptions'"),
            ("How many tokens should fit?", "lws plan stacks/Pulumi.STACK.yaml"),
        ),
        fixes=(
            ("more load than planned", "More copies, or autoscaling by `kvCacheUsage`."),
            ("longer contexts than planned", "A lower `maxModelLen`, or `kvCacheDtype: fp8`."),
            ("few large requests", "Fewer at a time: `--max-num-seqs`."),
        ),
    )


def _queue_long(thresholds: Thresholds) -> Alert:
    # Before decode, requests mostly wait for a transfer.
    waiting = f'avg {by(_ROLE)} (sum {by((*_ROLE, "pod"))} (inference:requests_waiting:sum{{role!="decode"}}))'
    return Alert(
        name="LwsQueueGrowing",
        expression=f"{waiting} > {thresholds.waiting_requests}",
        minutes=10,
        severity="warning",
        summary=f"Requests pile up before {IN_ROLE}.",
        description=f"{{{{ $value | humanize }}}} wait for each copy; {thresholds.waiting_requests} are allowed.",
        meaning="More requests come than the copies answer, so each waits longer than the one before.",
        look=(
            ("How many copies serve?", "kubectl get lws -n NAMESPACE"),
            ("What does the autoscaler want?", "kubectl get hpa,scaledobjects -n NAMESPACE"),
        ),
        fixes=(
            ("the autoscaler is at its end", "Raise `maxReplicas`, where the pool and its quota have room."),
            (
                "scale-out is slow: image and weights are fetched each time",
                "Pull images before, cache weights on the nodes; `lws plan` shows how long each takes.",
            ),
            ("one copy is stuck", "See LwsServedThenStuck."),
            ("one client sends it all", "A rate limit at the gateway."),
        ),
    )


def _first_token_slow(thresholds: Thresholds) -> Alert:
    buckets = f"sum {by((*MODEL, 'le'))} (inference:time_to_first_token_seconds_bucket:rate5m)"
    limit = thresholds.first_token_seconds
    return Alert(
        name="LwsFirstTokenSlow",
        expression=f"histogram_quantile(0.95, {buckets}) > {limit}",
        minutes=10,
        severity="warning",
        summary=f"First tokens of {IN_ROLE} are slow.",
        description=f"95 of 100 requests have theirs within {{{{ $value | humanizeDuration }}}}; {limit:g} s are"
        " allowed.",
        meaning="Users wait: for a free place in the batch, for their prompt, or for its transfer to decode.",
        look=(
            ("Does it wait or compute?", f"{_METRICS} | grep -E 'request_(queue|prefill)_time_seconds_(sum|count)'"),
            ("Do transfers fail?", f"{_METRICS} | grep nixl"),
        ),
        fixes=(
            ("requests wait", "See LwsQueueGrowing."),
            ("long prompts block the others", "Roles of their own for prefill and decode."),
            ("KV caches go over TCP", "EFA requests on both roles, the backend LIBFABRIC, both roles in one zone."),
            ("decode computes prompts itself", "No prefill pod of the same revision is ready: finish the rollout."),
        ),
    )


def _router_without_endpoints() -> Alert:
    copies = 'sum by (namespace, deployment) (kube_leaderworkerset_spec_replicas{deployment!=""}) > 0'
    return Alert(
        name="LwsRouterWithoutEndpoints",
        expression=(
            "max by (namespace, name) (llm_d_epp_ready_endpoints) == 0"
            f" and on (namespace, name) ({copied(f'({copies})', 'deployment', 'name')})"
        ),
        minutes=5,
        severity="critical",
        summary="The router of {{ $labels.namespace }}/{{ $labels.name }} knows no pod.",
        description="It refuses every request, though copies should be there.",
        meaning="No pod with the labels of the pool is ready, or the router cannot see pods.",
        look=(
            ("Which pods may it choose from?", "kubectl get pods -n NAMESPACE -l pulumi-lws/serves=true --show-labels"),
            ("What does it say?", "kubectl logs -n NAMESPACE deploy/DEPLOYMENT-router --all-containers --tail=100"),
        ),
        fixes=(
            ("no copy is ready", "See LwsAllLeadersDown."),
            ("it may not list pods", "Its Role and RoleBinding are there: `pulumi up --refresh`."),
            ("pods of another revision", "Router and pods are of one `pulumi up`; finish it."),
        ),
    )
