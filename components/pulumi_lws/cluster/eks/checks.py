"""What keeps a cluster from working, by itself and with its pools."""

import ipaddress
from collections.abc import Iterator, Mapping
from itertools import chain

from pulumi_lws.cluster.eks import interruption, names
from pulumi_lws.cluster.eks.compute_checks import compute_problems
from pulumi_lws.cluster.eks.settings import EksClusterArgs, ExistingEksCluster, KarpenterCompute
from pulumi_lws.cluster.network.addresses import address_problems
from pulumi_lws.cluster.network.layout import network_problems, service_problems
from pulumi_lws.nodes.class_checks import moving_image
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.nodes.tags import tag_problems
from pulumi_lws.planning.problems import Problem, Severity

_RESERVED_GROUPS = ("system:", "eks:", "aws:", "amazon:", "iam:")
_ANYWHERE = "0.0.0.0/0"
_MOST_PUBLIC_CIDRS = 40
"""https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html"""
_PRIVATE = [
    ipaddress.IPv4Network(cidr)
    for cidr in ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16")
]
"""Networks that nobody comes from over the internet."""


def cluster_problems(cluster: EksClusterArgs) -> list[Problem]:
    """Return what is wrong with a cluster by itself, with paths below its own."""
    karpenter = isinstance(cluster.compute, KarpenterCompute)
    own = network_problems(cluster.network, cluster.region, karpenter=karpenter)
    return [
        *_names(cluster),
        *(problem.below("network") for problem in own),
        *(problem.below("serviceCidr") for problem in service_problems(cluster.network, cluster.service_cidr)),
        *compute_problems(cluster),
        *_access(cluster),
        *_endpoint(cluster),
        *_key(cluster),
        *_protection(cluster),
        *tag_problems(cluster.tags),
    ]


def pools_problems(cluster: EksClusterArgs, pools: Mapping[str, GpuPool]) -> list[Problem]:
    """Return what keeps the pools from working in a cluster without errors, with paths from the platform's root."""
    compute = cluster.compute
    system = compute.system_nodes.nodes if isinstance(compute, KarpenterCompute) else 0
    addresses = address_problems(cluster.network, pools, compute.kind, system_nodes=system)
    overlays = isinstance(compute, KarpenterCompute) and not compute.node_overlays
    return [
        *(problem.below("cluster.network") for problem in addresses),
        *chain.from_iterable(_offered(cluster, name, pool) for name, pool in pools.items()),
        *(
            Problem(
                f"pools.{name}.hugepages",
                "true, without the feature gate NodeOverlay",
                "true with cluster.compute.nodeOverlays: true",
                "Set it, or remove hugepages: without the gate, pods that request them stay pending.",
            )
            for name, pool in pools.items()
            if pool.hugepages and overlays
        ),
    ]


def existing_problems(cluster: ExistingEksCluster) -> list[Problem]:
    """Return what is wrong with an existing cluster's declaration, with paths below its own."""
    foreign = [zone for zone in cluster.private_subnets if not zone.startswith(cluster.region)]
    found = [
        Problem(
            "privateSubnets",
            ", ".join(foreign),
            f"zones of {cluster.region}, such as {cluster.region}a",
            "Name zones of the cluster's region, or change region.",
        )
    ]
    image = Problem(
        "image",
        repr(cluster.image),
        "nothing: Auto Mode chooses its own image",
        "Remove it, or set compute: karpenter.",
    )
    return [
        *(found if foreign else []),
        *([image] if cluster.image and cluster.compute == "auto" else moving_image(cluster.image)),
        *tag_problems(cluster.tags),
    ]


def _names(cluster: EksClusterArgs) -> Iterator[Problem]:
    made = [
        *(
            (role(cluster), names.ROLE_NAME)
            for role in (names.cluster_role, names.node_role, names.system_role, names.controller_role)
        ),
        *((names.rule(cluster, event), names.RULE_NAME) for event in interruption.EVENTS),
        (names.queue(cluster), names.QUEUE_NAME),
    ]
    over, longest, limit = max((len(name) - limit, name, limit) for name, limit in made)
    if over > 0:
        yield Problem(
            "name",
            f"{len(cluster.name)} characters, which make {longest} with {len(longest)}",
            f"{len(cluster.name) - over} characters: AWS takes {limit} for that",
            f"Shorten it by {over}.",
        )


def _access(cluster: EksClusterArgs) -> Iterator[Problem]:
    owners: dict[str, str] = {}
    for name, access in cluster.access.items():
        path = f"access.{name}"
        first = owners.setdefault(access.principal_arn, name)
        if first != name:
            yield Problem(
                f"{path}.principalArn",
                f"{access.principal_arn}, which {first} has",
                "a role or user that has no entry: EKS takes one for each",
                f"Put both into {first}.",
            )
        if not access.principal_arn.startswith(f"arn:{cluster.partition}:"):
            yield Problem(
                f"{path}.principalArn",
                access.principal_arn,
                f"a role or user of the partition {cluster.partition}, which {cluster.region} belongs to",
                "Name one of an account there.",
            )
        if access.policy is None and not access.groups:
            yield Problem(path, "neither policy nor groups", "one of them, or both", "Add policy: edit, for example.")
        if access.namespaces and access.policy is None:
            yield Problem(
                f"{path}.namespaces",
                ", ".join(access.namespaces),
                "nothing without a policy: role bindings say where groups may act",
                "Add policy, or remove namespaces.",
            )
        reserved = [group for group in access.groups if group.startswith(_RESERVED_GROUPS)]
        if reserved:
            yield Problem(
                f"{path}.groups",
                ", ".join(reserved),
                f"groups that do not start with {', '.join(_RESERVED_GROUPS)}: EKS refuses those",
                "Use policy: cluster-admin instead, or a group of your own.",
            )


def _endpoint(cluster: EksClusterArgs) -> Iterator[Problem]:
    if _ANYWHERE in cluster.public_cidrs:
        yield Problem(
            "publicCidrs",
            f"{_ANYWHERE}: everybody reaches the API server",
            "networks of your own",
            "Name the networks of your offices and of your CI, or leave it out.",
            Severity.WARNING,
        )
    private = [cidr for cidr in cluster.public_cidrs if any(ipaddress.IPv4Network(cidr).subnet_of(p) for p in _PRIVATE)]
    if private:
        yield Problem(
            "publicCidrs",
            ", ".join(private),
            "addresses that the internet knows: EKS refuses others",
            "Name the addresses that your networks have on the internet; those inside the VPC need not be named.",
        )
    if len(cluster.public_cidrs) > _MOST_PUBLIC_CIDRS:
        found, allowed = f"{len(cluster.public_cidrs)} networks", f"{_MOST_PUBLIC_CIDRS} at most"
        yield Problem("publicCidrs", found, allowed, "Name larger networks, or go through a VPN.")


def _key(cluster: EksClusterArgs) -> Iterator[Problem]:
    if cluster.kms_key is None:
        return
    region = cluster.kms_key.split(":")[3]
    if region != cluster.region:
        yield Problem(
            "kmsKey", f"a key of {region}", f"a key of {cluster.region}", "Name a key of the cluster's own region."
        )


def _protection(cluster: EksClusterArgs) -> Iterator[Problem]:
    if cluster.allow_replacement and cluster.protect:
        yield Problem(
            "allowReplacement",
            "true, with protect: true",
            "true with protect: false: what is protected is never replaced",
            "Apply protect: false first, or remove allowReplacement.",
        )


def _offered(cluster: EksClusterArgs, name: str, pool: GpuPool) -> Iterator[Problem]:
    offered = cluster.network.offerings.get(pool.instance_type)
    if offered is None:
        return
    if pool.zone is None and not set(offered) & set(cluster.network.zones):
        yield Problem(
            f"pools.{name}.instanceType",
            f"{pool.instance_type}, which no zone of the network has",
            f"a type of {', '.join(cluster.network.zones)}; {pool.instance_type} is in {', '.join(offered) or 'none'}",
            "Add such a zone to the network, or choose another type.",
        )
    elif pool.zone is not None and pool.zone not in offered:
        yield Problem(
            f"pools.{name}.zone",
            f"{pool.zone}, which has no {pool.instance_type}",
            f"{', '.join(offered) or 'no zone'}, by cluster.network.offerings",
            "Move the pool to such a zone.",
        )
