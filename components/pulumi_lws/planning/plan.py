"""What a plan says: plain data that every picture of it is drawn from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from pulumi_lws.planning.memory import GpuMemory
from pulumi_lws.planning.parallelism import GroupShape, Parallelism
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.times import StartTimes

RAY = "ray"
"""Role of the workers of Ray. They are no copies: several may serve one copy of a model, and one several."""


@dataclass(frozen=True)
class Pool:
    """A pool of equal nodes. Nodes are numbered through; those of an island follow one another.

    Attributes:
        name: Its name.
        instance_type: EC2 instance type of every node.
        gpu: Product name of the GPUs.
        gpus_per_node: GPUs of a node.
        efa_per_node: EFA interfaces of a node.
        vcpus_per_node: Virtual CPUs of a node.
        nodes: Nodes that it can have at once.
        islands: Islands; 0 for a plain pool.
        nodes_per_island: Nodes of one island; 1 in a plain pool.
        is_static: Whether the nodes are there before the pods are.
        on_demand_nodes: Nodes, the first ones, that count against the quota of instances on demand; None for all.
        node_lifetime_hours: Age at which a node is taken away; None where its age does not matter.
        ends: When all nodes are taken away, as somebody wrote it; None where no end is known.
    """

    name: str
    instance_type: str
    gpu: str
    gpus_per_node: int
    efa_per_node: int
    vcpus_per_node: int
    nodes: int
    islands: int = 0
    nodes_per_island: int = 1
    is_static: bool = False
    on_demand_nodes: int | None = None
    node_lifetime_hours: int | None = None
    ends: str | None = None

    @property
    def gpus(self) -> int:
        """GPUs that it can have at once."""
        return self.nodes * self.gpus_per_node

    def efa(self, gpus: int) -> int:
        """Return the EFA interfaces of a pod with so many GPUs: its share of the node's."""
        return self.efa_per_node * gpus // self.gpus_per_node

    def island_of(self, node: int) -> str | None:
        """Return the island of a node, as its label says it; None in a plain pool."""
        return f"{self.name}-{node // self.nodes_per_island}" if self.islands else None

    def node_name(self, node: int) -> str:
        """Return a name for a node that does not exist yet: ``p5-0/1`` on an island, ``small/3`` in a plain pool."""
        if island := self.island_of(node):
            return f"{island}/{node % self.nodes_per_island}"
        return f"{self.name}/{node}"


@dataclass(frozen=True)
class Pod:
    """Where a pod runs. Which GPUs of its node it gets is the device plugin's choice; numbers are for the picture.

    Attributes:
        node: Number of its node in the pool.
        first_gpu: Number of its first GPU on the node.
        gpus: Its GPUs.
        efa: Its EFA interfaces.
    """

    node: int
    first_gpu: int
    gpus: int
    efa: int

    @property
    def gpu_numbers(self) -> range:
        """Numbers of its GPUs on the node."""
        return range(self.first_gpu, self.first_gpu + self.gpus)


@dataclass(frozen=True)
class Group:
    """One copy of a model, or one worker of Ray.

    Attributes:
        index: Its number in its role, from 0.
        pods: Its pods, the leader first.
    """

    index: int
    pods: tuple[Pod, ...]


@dataclass(frozen=True)
class RolePlan:
    """One role of a deployment on its pool.

    Attributes:
        name: Name of the deployment.
        role: serve, prefill or decode; ``RAY`` for the workers of something on Ray.
        pool: Name of its pool.
        replicas: Copies, or workers.
        max_replicas: The same at most, where an autoscaler may add some.
        parallelism: Split of one copy of the model; None where no model is declared.
        shape: How one copy, or worker, lies on pods.
        groups: The copies, or workers, that have a place.
        memory: Memory of its GPUs; None where the model's sizes are not known.
        times: How long it takes to start; None where the model's sizes are not known.
    """

    name: str
    role: str
    pool: str
    replicas: int
    max_replicas: int
    parallelism: Parallelism | None
    shape: GroupShape
    groups: tuple[Group, ...] = ()
    memory: GpuMemory | None = None
    times: StartTimes | None = None

    @property
    def gpus_per_group(self) -> int:
        """GPUs of one copy."""
        return self.shape.size * self.shape.gpus_per_pod


@dataclass(frozen=True)
class Headroom:
    """Room for a rollout, in GPUs. A group on an island needs the whole island.

    Attributes:
        pool: Name of the pool.
        needed_gpus: GPUs of the copies that one rollout adds at once.
        available_gpus: GPUs that nothing uses.
    """

    pool: str
    needed_gpus: int
    available_gpus: int


@dataclass(frozen=True)
class QuotaUse:
    """What the nodes take of a quota of the account, of instances on demand.

    Attributes:
        family: Family of instances.
        name: Name of the quota.
        code: Its code in Service Quotas.
        used_vcpus: vCPUs of the nodes that have pods when every autoscaler is at its most.
        most_vcpus: vCPUs of the nodes that the pools can have.
        limit_vcpus: The quota; None where nobody said.
    """

    family: str
    name: str
    code: str
    used_vcpus: int
    most_vcpus: int
    limit_vcpus: int | None = None


@dataclass(frozen=True)
class Risk:
    """Something that may happen to a plan that is right.

    Attributes:
        subject: What it happens to, such as ``pools.p5``.
        what: What may happen.
        remedy: What to do about it.
    """

    subject: str
    what: str
    remedy: str


@dataclass(frozen=True)
class Plan:
    """Everything that ``lws plan`` shows.

    Attributes:
        stack: Name of the stack or the deployment.
        pools: The pools.
        roles: The roles of all deployments.
        headroom: Room for rollouts, by pool.
        quotas: Quotas of the account that the nodes take.
        risks: What may happen all the same.
        problems: What is wrong.
    """

    stack: str
    pools: tuple[Pool, ...] = ()
    roles: tuple[RolePlan, ...] = ()
    headroom: tuple[Headroom, ...] = ()
    quotas: tuple[QuotaUse, ...] = ()
    risks: tuple[Risk, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def is_applicable(self) -> bool:
        """Whether no problem forbids applying it."""
        return not self.count(Severity.ERROR)

    @property
    def gpus(self) -> int:
        """GPUs of all pools."""
        return sum(pool.gpus for pool in self.pools)

    def count(self, severity: Severity) -> int:
        """Return how many problems are that bad."""
        return sum(problem.severity is severity for problem in self.problems)

    def used_gpus(self, pool: str | None = None) -> int:
        """Return the GPUs that pods have, on one pool or all."""
        return sum(pod.gpus for _, _, pod in self.pods(pool))

    def pods(self, pool: str | None = None) -> Iterator[tuple[RolePlan, Group, Pod]]:
        """Yield every pod of one pool or all, with its group and its role."""
        for role in self.roles if pool is None else self._roles_by_pool.get(pool, ()):
            for group in role.groups:
                for pod in group.pods:
                    yield role, group, pod

    @cached_property
    def _roles_by_pool(self) -> dict[str, list[RolePlan]]:
        by_pool: dict[str, list[RolePlan]] = {}
        for role in self.roles:
            by_pool.setdefault(role.pool, []).append(role)
        return by_pool

    def only(self, names: frozenset[str]) -> "Plan":
        """Return what concerns some deployments: their pools with all that shares them, and what is wrong with them."""
        pools = {role.pool for role in self.roles if role.name in names}
        return replace(
            self,
            pools=tuple(pool for pool in self.pools if pool.name in pools),
            roles=tuple(role for role in self.roles if role.pool in pools),
            headroom=tuple(each for each in self.headroom if each.pool in pools),
            risks=tuple(each for each in self.risks if _concerns(each.subject, names)),
            problems=tuple(each for each in self.problems if _concerns(each.path, names)),
        )


def _concerns(path: str, names: frozenset[str]) -> bool:
    """Tell whether a path stands below one of the deployments, or below none."""
    section, *rest = path.split(".")
    return section not in {"deployments", "ray"} or not rest or rest[0] in names
