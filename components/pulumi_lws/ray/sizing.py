"""What something on Ray wants of its pool, how its model lies on the GPUs of its workers, and what may happen to it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pulumi_lws.facts.models import ModelArchitecture
from pulumi_lws.planning.architectures import architecture_of
from pulumi_lws.planning.memory import memory_per_gpu
from pulumi_lws.planning.packing import Demand
from pulumi_lws.planning.parallelism import GroupShape
from pulumi_lws.planning.plan import RAY, Group, Risk, RolePlan
from pulumi_lws.planning.times import Start, start_times
from pulumi_lws.ray.deciding import Decided
from pulumi_lws.ray.settings import RayArgs, RayServiceVllmArgs
from pulumi_lws.ray.upgrades import workers_on_top
from pulumi_lws.serving.sources.loading import way_of
from pulumi_lws.serving.sources.settings import HuggingFaceSource

_GB = 10**9


def demand_of(path: str, decided: Decided) -> Demand:
    """Return what the workers want of their pool: a whole node each. The head has no GPU, and wants nothing of it.

    Args:
        path: Where the settings stand, such as ``ray.llama``.
        decided: Something on Ray.
    """
    args, gpus = decided.args, decided.pool.instance.gpus
    surge = 0
    if isinstance(args, RayServiceVllmArgs):
        surge = workers_on_top(args.upgrade, decided.least, decided.most)
    return Demand(
        name=args.name,
        role=RAY,
        path=path,
        pool_name=args.pool,
        replicas=decided.least,
        max_replicas=decided.most,
        shape=GroupShape(1, gpus, gpus),
        surge=surge,
    )


def role_plan(decided: Decided, demand: Demand, groups: tuple[Group, ...]) -> RolePlan:
    """Return the workers as a plan shows them; of a pool nobody knows what will run on it.

    Args:
        decided: Something on Ray.
        demand: What it wants of its pool.
        groups: The workers that have a place.
    """
    args = decided.args
    plan = RolePlan(
        name=demand.name,
        role=demand.role,
        pool=demand.pool_name,
        replicas=demand.replicas,
        max_replicas=demand.max_replicas,
        parallelism=None,
        shape=demand.shape,
        groups=groups,
    )
    if not isinstance(args, RayServiceVllmArgs):
        return plan
    plan = replace(plan, parallelism=args.parallelism)
    architecture = architecture_of(args.architecture, args.model)
    if not isinstance(architecture, ModelArchitecture):
        return plan
    return replace(
        plan,
        memory=memory_per_gpu(architecture, args.parallelism, **memory_conditions(decided, args)),
        times=start_times(start_of(decided, args, architecture)),
    )


def memory_conditions(decided: Decided, args: RayServiceVllmArgs) -> dict[str, Any]:
    """Return what the memory of a GPU depends on, beside the model and its split."""
    return {
        "gpu_memory_mib": decided.pool.instance.gpu_memory_mib,
        "utilization": args.gpu_memory_utilization,
        "kv_cache_dtype": args.kv_cache_dtype,
        "max_model_len": args.max_model_len,
    }


def start_of(decided: Decided, args: RayServiceVllmArgs, architecture: ModelArchitecture) -> Start:
    """Return what the start of a copy depends on. Images of Ray are not pulled beforehand."""
    return Start(
        weights_gb=architecture.weight_bytes / _GB,
        way=way_of(args.source, args.model),
        nodes_are_there=decided.pool.is_static,
        downloads_stay=isinstance(args.source, HuggingFaceSource) and args.source.path is not None,
        next_finds_kernels=args.compile_cache.kind == "claim",
        budget_minutes=args.start_budget_minutes,
    )


def ray_risks(path: str, args: RayArgs) -> Iterator[Risk]:
    """Yield what may happen to something on Ray that is right.

    Args:
        path: Where the settings stand.
        args: What was declared.
    """
    if args.fault_tolerance is None:
        yield Risk(
            path,
            "all workers start over with its head: what runs ends, and is back a whole start later.",
            "Set faultTolerance, with a Redis that outlives a node.",
        )
    if isinstance(args, RayServiceVllmArgs) and args.min_copies == 1:
        low = " while the load is low" if args.most_copies > 1 else ""
        update = ", and so is each update" if args.upgrade.kind == "none" else ""
        yield Risk(
            path,
            f"one copy{low}: a drain of one of its nodes is an outage as long as a start{update}.",
            "Set minCopies to 2.",
        )
