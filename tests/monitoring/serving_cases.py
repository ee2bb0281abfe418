"""Cases of the alerts of engines, routers and queues."""

from tests.monitoring.case import Case, Firing, Silent
from tests.monitoring.group_cases import GROUP
from tests.monitoring.series import Series, always, engine, leader_worker_set, named

_ROLE = {name: GROUP[name] for name in ("namespace", "deployment", "role")}
_ENGINE = {
    **{name: GROUP[name] for name in ("namespace", "deployment", "role", "leader_worker_set", "group")},
    "pod": "chat-0",
    "model_name": "llama",
    "engine": "0",
}
_SGLANG = {"namespace": "team-a", "pod": "chat-0", "deployment": "chat", "role": "serve", "model_name": "llama"}


def _tokens(prompt: str, generated: str, running: float = 4) -> Series:
    return {
        **engine("num_requests_running", always(running)),
        **engine("prompt_tokens_total", prompt),
        **engine("generation_tokens_total", generated),
    }


def _first_tokens(within: float, seconds: float, **labels: str) -> Series:
    """Return the histogram of 100 requests a minute, of which a share has its first token within some seconds."""
    return {
        **engine("time_to_first_token_seconds_bucket", f"0+{within * 100:g}x300", le=f"{seconds:g}", **labels),
        **engine("time_to_first_token_seconds_bucket", "0+100x300", le="20", **labels),
        **engine("time_to_first_token_seconds_bucket", "0+100x300", le="+Inf", **labels),
    }


def _router(endpoints: float, replicas: float) -> Series:
    pool = named("llm_d_epp_ready_endpoints", namespace="team-a", pod="chat-router-x", name="chat")
    return {pool: always(endpoints), **leader_worker_set(replicas=always(replicas))}


def _evicted(values: str, reason: str = "PodsReadyTimeout") -> Series:
    return {named("kueue_evicted_workloads_total", cluster_queue="gpus", reason=reason, replica_role="leader"): values}


def _pending(count: str) -> Series:
    """Return what both managers say."""
    return {
        named("kueue_pending_workloads", cluster_queue="gpus", status=status, replica_role=role): values
        for status, values in (("active", count), ("inadmissible", always(0)))
        for role in ("leader", "follower")
    }


CASES: dict[str, Case] = {
    "LwsServedThenStuck": (
        Firing(
            _tokens("0+900x20 18000x280", "0+600x20 12000x280"),
            at=31,
            labels=_ENGINE,
            summary="team-a/chat-0 has requests and computes nothing.",
            description="4 requests run, and for 10 minutes there was no token.",
        ),
        Firing(
            {
                named("sglang:num_running_reqs", **_SGLANG): always(4),
                named("sglang:prompt_tokens_total", **_SGLANG): always(900),
                named("sglang:generation_tokens_total", **_SGLANG): always(900),
            },
            at=11,
            labels=_SGLANG,
            summary="team-a/chat-0 has requests and computes nothing.",
            description="4 requests run, and for 10 minutes there was no token.",
        ),
        Silent("it stopped less than ten minutes ago", _tokens("0+900x20 18000x280", "0+600x20 12000x280"), at=28),
        Silent("it computes a long prompt", _tokens("0+900x300", always(0)), at=60),
        Silent("nobody asks", _tokens(always(900), always(600), running=0), at=60),
    ),
    "LwsCacheFull": (
        Firing(
            engine("kv_cache_usage_perc", always(0.97)),
            at=11,
            labels=_ENGINE,
            summary="The KV cache of team-a/chat-0 is full.",
            description="97% are in use; from 95% on requests are put back and computed again.",
        ),
        Silent("there is room", engine("kv_cache_usage_perc", always(0.94)), at=60),
        Silent("it was full for a moment", engine("kv_cache_usage_perc", "0.5x20 1x5 0.5x200"), at=31),
    ),
    "LwsQueueGrowing": (
        Firing(
            {
                **engine("num_requests_waiting", always(50)),
                **engine("num_requests_waiting", always(10), pod="chat-1"),
            },
            at=11,
            labels=_ROLE,
            summary="Requests pile up before team-a/chat (serve).",
            description="30 wait for each copy; 20 are allowed.",
        ),
        Silent("20 are allowed", engine("num_requests_waiting", always(20)), at=60),
        Silent(
            "they wait for a transfer to decode",
            {name.replace('"serve"', '"decode"'): v for name, v in engine("num_requests_waiting", always(90)).items()},
            at=60,
        ),
    ),
    "LwsFirstTokenSlow": (
        Firing(
            _first_tokens(0.9, 10),
            at=20,
            labels=_ROLE | {"model_name": "llama"},
            summary="First tokens of team-a/chat (serve) are slow.",
            description="95 of 100 requests have theirs within 15s; 10 s are allowed.",
        ),
        Silent("95 of 100 are quick", _first_tokens(0.96, 10), at=60),
        Silent("nobody asks", engine("time_to_first_token_seconds_bucket", always(5), le="+Inf"), at=60),
    ),
    "LwsRouterWithoutEndpoints": (
        Firing(
            _router(endpoints=0, replicas=2),
            at=6,
            labels={"namespace": "team-a", "name": "chat"},
            summary="The router of team-a/chat knows no pod.",
            description="It refuses every request, though copies should be there.",
        ),
        Silent("it knows one", _router(endpoints=1, replicas=2), at=60),
        Silent("no copy is wanted", _router(endpoints=0, replicas=0), at=60),
    ),
    "LwsEvictedBeforeReady": (
        Firing(
            _evicted("_x100 1x200"),
            at=110,
            labels={"cluster_queue": "gpus"},
            summary="Kueue takes groups of gpus down before they are ready.",
            description="1 within an hour: they had quota, and not all pods were ready in time.",
        ),
        Firing(
            _evicted("1x100 3x200"),
            at=102,
            labels={"cluster_queue": "gpus"},
            summary="Kueue takes groups of gpus down before they are ready.",
            description="2 within an hour: they had quota, and not all pods were ready in time.",
        ),
        Silent("long ago", _evicted("1x100 3x200"), at=180),
        Silent("others needed the GPUs more", _evicted("1x100 3x200", reason="Preempted"), at=102),
    ),
    "LwsQueuedLong": (
        Firing(
            _pending(always(2)),
            at=61,
            labels={"cluster_queue": "gpus"},
            summary="Groups have waited long in gpus.",
            description="2 wait now, and for 60 minutes there was always one.",
        ),
        Silent("not for long", _pending(always(2)), at=59),
        Silent("now and then none waits", _pending("2x50 0 2x240"), at=70),
    ),
}
