"""Whether queues can work: by themselves, and for the deployments that join them."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.nodes.taints import tolerations_of
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.queues.joining import joining_problems
from pulumi_lws.queues.manager import NEVER_MANAGED, longest_start
from pulumi_lws.queues.quota import Quotas
from pulumi_lws.queues.settings import Queues
from pulumi_lws.serving.settings import DeploymentArgs

_MOST_TOLERATIONS = 8
"""Tolerations of a ResourceFlavor at most (its CRD)."""


def queue_problems(
    queues: Queues,
    pools: Mapping[str, GpuPool],
    deployments: Mapping[str, DeploymentArgs],
    namespaces: Collection[str],
    gang_scheduler: str | None = None,
) -> list[Problem]:
    """Return what keeps queues and deployments from working together. Paths start at the platform.

    Args:
        queues: The queues.
        pools: The pools of the platform.
        deployments: Its deployments, which are sound by themselves.
        namespaces: Namespaces that exist before the queues.
        gang_scheduler: What LWS makes PodGroups for, if anything.
    """
    own = [*declaration_problems(queues, pools), *_namespaces(queues, namespaces), *_timeouts(queues, deployments)]
    found = [problem.below("queues") for problem in own]
    if gang_scheduler is not None and any(args.queue is not None for args in deployments.values()):
        found.append(
            Problem(
                "addOns.lws.gangScheduler",
                gang_scheduler,
                "nothing beside queues: Kueue and the other would each hold back pods that the other let go",
                "Remove it, or remove queue from the deployments.",
            )
        )
    return [*found, *joining_problems(queues, Quotas(queues, pools), deployments)]


def declaration_problems(queues: Queues, pools: Mapping[str, GpuPool]) -> list[Problem]:
    """Return what is wrong with queues before anybody joins them. Paths start at the queues."""
    return [
        *_pools(queues, pools),
        *_quotas(queues, pools),
        *_cohorts(queues),
        *_local_queues(queues),
        *_topologies(queues, pools),
        *_fairness(queues),
    ]


def _pools(queues: Queues, pools: Mapping[str, GpuPool]) -> Iterator[Problem]:
    used: dict[str, None] = {}
    for name, queue in queues.cluster_queues.items():
        for pool in queue.pools:
            used[pool] = None
            if pool not in pools:
                allowed = ", ".join(pools) or "none is declared"
                fix = "Name a pool of this stack, or declare it under pools."
                yield Problem(f"clusterQueues.{name}.pools.{pool}", pool, allowed, fix)
    for pool in used:
        if pool in pools and len(tolerations := tolerations_of(pools[pool])) > _MOST_TOLERATIONS:
            yield Problem(
                "clusterQueues",
                f"pool {pool}, whose taints need {len(tolerations)} tolerations",
                f"at most {_MOST_TOLERATIONS}: a flavor of Kueue takes no more",
                f"Remove taints of pools.{pool}.",
            )


def _quotas(queues: Queues, pools: Mapping[str, GpuPool]) -> Iterator[Problem]:
    """Judge numbers that were declared: more than a pool has, or lent than there is."""
    quotas = Quotas(queues, pools)
    for pool, shares in quotas.gpus.items():
        declared = [name for name in shares if queues.cluster_queues[name].pools[pool].gpus is not None]
        stated, has = sum(shares[name] for name in declared), pools[pool].gpus
        if stated > has:
            yield Problem(
                f"clusterQueues.{declared[-1]}.pools.{pool}.gpus",
                f"{stated} GPUs of {pool} for {', '.join(declared)} together",
                f"at most the {has} that {pool} can have: what is admitted beyond waits for nodes that never come",
                f"Lower gpus to {has} together, or enlarge pools.{pool}.",
            )
        for name, gpus in shares.items():
            lending = queues.cluster_queues[name].pools[pool].lending_gpus
            if lending is not None and lending > gpus:
                path = f"clusterQueues.{name}.pools.{pool}.lendingGpus"
                allowed = f"at most the {gpus} GPUs of {pool} that {name} has"
                yield Problem(path, str(lending), allowed, f"Lower it to {gpus}, or remove it.")


def _cohorts(queues: Queues) -> Iterator[Problem]:
    names = ", ".join(queues.cohorts) or "none is declared"
    fix = "Name a cohort, or declare it under cohorts; an empty mapping will do."
    for name, queue in queues.cluster_queues.items():
        if queue.cohort is not None and queue.cohort not in queues.cohorts:
            yield Problem(f"clusterQueues.{name}.cohort", queue.cohort, names, fix)
    for name, cohort in queues.cohorts.items():
        if cohort.parent is not None and cohort.parent not in queues.cohorts:
            yield Problem(f"cohorts.{name}.parent", cohort.parent, names, fix)
        elif name in (line := _ancestors(queues, name)):
            yield Problem(
                f"cohorts.{name}.parent",
                f"{cohort.parent}, whose own parents lead back: {' → '.join([name, *line])}",
                "a line of parents that ends: Kueue admits nothing in a circle",
                "Remove one parent of the circle.",
            )


def _ancestors(queues: Queues, name: str) -> list[str]:
    """Return the parents of a cohort, from the nearest on; the last one closes a circle, if there is one."""
    line: list[str] = []
    while (cohort := queues.cohorts.get(line[-1] if line else name)) is not None and cohort.parent is not None:
        line.append(cohort.parent)
        if cohort.parent in {name, *line[:-1]}:
            break
    return line


def _local_queues(queues: Queues) -> Iterator[Problem]:
    count = Counter(
        (namespace, queue.local_queue_of(name))
        for name, queue in queues.cluster_queues.items()
        for namespace in dict.fromkeys(queue.namespaces)
    )
    for name, queue in queues.cluster_queues.items():
        local = queue.local_queue_of(name)
        for index, namespace in enumerate(queue.namespaces):
            path = f"clusterQueues.{name}.namespaces[{index}]"
            if namespace in NEVER_MANAGED:
                allowed = f"a namespace other than {' and '.join(NEVER_MANAGED)}, which Kueue does not hold up"
                yield Problem(path, namespace, allowed, "Remove it.")
            elif namespace in queue.namespaces[:index]:
                yield Problem(path, f"{namespace} a second time", "each namespace once", "Remove it.")
            elif count[namespace, local] > 1 and queues.queue_for(namespace, local) != name:
                first = queues.queue_for(namespace, local)
                yield Problem(
                    path,
                    f"a local queue {local} in {namespace}, which {first} has too",
                    "local queues with names of their own in each namespace",
                    f"Set localQueue of {name} or {first}, or remove {namespace} from one of them.",
                )


def _topologies(queues: Queues, pools: Mapping[str, GpuPool]) -> Iterator[Problem]:
    for index, name in enumerate(queues.topology_aware):
        path, pool = f"topologyAware[{index}]", pools.get(name)
        if pool is None:
            fix = "Name a pool of this stack."
            yield Problem(path, name, ", ".join(pools) or "none is declared", fix)
        elif not pool.islands:
            fix = f"Remove it, or give pools.{name} islands."
            yield Problem(path, f"{name}, a plain pool", "a pool with islands: a node is no topology", fix)
        elif not pool.is_static:
            yield Problem(
                path,
                f"{name}, a dynamic pool",
                "a static pool: Kueue counts only nodes that exist, so nothing is admitted and no node is made",
                f"Remove it, or set pools.{name}.static to true, and pay for its nodes at all times.",
            )


def _fairness(queues: Queues) -> Iterator[Problem]:
    fair = queues.manager.fair_sharing is not None
    weights = {f"clusterQueues.{name}": queue.weight for name, queue in queues.cluster_queues.items()}
    weights |= {f"cohorts.{name}": cohort.weight for name, cohort in queues.cohorts.items()}
    for path, weight in weights.items():
        if weight is not None and not fair:
            allowed = "nothing: without fair sharing nobody reads it"
            fix = "Remove it, or set manager.fairSharing; an empty mapping will do."
            yield Problem(f"{path}.weight", f"{weight:g}", allowed, fix, Severity.WARNING)
    for name, queue in queues.cluster_queues.items():
        if fair and (policy := queue.preemption.borrow_within_cohort) != "Never":
            path, allowed = f"clusterQueues.{name}.preemption.borrowWithinCohort", "Never, with manager.fairSharing"
            yield Problem(path, policy, f"{allowed}, whose strategies decide that", "Remove it.")


def _namespaces(queues: Queues, namespaces: Collection[str]) -> Iterator[Problem]:
    for name, queue in queues.cluster_queues.items():
        for index, namespace in enumerate(queue.namespaces):
            if namespace not in namespaces and namespace not in NEVER_MANAGED:
                allowed = ", ".join(namespaces)
                fix = "Name one of these, or declare a team with it."
                yield Problem(f"clusterQueues.{name}.namespaces[{index}]", namespace, allowed, fix)


def _timeouts(queues: Queues, deployments: Mapping[str, DeploymentArgs]) -> Iterator[Problem]:
    """Judge time-outs that evict groups while they load, again and again."""
    budget, ready = longest_start(deployments.values()), queues.manager.wait_for_pods_ready
    slowest = [name for name, args in deployments.items() if args.queue and args.start_budget_minutes == budget]
    declared = {"timeoutMinutes": ready.timeout_minutes, "recoveryTimeoutMinutes": ready.recovery_timeout_minutes}
    for field, minutes in declared.items():
        if slowest and minutes is not None and minutes <= budget:
            yield Problem(
                f"manager.waitForPodsReady.{field}",
                f"{minutes} minutes",
                f"more than {budget}, the startBudgetMinutes of {', '.join(slowest)}: Kueue would evict groups while"
                " they load, and again when they are back",
                "Remove it: it follows from the start budgets.",
            )
