"""Whether a role's pool is of the right kind and holds its copies."""

from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import MultiNodeVllmArgs, gpus_of_copy


def pool_problems(role: Role) -> list[Problem]:
    """Return what a pool lacks for the copies of a role; paths start at the role's settings."""
    if role.is_deployment and role.shape.size > 1:
        return [_too_large_for_a_deployment(role)]
    if isinstance(role.deployment, MultiNodeVllmArgs) and role.shape.size == 1:
        return [_too_small_for_groups(role)]
    kind = _islands(role) if role.is_on_islands else _plain(role)
    return [*kind, *_copies(role), *_surge(role)]


def _too_large_for_a_deployment(role: Role) -> Problem:
    per_node = role.pool.instance.gpus
    return Problem(
        "parallelism",
        f"{role.settings.parallelism}: {role.settings.parallelism.gpus} GPUs for one copy",
        f"at most the {per_node} GPUs of one {role.pool.instance_type}",
        "Lower it, or declare a multi-node-vllm on a pool with islands.",
    )


def _too_small_for_groups(role: Role) -> Problem:
    per_node = role.pool.instance.gpus
    return Problem(
        "parallelism",
        f"{role.settings.parallelism}: {role.settings.parallelism.gpus} GPUs for one copy",
        f"more than the {per_node} GPUs of one {role.pool.instance_type}",
        "Declare kind single-node-vllm: a copy that fits one node needs no LeaderWorkerSet, a Deployment serves it.",
    )


def dedication_problems(role: Role) -> list[Problem]:
    """Return whether the pool is kept for another role: its taint would keep the pods away for ever."""
    kept_for, name = role.pool.role, role.settings.pool
    if kept_for in {None, role.name}:
        return []
    fix = f"Name another pool, or remove pools.{name}.role."
    return [Problem("pool", f"{name}, a pool for {kept_for}", f"a pool for {role.name}, or for any role", fix)]


def _islands(role: Role) -> list[Problem]:
    """Judge whether every group gets an island of its own that holds it whole."""
    pool, name, nodes = role.pool, role.settings.pool, role.shape.size
    if pool.islands == 0:
        fix = f"Set pools.{name}.islands to {max(role.settings.most_replicas, 1)} and nodesPerIsland to {nodes}"
        fix += ", and remove its nodes." if pool.nodes else "."
        return [Problem("pool", f"{name}, a plain pool", "a pool with islands", fix)]
    if pool.nodes_per_island == nodes:
        return []
    too_small = pool.nodes_per_island < nodes
    return [
        Problem(
            "pool",
            f"{name}, with {counted(pool.nodes_per_island, 'node')} per island",
            f"islands of {nodes} nodes: one group has {nodes}",
            f"Set pools.{name}.nodesPerIsland to {nodes}."
            + ("" if too_small else " An island belongs to one group: its other nodes stay idle."),
            Severity.ERROR if too_small else Severity.WARNING,
        )
    ]


def _plain(role: Role) -> list[Problem]:
    """Judge whether pods that need one node or less run on a plain pool."""
    pool, name = role.pool, role.settings.pool
    needed = -(-max(role.settings.most_replicas, 1) // role.shape.pods_per_node)
    if pool.islands:
        fix = f"Name another pool, or remove islands and nodesPerIsland of pools.{name} and set its nodes to {needed}."
        found = f"{name}, a pool with islands"
        return [Problem("pool", found, "a plain pool: a copy has one pod and needs no island", fix)]
    if pool.nodes == 0:
        return [Problem("pool", f"{name}, without nodes", "a pool with nodes", f"Set pools.{name}.nodes to {needed}.")]
    return []


def _copies(role: Role) -> list[Problem]:
    """Judge whether the pool holds all copies of this role alone. With an autoscaler its maximum is judged there."""
    pool, name, replicas = role.pool, role.settings.pool, role.settings.replicas
    if role.settings.autoscaling is not None or replicas <= role.pool_capacity or role.pool_capacity == 0:
        return []
    if role.is_on_islands:
        allowed = f"at most {pool.islands}: {name} has {counted(pool.islands, 'island')}, each for one group"
        return [Problem("replicas", str(replicas), allowed, f"Lower replicas, or raise pools.{name}.islands.")]
    gpus, nodes = role.settings.parallelism.gpus, counted(pool.nodes, "node")
    allowed = f"at most {role.pool_capacity}: {name} has {nodes}, each with room for {role.shape.pods_per_node}"
    fix = f"Lower replicas, or raise pools.{name}.nodes."
    return [Problem("replicas", f"{replicas} copies of {gpus} GPUs", allowed, fix)]


def _surge(role: Role) -> list[Problem]:
    """Judge a surge that was asked for and that no GPUs are left for: the rollout would wait for them for ever."""
    copies = role.settings.most_replicas + role.surge
    wanted = role.others_gpus + copies * gpus_of_copy(role.settings, role.pool)
    if role.surge == 0 or wanted <= role.pool.gpus:
        return []
    return [
        Problem(
            "surge",
            f"1, which needs {wanted} GPUs of {role.settings.pool} during a rollout",
            f"0, or a pool of {wanted} GPUs: it has {role.pool.gpus}",
            f"Set surge to 0, so that one copy at a time is down, or enlarge pools.{role.settings.pool}.",
        )
    ]
