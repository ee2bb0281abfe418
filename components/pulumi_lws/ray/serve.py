"""What Ray Serve is told: one application of ``ray.serve.llm`` with one model.

Source: ``ray/llm/_internal/serve/core/configs/llm_config.py`` and ``ingress/builder.py`` of Ray 2.58.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from pulumi_lws.facts.vllm_flags import Version, flag_table, version_of
from pulumi_lws.ray.deciding import Decided
from pulumi_lws.ray.settings import RayServiceVllmArgs

INGRESSES_PER_COPY = 2
"""Processes that take requests, for each copy; Ray would start one in all."""

INGRESS_CPUS = 0.5
"""CPUs that Ray counts for each; so the smallest node holds those of its own copy."""


def serve_config(decided: Decided, args: RayServiceVllmArgs) -> str:
    """Render ``serveConfigV2``."""
    model = {
        "model_loading_config": {
            "model_id": model_id(args),
            "model_source": decided.weights.model,
        },
        "engine_kwargs": engine_arguments(decided, args),
        "placement_group_config": {
            "bundle_per_worker": {"GPU": 1},
            # A copy over nodes fills all of its nodes; any other must not be torn apart by what is free just then.
            "strategy": "PACK" if decided.spans_nodes else "STRICT_PACK",
        },
        "deployment_config": _deployment(decided, args, 1, args.requests_per_copy),
    }
    requests = max(args.requests_per_copy // INGRESSES_PER_COPY, 1)
    ingress = {
        **_deployment(decided, args, INGRESSES_PER_COPY, requests),
        "ray_actor_options": {"num_cpus": INGRESS_CPUS},
    }
    application = {
        "name": args.name,
        "import_path": "ray.serve.llm:build_openai_app",
        "route_prefix": "/",
        "args": {"llm_configs": [model], "ingress_deployment_config": ingress},
    }
    return yaml.safe_dump({"applications": [application]}, sort_keys=False)


def model_id(args: RayServiceVllmArgs) -> str:
    """Return the name that clients ask for."""
    return args.served_model_name or args.model


def waiting_requests(args: RayServiceVllmArgs) -> str:
    """Return the PromQL of the requests that wait in all copies; Ray renames vLLM's metrics."""
    series = f'ray_vllm_num_requests_waiting{{namespace="{args.namespace}",model_name="{model_id(args)}"}}'
    return f"sum({series}) or vector(0)"


def engine_arguments(decided: Decided, args: RayServiceVllmArgs) -> dict[str, Any]:
    """Return ``engine_kwargs``: ours, then the user's."""
    split, launch = args.parallelism, decided.launch
    found: dict[str, Any] = {"tensor_parallel_size": split.tensor}
    if split.pipeline > 1:
        found["pipeline_parallel_size"] = split.pipeline
    if split.expert:
        found["enable_expert_parallel"] = True
    found["gpu_memory_utilization"] = args.gpu_memory_utilization
    if args.max_model_len is not None:
        found["max_model_len"] = args.max_model_len
    if args.kv_cache_dtype != "auto":
        found["kv_cache_dtype"] = args.kv_cache_dtype
    if decided.spans_nodes:
        found |= dict.fromkeys(_waits(version_of(decided.vllm_version)), launch.timeouts.distributed)
    return {**found, **dict(_of_words(launch.loading_arguments)), **args.engine_arguments}


def _waits(version: Version) -> Iterator[str]:
    """Return what tells ranks how long to wait for one another, as far as this vLLM knows it."""
    for flag in ("--distributed-timeout-seconds", "--cpu-distributed-timeout-seconds"):
        if flag_table().has(flag, version):
            yield argument_of(flag)


def _of_words(words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Read flags, each with one value, as the arguments that they set."""
    for flag, value in zip(words[::2], words[1::2], strict=True):
        yield argument_of(flag), json.loads(value) if value.startswith("{") else value


def argument_of(flag: str) -> str:
    """Return the argument that a flag sets."""
    return flag.removeprefix("--").replace("-", "_")


def _deployment(decided: Decided, args: RayServiceVllmArgs, per_copy: int, requests: int) -> Mapping[str, Any]:
    """Return the options of a deployment of Serve that has so many replicas for each copy."""
    least, most = args.min_copies * per_copy, args.most_copies * per_copy
    # Streams run through both, so both wait for them.
    drained = {"graceful_shutdown_timeout_s": args.drain_seconds}
    if least == most:
        return {"num_replicas": least, **drained}
    autoscaling = {
        "min_replicas": least,
        "max_replicas": most,
        # Ray's own default for models is never reached.
        "target_ongoing_requests": requests,
        # A copy takes that long to come back.
        "downscale_delay_s": decided.launch.timeouts.start,
    }
    return {"autoscaling_config": autoscaling, **drained}
