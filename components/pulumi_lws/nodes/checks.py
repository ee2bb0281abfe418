"""What is wrong with one pool: what AWS or Karpenter would refuse, or what would never run."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from pulumi_lws.facts import labels
from pulumi_lws.nodes import capacity_checks, class_checks
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.nodes.groups import node_groups
from pulumi_lws.nodes.node_pools import AUTO_LIFETIME_HOURS, consolidate_after_minutes
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem, Severity

LONGEST_NAME = 63
"""The name of a NodePool becomes the value of a label."""

AUTO_NAMES = ("default", "general-purpose", "system")
"""NodePools and NodeClasses that Auto Mode, or our cluster, has for nodes without GPU."""

_RESERVED_DOMAINS = ("kubernetes.io", "k8s.io", "karpenter.sh", "karpenter.k8s.aws", "eks.amazonaws.com")
_FREE_DOMAINS = ("node.kubernetes.io", "node-restriction.kubernetes.io", "kops.k8s.io")
"""Below a reserved domain, and yet not reserved; what Karpenter itself sets there is not ours to set."""


def pool_problems(
    name: str,
    pool: GpuPool,
    mode: Mode,
    *,
    region: str = "",
    zones: Sequence[str] = (),
    image: str = "",
    start_budget_minutes: int = 0,
    today: date | None = None,
) -> list[Problem]:
    """Return what is wrong with a pool, with paths below the pool's own.

    Args:
        name: Name of the pool.
        pool: The pool.
        mode: Who makes the nodes. The lab takes what needs AWS as it is.
        region: Region of the cluster; empty where it is not known.
        zones: Zones of the cluster's subnets; empty where they are not known.
        image: Alias of the image that the cluster gives to pools without their own.
        start_budget_minutes: Longest start budget of the deployments on the pool; 0 where it is not known.
        today: The day by which capacity has ended; None to leave that out.
    """
    return [
        *_names(name, pool, mode),
        *_size(pool),
        *_zone(pool, mode, region, zones),
        *capacity_checks.problems(pool, today),
        *_efa(pool, mode),
        *_labels(pool),
        *_disruption(pool, mode, start_budget_minutes),
        *class_checks.problems(pool, mode, region, image),
    ]


def clashes(pools: Mapping[str, GpuPool]) -> list[Problem]:
    """Return the pools whose NodePools would have the name of another pool's."""
    owners: dict[str, str] = {}
    return [
        Problem(
            name,
            f"a pool whose NodePool is {group.name}",
            f"a name that no NodePool of the pool {owners[group.name]} has",
            "Rename one of the two pools.",
        )
        for name, pool in pools.items()
        for group in node_groups(name, pool)
        if owners.setdefault(group.name, name) != name
    ]


def _names(name: str, pool: GpuPool, mode: Mode) -> Iterator[Problem]:
    if mode == "auto" and not pool.islands and name in AUTO_NAMES:
        allowed = f"a name other than {', '.join(AUTO_NAMES)}: Auto Mode has NodePools and NodeClasses of these"
        yield Problem("", f"a pool called {name}", allowed, "Rename it.")
    longest = max((group.name for group in node_groups(name, pool)), key=len)
    if len(longest) > LONGEST_NAME:
        yield Problem(
            "",
            f"a pool whose NodePool {longest} has {len(longest)} characters",
            f"{LONGEST_NAME} characters with what is added to the pool's name",
            f"Shorten the pool's name by {len(longest) - LONGEST_NAME}.",
        )


def _size(pool: GpuPool) -> Iterator[Problem]:
    if pool.nodes_per_island > 1 and not pool.islands:
        yield Problem(
            "nodesPerIsland",
            f"{pool.nodes_per_island}, without islands",
            "nothing in a plain pool",
            "Set islands for groups over several nodes, or remove nodesPerIsland.",
        )
    elif pool.most_nodes == 0:
        yield Problem(
            "nodes",
            "a pool of 0 nodes",
            "1 node or more",
            "Set nodes, or islands and nodesPerIsland for groups over several nodes.",
        )


def _zone(pool: GpuPool, mode: Mode, region: str, zones: Sequence[str]) -> Iterator[Problem]:
    if mode == "lab":
        return
    allowed = ", ".join(zones) or f"a zone of the cluster's subnets, such as {region or 'us-east-2'}a"
    reason = None
    if pool.capacity.kind in {"reservation", "capacity-block"}:
        reason = f"a {pool.capacity.kind} lies in one zone"
    elif pool.is_placed:
        reason = "a placement group lies in the zone of its first node, and further nodes may be tried in another"
    elif pool.efa_mode != "none" and pool.islands and pool.nodes_per_island > 1:
        reason = "EFA does not leave a zone"
    if pool.zone is not None:
        if (zones and pool.zone not in zones) or not pool.zone.startswith(region):
            yield Problem("zone", repr(pool.zone), allowed, "Name a zone in which the cluster has subnets.")
    elif reason and len(zones) != 1:
        yield Problem("zone", "nothing", allowed, f"Add zone: {reason}.")


def _efa(pool: GpuPool, mode: Mode) -> Iterator[Problem]:
    instance = pool.instance
    if pool.efa_mode != "none" and not instance.efa_interfaces:
        yield Problem(
            "efa",
            repr(pool.efa_mode),
            f"none: {instance.name} has 0 EFA interfaces",
            "Remove efa, or choose an instance type with EFA.",
        )
    elif pool.efa_mode == "dynamic" and pool.is_static:
        yield Problem(
            "efa",
            "'dynamic'",
            "explicit, none: static nodes are made for no pod, so none asks for EFA",
            "Set efa to explicit.",
        )
    elif pool.efa_mode == "explicit" and mode == "auto" and not pool.is_static:
        yield Problem(
            "efa",
            "'explicit'",
            "dynamic, or explicit with static: true",
            "Prefer one of the two: Auto Mode is reported not to make such nodes where there are none yet.",
            Severity.WARNING,
        )
    if pool.efa_mode == "none" and pool.islands and pool.nodes_per_island > 1:
        yield Problem(
            "efa",
            f"'none', with groups over {pool.nodes_per_island} nodes",
            f"dynamic or explicit on a type with EFA; {instance.name} has {instance.efa_interfaces} EFA interfaces",
            "Use EFA, or expect several times less throughput: the nodes of a group will talk over TCP.",
            Severity.WARNING,
        )


def _labels(pool: GpuPool) -> Iterator[Problem]:
    for key in pool.labels:
        if key in {labels.POOL, labels.ISLAND, labels.ROLE} or _is_reserved(key):
            yield Problem(
                f"labels.{key}",
                "a label that is not yours to set",
                f"labels outside {', '.join(_RESERVED_DOMAINS)} and other than those of this library",
                "Use a domain of your own, such as example.com/team.",
            )
    own = {labels.GPU, labels.ROLE} if pool.role is not None else {labels.GPU}
    for index, taint in enumerate(pool.taints):
        if taint.key in own:
            yield Problem(
                f"taints[{index}].key", repr(taint.key), "a key that the pool has no taint of already", "Remove it."
            )


def _is_reserved(key: str) -> bool:
    domain = key.rpartition("/")[0]
    if key in {labels.INSTANCE_TYPE, labels.ZONE, labels.REGION, labels.HOSTNAME}:
        return True
    if _is_below(domain, _FREE_DOMAINS):
        return False
    return _is_below(domain, _RESERVED_DOMAINS)


def _is_below(domain: str, parents: Sequence[str]) -> bool:
    return any(domain == parent or domain.endswith(f".{parent}") for parent in parents)


def _disruption(pool: GpuPool, mode: Mode, start_budget_minutes: int) -> Iterator[Problem]:
    minutes = consolidate_after_minutes(pool, start_budget_minutes)
    if minutes < start_budget_minutes:
        yield Problem(
            "disruption.consolidateAfterMinutes",
            str(minutes),
            f"{start_budget_minutes} or more: the start budget of a deployment on this pool",
            "Raise it, or remove it: a group's second node is empty while the leader starts, and would be taken away.",
        )
    hours, grace = pool.disruption.expire_after_hours, pool.disruption.termination_grace_hours
    if mode == "auto":
        if (hours or 1) + grace > AUTO_LIFETIME_HOURS:
            yield Problem(
                "disruption.expireAfterHours" if hours else "disruption.terminationGraceHours",
                str(hours or grace),
                f"{AUTO_LIFETIME_HOURS - (grace if hours else 1)} or less: a node of Auto Mode lives 21 days"
                f" ({AUTO_LIFETIME_HOURS} hours), its drain counted in",
                "Lower it, or remove it.",
            )
    elif hours:
        yield Problem(
            "disruption.expireAfterHours",
            str(hours),
            "nothing: nodes that never expire",
            "Remove it, and replace nodes by a rollout: an expired node is drained with the model on it.",
            Severity.WARNING,
        )
