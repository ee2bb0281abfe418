"""Recording rules: one name for each thing, whatever engine it comes from and however Kubernetes labels it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pulumi_lws.facts import labels
from pulumi_lws.monitoring.metrics.labels import ENGINE, GROUP, MODEL, NODE_LABELS, POD_LABELS, state_label
from pulumi_lws.monitoring.promql import by, copied, left, on, renamed
from pulumi_lws.monitoring.site import MonitoredSite
from pulumi_lws.nodes.half_island import PATIENCE_MINUTES

POD = ("namespace", "pod", "uid")
"""What tells a pod from the one that was there before it."""

_GROUP_ONLY = tuple(label for label in GROUP if label != "namespace")
_ENGINES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "requests_running:sum": ("sum", ("vllm:num_requests_running", "sglang:num_running_reqs")),
    "requests_waiting:sum": ("sum", ("vllm:num_requests_waiting", "sglang:num_queue_reqs")),
    "kv_cache_usage:max": ("max", ("vllm:kv_cache_usage_perc", "sglang:token_usage")),
    "prompt_tokens:rate5m": ("sum", ("vllm:prompt_tokens_total", "sglang:prompt_tokens_total")),
    "generation_tokens:rate5m": ("sum", ("vllm:generation_tokens_total", "sglang:generation_tokens_total")),
}
"""Recorded name → how the series of one engine are put together, and what each kind of engine calls it."""
_HISTOGRAMS = ("time_to_first_token_seconds_bucket", "inter_token_latency_seconds_bucket")


@dataclass(frozen=True)
class Recording:
    """One recording rule.

    Attributes:
        record: Name of the series that it makes.
        expression: What it makes them from.
        labels: Labels that it puts on them.
    """

    record: str
    expression: str
    labels: Mapping[str, str] = field(default_factory=dict)


def recordings(site: MonitoredSite) -> list[Recording]:
    """Return every rule, in an order in which each finds what it is made from."""
    return [
        Recording("lws:pod:info", _pods()),
        Recording("lws:node:info", _nodes()),
        *_groups(),
        *(
            Recording("lws:pool:efa_expected", f"vector({count})", {"pool": p})
            for p, count in site.efa_expected.items()
        ),
        *(
            Recording("lws:pool:node_lifetime_seconds", f"vector({age})", {"pool": pool})
            for pool, age in site.lifetime_seconds.items()
        ),
        *_engines(),
    ]


def _pods() -> str:
    """Return the pods of groups and deployments that do not end, with their nodes."""
    kept = by((*POD, *map(state_label, POD_LABELS)))
    ours = (f'kube_pod_labels{{{state_label(key)}!=""}}' for key in (labels.LWS_GROUP_KEY, labels.DEPLOYMENT))
    known = renamed(f"max {kept} ({' or '.join(ours)})", POD_LABELS)
    with_node = f"{known} * {on(POD)} {left(('node',))} max {by((*POD, 'node'))} (kube_pod_info)"
    living = f"{with_node} unless {on(POD)} kube_pod_deletion_timestamp"
    return f"max {by((*GROUP, 'pod', 'uid', 'node', 'worker', 'serves', 'metrics'))} ({living})"


def _nodes() -> str:
    in_pools = f'kube_node_labels{{{state_label(labels.POOL)}!=""}}'
    return f"max {by(('node', *NODE_LABELS.values()))} ({renamed(in_pools, NODE_LABELS)})"


def _groups() -> Iterator[Recording]:
    pods = 'lws:pod:info{group_key!=""}'
    ready = f'{pods} and {on(POD)} (kube_pod_status_ready{{condition="true"}} == 1)'
    yield Recording("lws:group:pods:count", f"count {by(GROUP)} ({pods})")
    yield Recording("lws:group:pods_bound:count", f'count {by(GROUP)} (lws:pod:info{{group_key!="", node!=""}})')
    yield Recording("lws:group:pods_ready:count", f"count {by(GROUP)} ({ready})")
    size = f"{on(('namespace', 'leader_worker_set'))} {left()} kube_leaderworkerset_spec_size"
    # Of a group without a ready pod nothing was counted.
    counted = "(lws:group:pods_ready:count or lws:group:pods:count * 0)"
    yield Recording("lws:group:ready", f"{counted} >= bool {size}")
    yield Recording("lws:group:half_island:count", _half_islands())
    of_pod = f"max {by((*GROUP, 'pod'))} (lws:pod:info)"
    used = f"DCGM_FI_DEV_GPU_UTIL * {on(('namespace', 'pod'))} {left(_GROUP_ONLY)} {of_pod}"
    yield Recording("lws:group:gpu_utilization:max", f"max {by(GROUP)} ({used})")


def _half_islands() -> str:
    """Count as ``nodes/half_island.py`` does: workers that have waited, of groups whose leader has a node."""
    island = f"nodeselector_{state_label(labels.ISLAND).removeprefix('label_')}"
    bound_to_island = copied(f'kube_pod_nodeselectors{{{island}!=""}}', island, "island")
    waiting = (
        f'({bound_to_island} * {on(POD)} {left(_GROUP_ONLY)} lws:pod:info{{group_key!="", worker!="0", node=""}})'
        f" and {on(POD)} (time() - kube_pod_created >= {PATIENCE_MINUTES * 60})"
    )
    leaders = 'lws:pod:info{group_key!="", worker="0", node!=""}'
    return f"count {by((*GROUP, 'island'))} ({waiting}) and {on(('namespace', 'group_key'))} {leaders}"


def _engines() -> Iterator[Recording]:
    # Only our monitors put this label on engines: who scrapes them a second time does not count twice.
    ours = '{deployment!=""}'
    for name, (together, metrics) in _ENGINES.items():
        each = (f"rate({metric}{ours}[5m])" if "rate" in name else f"{metric}{ours}" for metric in metrics)
        expression = " or ".join(f"{together} {by(ENGINE)} ({series})" for series in each)
        yield Recording(f"inference:{name}", expression)
    for name in _HISTOGRAMS:
        each = (f"sum {by((*MODEL, 'le'))} (rate({engine}:{name}{ours}[5m]))" for engine in ("vllm", "sglang"))
        yield Recording(f"inference:{name}:rate5m", " or ".join(each))
