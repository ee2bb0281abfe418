"""What a stack file may say of Kueue: who may use how much of which pool, in which order, and how Kueue is set.

Flavors, quota of everything that pods request, and local queues follow from the pools and from this.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from pulumi_lws.declarations import Count, Declaration, DnsLabel, NamespaceName, PositiveCount, Whole
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import invalid

Minutes = Annotated[PositiveCount, Field(le=10_080)]
"""Minutes, at most a week."""

Weight = Annotated[float, Field(ge=0.001, le=1_000)]
"""Share of what is borrowed in a cohort, compared to the others, 0.001 to 1000."""


class PoolQuota(Declaration):
    """How much of a pool a cluster queue has. Other resources of its nodes go with the GPUs."""

    gpus: Count | None = None
    """GPUs. Default: what queues with a number leave, divided among the others by ``share``, in whole islands or
    nodes."""
    share: PositiveCount = 1
    """Its part of what is divided, compared to the others. Default 1: equal parts."""
    borrowing_gpus: Count | None = None
    """GPUs at most that it takes of others in its cohort while they do not use them. Default: all."""
    lending_gpus: Count | None = None
    """GPUs at most that others in its cohort may take while it does not use them. Default: all."""


class Preemption(Declaration):
    """Which running workloads go for one that waits. Each has to load its model again, so by default none does."""

    within_cluster_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = "Never"
    """Workloads of the same cluster queue. Default Never."""
    reclaim_within_cohort: Literal["Never", "LowerPriority", "Any"] = "Never"
    """Workloads of other cluster queues that run on quota borrowed from this one. Default Never: what was lent comes
    back once they end or are scaled down."""
    borrow_within_cohort: Literal["Never", "LowerPriority"] = "Never"
    """Workloads of other cluster queues, for one that would itself borrow; not with fair sharing. Default Never."""


class ClusterQueue(Declaration):
    """Quota on pools for the workloads of some namespaces, each of which gets a local queue."""

    pools: Annotated[Mapping[DnsLabel, PoolQuota], Field(min_length=1, max_length=64)]
    """How much of which pools, by their names; an empty mapping for a part equal to the others'."""
    namespaces: Annotated[tuple[NamespaceName, ...], Field(min_length=1)]
    """Namespaces that may use it; each gets a local queue of the name that deployments give as ``queue``."""
    local_queue: DnsLabel | None = None
    """Name of its local queues. Default: its own."""
    cohort: DnsLabel | None = None
    """Cohort under ``cohorts``, whose cluster queues lend each other what they do not use. Default none."""
    strategy: Literal["BestEffortFIFO", "StrictFIFO"] = "BestEffortFIFO"
    """Whether the first workload holds up those behind it while it does not fit: ``StrictFIFO``. Default
    BestEffortFIFO."""
    preemption: Preemption = Preemption()
    """Which running workloads go for one that waits. Default none."""
    weight: Weight | None = None
    """Its weight in fair sharing. Default 1."""
    stop: Literal["None", "Hold", "HoldAndDrain"] = "None"
    """``Hold``: nothing new is admitted. ``HoldAndDrain``: and what runs is evicted. Default None."""

    @model_validator(mode="after")
    def _limits_need_a_cohort(self) -> "ClusterQueue":
        for name, quota in self.pools.items():
            for field, gpus in (("borrowingGpus", quota.borrowing_gpus), ("lendingGpus", quota.lending_gpus)):
                if self.cohort is None and gpus is not None:
                    fix = f"Remove it, or set cohort: without one {name} is neither lent nor borrowed."
                    raise invalid("nothing, without cohort", fix, field=f"pools.{name}.{field}", found=str(gpus))
        rules = self.preemption
        if rules.borrow_within_cohort != "Never" and rules.reclaim_within_cohort == "Never":
            raise invalid(
                "Never, while reclaimWithinCohort is Never (Kueue refuses it)",
                "Set reclaimWithinCohort, or remove it.",
                field="preemption.borrowWithinCohort",
                found=repr(rules.borrow_within_cohort),
            )
        return self

    def local_queue_of(self, name: str) -> str:
        """Return the name of its local queues; ``name`` is its own."""
        return self.local_queue or name


class Cohort(Declaration):
    """Cluster queues that lend each other what they do not use."""

    parent: DnsLabel | None = None
    """Cohort whose members lend and borrow, too. Default none."""
    weight: Weight | None = None
    """Its weight in fair sharing among the members of its parent. Default 1."""


class Priority(Declaration):
    """A WorkloadPriorityClass: it orders workloads in queues, and has no say over pods."""

    value: Whole
    """Higher goes first; workloads without a class have 0."""
    description: Annotated[str, Field(max_length=2048)] = ""
    """When it is meant to be used. Default none."""


class Requeuing(Declaration):
    """When a workload that was evicted, since it was not ready in time, tries again."""

    timestamp: Literal["Eviction", "Creation"] = "Eviction"
    """Its place in the queue: by the time of the eviction, or by its own age. Default Eviction."""
    backoff_limit: Count | None = None
    """How often it tries again; then Kueue deactivates it until somebody sets ``active``. Default: for ever."""
    backoff_base_seconds: Annotated[PositiveCount, Field(le=86_400)] = 60
    """Wait before the first try, in seconds; it doubles each time. Default 60."""
    backoff_max_seconds: Annotated[PositiveCount, Field(le=86_400)] = 3600
    """Longest wait, in seconds. Default 3600."""


class WaitForPodsReady(Declaration):
    """How long an admitted workload may take to be ready before it loses its quota to others.

    Without it a group for which EC2 has no node would keep its quota for ever.
    """

    timeout_minutes: Minutes | None = None
    """From admission until all pods are ready, in minutes. Default: the longest start budget of the deployments in
    queues, and a tenth."""
    recovery_timeout_minutes: Minutes | None = None
    """From the moment when a pod stopped being ready until all are again, in minutes: a group that is recreated loads
    its model again. Default: as ``timeoutMinutes``."""
    block_admission: bool = False
    """Whether nothing is admitted while a workload starts. Default false."""
    requeuing: Requeuing = Requeuing()
    """When it tries again. Default: after a minute, then twice as long each time, up to an hour."""


class FairSharing(Declaration):
    """Divide what is borrowed in a cohort by weights, instead of by who came first."""

    preemption_strategies: Annotated[
        tuple[Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"], ...], Field(min_length=1, max_length=2)
    ] = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
    """Which preemptions are fair; the next is tried where the ones before find none. Default both."""


class Manager(Declaration):
    """How Kueue itself is configured."""

    wait_for_pods_ready: WaitForPodsReady = WaitForPodsReady()
    """How long an admitted workload may take to be ready. Default: as long as deployments need."""
    fair_sharing: FairSharing | None = None
    """Divide what is borrowed by weights. Default: by who came first."""
    namespaces: tuple[NamespaceName, ...] = ()
    """Further namespaces whose pods, Deployments and StatefulSets Kueue may hold. Default: those with queues."""


def _no_default(queues: Mapping[str, ClusterQueue]) -> Mapping[str, ClusterQueue]:
    for name, queue in queues.items():
        if queue.local_queue_of(name) == "default":
            raise invalid(
                "a local queue of another name: Kueue puts everything in the namespace that names no queue into one"
                " called default, routers and jobs, too",
                "Choose another name, or set localQueue.",
                found=f"{name}, with a local queue default",
            )
    return queues


class Queues(Declaration):
    """Queues before pools. Deployments join one by its name; Kueue starts each copy once there is quota for all of it.

    Kueue itself is an add-on.
    """

    cluster_queues: Annotated[Mapping[DnsLabel, ClusterQueue], Field(min_length=1), AfterValidator(_no_default)]
    """Cluster queues by name."""
    cohorts: Mapping[DnsLabel, Cohort] = {}
    """Cohorts by name. Default none."""
    priorities: Mapping[DnsLabel, Priority] = {}
    """Priority classes by name. Default none."""
    topology_aware: tuple[DnsLabel, ...] = ()
    """Pools of static islands on which Kueue places groups by topology; deployments on them that are in a queue set
    ``placement: topology-aware``. Default none: LWS keeps an island for each group."""
    manager: Manager = Manager()
    """How Kueue itself is configured. Default: time-outs follow from the deployments."""

    @property
    def namespaces(self) -> list[str]:
        """Namespaces that have a local queue, each once."""
        return sorted({name for queue in self.cluster_queues.values() for name in queue.namespaces})

    def queue_for(self, namespace: str, local_queue: str | None) -> str | None:
        """Return the cluster queue behind a local queue of a namespace; None where there is none."""
        for name, queue in self.cluster_queues.items():
            if namespace in queue.namespaces and queue.local_queue_of(name) == local_queue:
                return name
        return None


class KueueQueuesArgs(Queues):
    """Arguments of the component ``KueueQueues``."""

    pools: Mapping[DnsLabel, GpuPool]
    """The pools that cluster queues may name."""


def queues_args(queues: Queues, pools: Mapping[str, GpuPool]) -> KueueQueuesArgs:
    """Return the arguments of the component for the queues of a stack file."""
    fields: dict[str, Any] = {field: getattr(queues, field) for field in Queues.model_fields}
    return KueueQueuesArgs(**fields, pools=pools)
