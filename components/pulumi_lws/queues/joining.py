"""Whether deployments can join the queues that they name, and whether their copies fit the quota there."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.queues.demand import copy_requests
from pulumi_lws.queues.quota import Amounts, Quotas, gpus_for, quantity, unit
from pulumi_lws.queues.settings import Queues
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import DeploymentArgs, pool_use


@dataclass(frozen=True)
class _Member:
    """A role of a deployment in a cluster queue that has its pool.

    Attributes:
        path: Where its settings stand.
        deployment: Name of the deployment.
        role: The role.
        queue: The cluster queue.
        copy: What one copy requests.
    """

    path: str
    deployment: str
    role: Role
    queue: str
    copy: Mapping[str, Fraction]

    @property
    def pool(self) -> str:
        """Name of its pool."""
        return self.role.settings.pool


def joining_problems(queues: Queues, quotas: Quotas, deployments: Mapping[str, DeploymentArgs]) -> list[Problem]:
    """Return what keeps deployments from being admitted. Paths start at the platform."""
    problems: list[Problem] = []
    members: list[_Member] = []
    for name, args in deployments.items():
        path = f"deployments.{name}"
        if args.queue is None:
            continue
        queue = queues.queue_for(args.namespace, args.queue)
        if queue is None:
            problems.append(_no_such_queue(queues, args).below(path))
            continue
        problems += [problem.below(path) for problem in _priority(queues, args)]
        roles = roles_of(args)[0]
        problems += [problem.below(path) for problem in dict.fromkeys(_placement(queues, roles))]
        for role in roles:
            if role.settings.pool in quotas.pools_of(queue):
                where = f"{path}.{role.path}" if role.path else path
                members.append(_Member(where, name, role, queue, copy_requests(role)))
            elif role.settings.pool in quotas.pools:
                problems.append(_no_such_pool(queues, queue, role).below(path))
    small = {member.path: found for member in members if (found := list(_group(quotas, member)))}
    problems += [problem for found in small.values() for problem in found]
    # Copies of which not one fits need not be counted.
    fitting = [member for member in members if member.path not in small]
    shared = dict.fromkeys((member.queue, member.pool) for member in fitting)
    for queue, pool in shared:
        there = [member for member in fitting if (member.queue, member.pool) == (queue, pool)]
        problems += [*_waiting(quotas, there), *_surge(quotas, there)]
    return [*problems, *_unqueued(quotas, deployments)]


def _no_such_queue(queues: Queues, args: DeploymentArgs) -> Problem:
    namespace = args.namespace
    there = [
        queue.local_queue_of(name) for name, queue in queues.cluster_queues.items() if namespace in queue.namespaces
    ]
    elsewhere = [name for name, queue in queues.cluster_queues.items() if queue.local_queue_of(name) == args.queue]
    allowed = f"a queue of the namespace {namespace}: {', '.join(there) or 'it has none'}"
    admit = elsewhere[0] if elsewhere else next(iter(queues.cluster_queues))
    add = f"dd {namespace} to queues.clusterQueues.{admit}.namespaces."
    fix = f"A{add}"
    if there:
        fix = f"Name one of these, or a{add}" if elsewhere else "Name one of these."
    return Problem("queue", str(args.queue), allowed, fix)


def _priority(queues: Queues, args: DeploymentArgs) -> Iterator[Problem]:
    if args.priority is not None and args.priority not in queues.priorities:
        allowed = ", ".join(queues.priorities) or "none is declared"
        yield Problem("priority", args.priority, allowed, "Name a priority, or declare it under queues.priorities.")


def _placement(queues: Queues, roles: Sequence[Role]) -> Iterator[Problem]:
    """Judge whether LWS and Kueue agree on who places the groups of a pool."""
    for role in roles:
        pool = role.settings.pool
        if not role.is_on_islands or not role.pool.is_static:
            continue
        if pool in queues.topology_aware and role.keeps_islands:
            yield Problem(
                "placement",
                f"exclusive, on {pool}, where Kueue places what it admits by topology",
                "topology-aware: where both place a group, its pods are admitted and never scheduled",
                f"Set it to topology-aware, or remove {pool} from queues.topologyAware.",
            )
        elif pool not in queues.topology_aware and not role.keeps_islands:
            allowed = f"exclusive, on {pool}: its flavor has no topology, so Kueue never admits the groups"
            fix = f"Add {pool} to queues.topologyAware, or remove placement."
            yield Problem("placement", "topology-aware", allowed, fix)


def _no_such_pool(queues: Queues, queue: str, role: Role) -> Problem:
    pool = role.settings.pool
    others = [name for name, other in queues.cluster_queues.items() if pool in other.pools]
    fix = f"Add {pool} to queues.clusterQueues.{queue}.pools"
    fix += f", or name the local queue of {' or '.join(others)}." if others else "."
    allowed = f"a queue with quota on {pool}, on which {role.workload} runs"
    return Problem("queue", f"{role.deployment.queue}, without {pool}", allowed, fix)


def _group(quotas: Quotas, member: _Member) -> Iterator[Problem]:
    """Judge whether a single copy fits; one that does not waits for ever."""
    reach = quotas.reach(member.queue, member.pool)
    path = f"deployments.{member.deployment}.queue"
    for name in member.copy:
        if name not in reach:
            yield Problem(
                path,
                f"{member.queue}, where {name} is not counted",
                f"pods that request {', '.join(reach)} alone: Kueue admits nothing that requests more than it counts",
                f"Remove {name} from the resources of the sidecars, or leave {member.deployment} without a queue.",
            )
    if (scarce := _scarce(member.copy, reach)) is not None:
        yield Problem(
            path,
            f"{member.queue}, which gets at most {_of(reach, scarce)} of {member.pool}",
            f"at least {_amount(scarce, member.copy[scarce])}: one copy of {member.role.workload} takes that at once",
            _more(quotas, member, member.copy),
        )


def _waiting(quotas: Quotas, there: Sequence[_Member]) -> Iterator[Problem]:
    """Judge whether all copies of one queue and pool fit together."""
    queue, pool = there[0].queue, there[0].pool
    reach, alone = quotas.reach(queue, pool), False
    for member in there:
        copies = member.role.settings.most_replicas
        if (scarce := _scarce(_times(member.copy, copies), reach)) is None:
            continue
        alone = True
        fits = math.floor(reach[scarce] * unit(scarce) / member.copy[scarce])
        yield Problem(
            f"{member.path}.{'autoscaling.maxReplicas' if member.role.settings.autoscaling else 'replicas'}",
            str(copies),
            f"at most {fits}: {queue} gets {_of(reach, scarce)} of {pool}, and the others wait",
            _more(quotas, member, _times(member.copy, copies)),
            Severity.WARNING,
        )
    total = _total(there)
    if not alone and (scarce := _scarce(total, reach)) is not None:
        names = ", ".join(dict.fromkeys(member.deployment for member in there))
        yield Problem(
            f"queues.clusterQueues.{queue}.pools.{pool}",
            f"{_of(reach, scarce)} at most, of {_amount(scarce, total[scarce])} for all copies of {names}",
            "quota for all of them: some wait until others are scaled down",
            _more(quotas, there[0], total),
            Severity.WARNING,
        )


def _surge(quotas: Quotas, there: Sequence[_Member]) -> Iterator[Problem]:
    """Judge copies on top: one that never gets its quota holds up the rollout for ever."""
    queue, pool = there[0].queue, there[0].pool
    reach, total = quotas.reach(queue, pool), _total(there)
    for member in there:
        # The roles of a deployment roll together.
        rolling = [other for other in there if other.deployment == member.deployment and other.role.surge]
        needed = dict(total)
        for other in rolling:
            for name, amount in other.copy.items():
                needed[name] += amount
        if member.role.surge and (scarce := _scarce(needed, reach)) is not None:
            more = _more(quotas, member, needed)
            yield Problem(
                f"{member.path}.surge",
                f"1, which needs {_amount(scarce, needed[scarce])} of {pool} during a rollout",
                f"0: {queue} gets at most {_of(reach, scarce)}, so the copy on top would wait for ever",
                f"Set surge to 0, so that one copy at a time is down, or {more[0].lower()}{more[1:]}",
            )


def _unqueued(quotas: Quotas, deployments: Mapping[str, DeploymentArgs]) -> Iterator[Problem]:
    """Judge deployments that take GPUs which queues promise to others."""
    for pool, shares in quotas.gpus.items():
        beside = {
            name: gpus
            for name, args in deployments.items()
            if args.queue is None and (gpus := pool_use(args, quotas.pools)[pool])
        }
        has, promised = quotas.pools[pool].gpus, sum(shares.values())
        for name, gpus in beside.items() if promised + sum(beside.values()) > has else ():
            yield Problem(
                f"deployments.{name}.queue",
                f"nothing, with {counted(gpus, 'GPU')} of {pool}",
                f"a queue, where {promised} of the {has} GPUs of {pool} belong to queues: what they admit finds no"
                " node",
                f"Name a queue, or set gpus of the cluster queues on {pool} to {max(has - sum(beside.values()), 0)}"
                " together.",
                Severity.WARNING,
            )


def _more(quotas: Quotas, member: _Member, needed: Mapping[str, Fraction]) -> str:
    """Say how the queue gets what is needed, beside what others have for themselves."""
    pool, others = quotas.pools[member.pool], quotas.stated(member.pool, beside=member.queue)
    gpus, taken = gpus_for(pool, needed), sum(others.values())
    quota = f"queues.clusterQueues.{member.queue}.pools.{member.pool}.gpus to {gpus}."
    if gpus + taken <= pool.gpus:
        return f"Set {quota}"
    larger = f"pools.{member.pool} to {gpus + taken} GPUs, and set {quota}"
    if gpus > pool.gpus:
        return f"Enlarge {larger}"
    return (
        f"Lower gpus of {', '.join(others)}, which leave {max(pool.gpus - taken, 0)} of the {pool.gpus} GPUs of"
        f" {member.pool}, to {pool.gpus - gpus}{' together' if len(others) > 1 else ''}, or enlarge {larger}"
    )


def _times(copy: Mapping[str, Fraction], copies: int) -> dict[str, Fraction]:
    return {name: amount * copies for name, amount in copy.items()}


def _total(members: Sequence[_Member]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for member in members:
        for name, amount in _times(member.copy, member.role.settings.most_replicas).items():
            total[name] = total.get(name, Fraction(0)) + amount
    return total


def _scarce(needed: Mapping[str, Fraction], available: Amounts) -> str | None:
    """Return the first resource of which more is needed than there is."""
    return next((name for name, amount in available.items() if needed.get(name, 0) > amount * unit(name)), None)


def _amount(resource: str, amount: Fraction) -> str:
    return f"{quantity(resource, math.ceil(amount / unit(resource)))} {resource}"


def _of(amounts: Amounts, resource: str) -> str:
    return f"{quantity(resource, amounts[resource])} {resource}"
