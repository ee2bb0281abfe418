"""The dashboard of what users feel: are requests answered, how fast, and what keeps them from being faster?"""

from pulumi_lws.monitoring.dashboards.dashboard import Dashboard, Limits, Panel, Query, Row, stat
from pulumi_lws.monitoring.dashboards.selecting import (
    DEPLOYMENTS,
    EVERY,
    GPUS,
    OF_ROLE,
    ROLE,
    of,
    on_pods,
    quantile,
    requested,
)
from pulumi_lws.monitoring.promql import by, on
from pulumi_lws.monitoring.settings import Monitoring, Thresholds

_FIRST_TOKENS = of("inference:time_to_first_token_seconds_bucket:rate5m")
_NEXT_TOKENS = of("inference:inter_token_latency_seconds_bucket:rate5m")
_BY_POD = "{{pod}} {{engine}}"
_FULL_CACHE = 0.9


def serving(settings: Monitoring) -> Dashboard:
    """Return the dashboard."""
    limits = settings.thresholds
    return Dashboard(
        uid="lws-serving",
        title="Models: serving",
        answers="Are requests answered, how fast, and what keeps them from being faster?",
        variables=DEPLOYMENTS,
        rows=(
            Row("Now", _now(limits)),
            Row("Requests", _requests(limits)),
            Row("Latency", _latency(limits)),
            Row("Tokens and cache", _tokens(limits)),
            Row("Prefill and decode apart", _apart()),
            Row("In front of the pods", _in_front()),
        ),
    )


def _now(limits: Thresholds) -> tuple[Panel, ...]:
    cache = Limits(_FULL_CACHE, limits.kv_cache_share)
    first = Limits(limits.first_token_seconds / 2, limits.first_token_seconds)
    return (
        stat("Running", "How many requests are computed?", f"sum({of('inference:requests_running:sum')})"),
        stat("Waiting", "How many wait?", f"sum({of('inference:requests_waiting:sum')})"),
        stat(
            "First token, p95", "How long do users wait for an answer to start?", _p95(_FIRST_TOKENS), "s", limits=first
        ),
        stat("Next token, p95", "How fast do answers come?", _p95(_NEXT_TOKENS), "s"),
        stat(
            "Fullest KV cache",
            "Is there room for more requests?",
            f"max({of('inference:kv_cache_usage:max')})",
            "percentunit",
            limits=cache,
        ),
        stat("Generated", "How much is answered?", f"sum({of('inference:generation_tokens:rate5m')})", "cps"),
    )


def _p95(buckets: str) -> str:
    return f"histogram_quantile(0.95, sum by (le) ({buckets}))"


def _requests(limits: Thresholds) -> tuple[Panel, ...]:
    waiting = f"avg {by(ROLE)} (sum {by((*ROLE, 'pod'))} ({of('inference:requests_waiting:sum')}))"
    finished = f"sum {by((*ROLE, 'finished_reason'))} (rate({of('vllm:request_success_total')}{EVERY}))"
    return (
        Panel(
            "Running, by pod",
            "Is the load spread over the pods?",
            (Query(of("inference:requests_running:sum"), _BY_POD),),
        ),
        Panel(
            "Waiting, for each pod",
            "Do more requests come than are answered?",
            (Query(waiting, OF_ROLE),),
            limits=Limits(limits.waiting_requests / 2, limits.waiting_requests),
            alerts=("LwsQueueGrowing",),
        ),
        Panel(
            "Answered",
            "How do requests end: stop, at their length, or aborted by the client? (vLLM)",
            (Query(finished, f"{OF_ROLE} {{{{finished_reason}}}}"),),
            unit="reqps",
        ),
    )


def _latency(limits: Thresholds) -> tuple[Panel, ...]:
    return (
        Panel(
            "First token",
            "How long until an answer starts? p50 is the prompt, p95 the queue.",
            tuple(Query(quantile(share, _FIRST_TOKENS), f"{OF_ROLE} p{share * 100:g}") for share in (0.5, 0.95, 0.99)),
            unit="s",
            limits=Limits(limits.first_token_seconds / 2, limits.first_token_seconds),
            alerts=("LwsFirstTokenSlow",),
        ),
        Panel(
            "Between tokens",
            "How fast do answers come? A p95 that rises alone means prompts between the answers.",
            tuple(Query(quantile(share, _NEXT_TOKENS), f"{OF_ROLE} p{share * 100:g}") for share in (0.5, 0.95)),
            unit="s",
        ),
        Panel(
            "Where the time goes, p95",
            "Is it the queue, the prompt, or the answer? (vLLM)",
            tuple(
                Query(
                    quantile(0.95, f"rate({of(f'vllm:request_{part}_time_seconds_bucket')}{EVERY})"),
                    f"{OF_ROLE} {part}",
                )
                for part in ("queue", "prefill", "decode")
            ),
            unit="s",
        ),
    )


def _tokens(limits: Thresholds) -> tuple[Panel, ...]:
    generated = of("inference:generation_tokens:rate5m")
    tokens = f"sum {by(('namespace', 'pod', 'engine'))} ({generated} + {of('inference:prompt_tokens:rate5m')})"
    gpus = f"sum {by(ROLE)} ({on_pods(requested(GPUS))})"
    hits, queries = (
        f"sum {by(ROLE)} (rate({of(f'vllm:prefix_cache_{what}_total')}{EVERY}))" for what in ("hits", "queries")
    )
    return (
        Panel(
            "Tokens, by role",
            "How much is computed?",
            (
                Query(f"sum {by(ROLE)} ({of('inference:prompt_tokens:rate5m')})", f"{OF_ROLE} prompts"),
                Query(f"sum {by(ROLE)} ({generated})", f"{OF_ROLE} answers"),
            ),
            unit="cps",
        ),
        Panel(
            "Tokens, by pod",
            "Does a pod with requests compute nothing? A line at 0 is a hang.",
            (Query(tokens, _BY_POD),),
            unit="cps",
            alerts=("LwsServedThenStuck",),
        ),
        Panel(
            "Answers for each GPU",
            "What does a GPU bring?",
            (Query(f"sum {by(ROLE)} ({generated}) / {on(ROLE)} {gpus}", OF_ROLE),),
            unit="cps",
        ),
        Panel(
            "KV cache, by pod",
            "Is there room for more or longer requests?",
            (Query(of("inference:kv_cache_usage:max"), _BY_POD),),
            unit="percentunit",
            limits=Limits(_FULL_CACHE, limits.kv_cache_share),
            maximum=1,
            alerts=("LwsCacheFull",),
        ),
        Panel(
            "Put back",
            "How many requests lose their place in the cache, and are computed again? (vLLM)",
            (Query(f"sum {by(ROLE)} (rate({of('vllm:num_preemptions_total')}{EVERY}))", OF_ROLE),),
            unit="reqps",
        ),
        Panel(
            "Found in the prefix cache",
            "How much of the prompts need not be computed? (vLLM)",
            (Query(f"{hits} / {queries}", OF_ROLE),),
            unit="percentunit",
            maximum=1,
        ),
    )


def _apart() -> tuple[Panel, ...]:
    reason = f"sum {by((*ROLE, 'reason'))} ({of('vllm:num_requests_waiting_by_reason')})"
    transfers = quantile(0.95, f"rate({of('vllm:nixl_xfer_time_seconds_bucket')}{EVERY})")
    failed = f"sum {by(ROLE)} (rate({of('vllm:nixl_num_failed_transfers_total')}{EVERY}))"
    sent = f"sum {by(ROLE)} (rate({of('vllm:nixl_bytes_transferred_sum')}{EVERY}))"
    return (
        Panel(
            "Waiting, by reason",
            "Do requests wait for room (capacity), or for their KV cache to come (deferred)?",
            (Query(reason, f"{OF_ROLE} {{{{reason}}}}"),),
        ),
        Panel(
            "Transfer of a KV cache, p95",
            "Is the network between prefill and decode slow?",
            (Query(transfers, OF_ROLE),),
            unit="s",
        ),
        Panel(
            "Transferred, and failed",
            "Do KV caches arrive? Failed ones are computed again by decode.",
            (Query(sent, f"{OF_ROLE} bytes/s"), Query(failed, f"{OF_ROLE} failed/s")),
        ),
    )


def _in_front() -> tuple[Panel, ...]:
    pool = '{namespace=~"$namespace"}'
    answers = f"sum by (envoy_response_code_class) (rate(envoy_http_downstream_rq_xx{EVERY}))"
    healthy = "envoy_cluster_membership_healthy / (envoy_cluster_membership_total > 0)"
    return (
        Panel(
            "Pods that a router may choose",
            "Has the router of a deployment somewhere to go?",
            (Query(f"sum by (namespace, name) (llm_d_epp_ready_endpoints{pool})", "{{name}}"),),
            alerts=("LwsRouterWithoutEndpoints",),
        ),
        Panel(
            "Errors of routers",
            "Does the router refuse requests, and why?",
            (Query(f"sum by (error_code) (rate(llm_d_epp_request_error_total{pool}{EVERY}))", "{{error_code}}"),),
            unit="reqps",
        ),
        Panel(
            "Answers of gateways, by class",
            "What do clients get?",
            (Query(answers, "{{envoy_response_code_class}}xx"),),
            unit="reqps",
            stacked=True,
        ),
        Panel(
            "Tried again",
            "Do requests meet pods that refuse them?",
            (
                Query(
                    f"sum by (envoy_cluster_name) (rate(envoy_cluster_upstream_rq_retry{EVERY}))",
                    "{{envoy_cluster_name}}",
                ),
            ),
            unit="reqps",
        ),
        Panel(
            "Healthy backends",
            "Which part of the pods passes the gateway's health checks?",
            (Query(f"min by (envoy_cluster_name) ({healthy})", "{{envoy_cluster_name}}"),),
            unit="percentunit",
            limits=Limits(1, 0.5),
            maximum=1,
        ),
    )
