"""Whether a deployment can run on its pool, decided before anything is applied."""

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.judging import judge
from pulumi_lws.serving.manifests import multi_node_vllm
from pulumi_lws.serving.settings import MultiNodeVllmArgs
from pulumi_lws.workloads.manifests import leader_worker_set


def check(args: MultiNodeVllmArgs) -> list[Problem]:
    """Return what keeps the deployment from running on its pool. Paths start at the deployment."""
    return _split(args) or [*_islands(args), *_workload(args)]


def _workload(args: MultiNodeVllmArgs) -> list[Problem]:
    """Return what is wrong with the LeaderWorkerSet, such as a name too long for its labels."""
    groups = multi_node_vllm(args).leader_worker_set
    return judge(leader_worker_set(groups), groups.target)


def _split(args: MultiNodeVllmArgs) -> list[Problem]:
    """Judge the split of one copy over whole nodes."""
    split, per_node, instance = args.parallelism, args.pool.instance.gpus, args.pool.instance_type
    problems: list[Problem] = []
    if per_node % split.tensor:
        divisors = [n for n in range(1, per_node + 1) if per_node % n == 0]
        problems.append(
            Problem(
                "parallelism.tensor",
                str(split.tensor),
                f"{', '.join(map(str, divisors))} ({instance} has {per_node} GPUs)",
                "Keep tensor parallelism inside a node, and span nodes with parallelism.pipeline.",
            )
        )
    elif split.gpus <= per_node:
        problems.append(
            Problem(
                "parallelism.pipeline",
                f"{split.pipeline}: {split.gpus} GPUs for one copy",
                f"more than {per_node // split.tensor}, for more than the {per_node} GPUs of one {instance}",
                "Raise it; a model that fits one node needs no LeaderWorkerSet, a Deployment serves it.",
            )
        )
    elif split.gpus % per_node:
        step = per_node // split.tensor
        lower = split.pipeline // step * step
        problems.append(
            Problem(
                "parallelism.pipeline",
                f"{split.pipeline}: {split.gpus} GPUs for one copy",
                f"a multiple of {step}, for whole nodes of {per_node} GPUs",
                f"Write {f'{lower} or ' if lower > step else ''}{lower + step}.",
            )
        )
    return problems


def _islands(args: MultiNodeVllmArgs) -> list[Problem]:
    """Judge whether every group gets an island of its own that holds it whole."""
    pool, pool_name = args.pool, args.pool_name
    nodes = args.parallelism.nodes(pool.instance.gpus)
    problems: list[Problem] = []
    if pool.islands == 0:
        fix = f"Set pools.{pool_name}.islands to {max(args.replicas, 1)} and nodesPerIsland to {nodes}."
        return [Problem("pool", f"{pool_name}, a plain pool", "a pool with islands", fix)]
    if pool.nodes_per_island != nodes:
        too_small = pool.nodes_per_island < nodes
        problems.append(
            Problem(
                "pool",
                f"{pool_name}, with {pool.nodes_per_island} nodes per island",
                f"islands of {nodes} nodes: one group has {nodes}",
                f"Set pools.{pool_name}.nodesPerIsland to {nodes}."
                + ("" if too_small else " An island belongs to one group: its other nodes stay idle."),
                Severity.ERROR if too_small else Severity.WARNING,
            )
        )
    if args.replicas > pool.islands:
        problems.append(
            Problem(
                "replicas",
                str(args.replicas),
                f"at most {pool.islands}: {pool_name} has {pool.islands} islands and each holds one group",
                f"Lower replicas, or raise pools.{pool_name}.islands.",
            )
        )
    return problems
