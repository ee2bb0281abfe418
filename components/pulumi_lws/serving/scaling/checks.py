"""Whether an autoscaler can do what was declared."""

from typing import Literal

from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.parallelism import GroupShape
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.engines.engine import RoleName
from pulumi_lws.serving.scaling.manifests import LOADS, thresholds
from pulumi_lws.serving.scaling.settings import Autoscaling

_FIELDS = {"waiting_requests": "waitingRequests", "kv_cache_usage": "kvCacheUsage"}


def scaling_problems(
    settings: Autoscaling,
    *,
    engine: Literal["vllm", "sglang", "custom"],
    role: RoleName,
    capacity: int,
    shape: GroupShape,
    pool: GpuPool,
    replicas: int,
    starts_with_one: bool = False,
) -> list[Problem]:
    """Return what is wrong with the autoscaling of one role; paths start at the role's settings.

    Args:
        settings: What was declared.
        engine: Kind of the engine.
        role: What the role does.
        capacity: Copies of the role that its pool holds beside its other deployments.
        shape: How one copy lies on pods.
        pool: The pool of the role.
        replicas: Copies to start with.
        starts_with_one: Whether the role has a scaler of its own, which starts with one copy.
    """
    found = []
    if settings.max_replicas > capacity:
        found.append(_too_many(settings, capacity, shape, pool))
    if not settings.min_replicas <= replicas <= settings.max_replicas:
        found.append(
            Problem(
                "replicas",
                str(replicas),
                f"{settings.min_replicas} to {settings.max_replicas}, the bounds of the autoscaler",
                f"Set replicas to {min(max(replicas, settings.min_replicas), settings.max_replicas)}.",
            )
        )
    elif starts_with_one and replicas > 1:
        found.append(
            Problem(
                "replicas",
                str(replicas),
                "1 with an autoscaler: a role of a DisaggregatedSet starts with one copy",
                f"Set replicas to 1, and autoscaling.minReplicas to {replicas} if so many must serve at any time.",
                Severity.WARNING,
            )
        )
    if engine == "custom":
        found.append(
            Problem(
                "autoscaling",
                "an autoscaler for a custom engine",
                "null: the metrics of the engine are not known",
                "Set autoscaling to null, and make an autoscaler of your own with targets of the type AverageValue.",
            )
        )
    elif not thresholds(settings, role):
        (field,) = (_FIELDS[load] for load in LOADS[role])
        found.append(
            Problem(
                f"autoscaling.{field}",
                "nothing",
                f"a threshold: it alone tells the load of {role}",
                f"Set {field}.",
            )
        )
    return found


def _too_many(settings: Autoscaling, capacity: int, shape: GroupShape, pool: GpuPool) -> Problem:
    gpus = shape.size * shape.gpus_per_pod
    nodes = f"{counted(pool.most_nodes, 'node')} of {counted(pool.instance.gpus, 'GPU')}"
    if capacity:
        allowed = f"{capacity} or less: the pool has {nodes}"
        fix = f"Lower maxReplicas to {capacity}, or enlarge the pool."
    else:
        allowed, fix = f"a pool with room for one: it has {nodes}", "Enlarge the pool, or name another."
    return Problem(
        "autoscaling.maxReplicas",
        f"{settings.max_replicas} copies of {gpus} GPUs each ({settings.max_replicas * gpus} GPUs)",
        allowed,
        fix,
    )
