"""What is wrong with what a stack file says of a pool's node class."""

from collections.abc import Iterator, Mapping

from pulumi_lws.nodes import auto_node_class
from pulumi_lws.nodes.cluster import Mode, NodeCluster
from pulumi_lws.nodes.groups import node_groups
from pulumi_lws.nodes.node_classes import own_spec
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem, Severity, shown

KARPENTER_FIELDS = frozenset(
    {
        "amiFamily",
        "amiSelectorTerms",
        "associatePublicIPAddress",
        "blockDeviceMappings",
        "capacityReservationSelectorTerms",
        "connectionTracking",
        "context",
        "cpuOptions",
        "detailedMonitoring",
        "instanceProfile",
        "instanceStorePolicy",
        "ipPrefixCount",
        "kubelet",
        "metadataOptions",
        "networkInterfaces",
        "placementGroupSelector",
        "role",
        "securityGroupSelectorTerms",
        "subnetSelectorTerms",
        "tags",
        "userData",
    }
)
"""Fields of the ``spec`` of an EC2NodeClass (karpenter-provider-aws 1.14)."""

_FIELDS: Mapping[Mode, tuple[str, frozenset[str]]] = {
    "karpenter": ("an EC2NodeClass of Karpenter", KARPENTER_FIELDS),
    "auto": ("a NodeClass of Auto Mode", auto_node_class.FIELDS),
}
_OTHER: Mapping[Mode, Mode] = {"karpenter": "auto", "auto": "karpenter"}

_RESTRICTED_TAGS = ("eks:eks-cluster-name", "karpenter.sh/", "karpenter.k8s.aws/", "eks.amazonaws.com/")
_CLUSTER_TAG = "kubernetes.io/cluster"


def problems(pool: GpuPool, mode: Mode, image: str) -> Iterator[Problem]:
    """Return what is wrong with image, hugepages, metadata, tags and further fields of a pool."""
    if mode == "lab":
        return
    yield from _image(pool, mode, image)
    yield from _hugepages(pool, mode)
    if mode == "auto" and pool.metadata_hop_limit != 1:
        yield Problem(
            "metadataHopLimit",
            str(pool.metadata_hop_limit),
            "1: Auto Mode sets the metadata options itself",
            "Remove it, and give pods a role by EKS Pod Identity.",
        )
    for key in pool.tags:
        if key.startswith((*_RESTRICTED_TAGS, _CLUSTER_TAG)):
            yield Problem(
                f"tags.{key}",
                "a tag that is set for you",
                f"tags that do not start with {', '.join((*_RESTRICTED_TAGS, _CLUSTER_TAG))}",
                "Remove it.",
            )
    yield from _node_class(pool, mode)


def _image(pool: GpuPool, mode: Mode, image: str) -> Iterator[Problem]:
    if mode == "auto":
        if pool.image is not None:
            yield Problem(
                "image",
                repr(pool.image),
                "nothing: Auto Mode chooses and renews its image itself",
                "Remove it, or use the compute mode karpenter.",
            )
    elif not (pool.image or image):
        yield Problem(
            "image", "nothing", "an alias such as al2023@v20260901", "Add image here, or one for the cluster."
        )
    elif pool.image and pool.image.endswith("@latest"):
        yield Problem(
            "image",
            repr(pool.image),
            "a release, such as al2023@v20260901",
            "Pin a release: with latest, every new image makes all nodes drift.",
        )


def _hugepages(pool: GpuPool, mode: Mode) -> Iterator[Problem]:
    if not pool.hugepages:
        return
    if not pool.instance.efa_interfaces:
        yield Problem(
            "hugepages",
            "true",
            f"false: images set them aside only where there is EFA, and {pool.instance_type} has 0 EFA interfaces",
            "Remove it.",
        )
    elif mode == "auto" and not pool.is_static:
        yield Problem(
            "hugepages",
            "true",
            "false, or true on static nodes: Auto Mode knows no hugepages and would make no node for such a pod",
            "Remove it, or set static to true.",
        )


def _node_class(pool: GpuPool, mode: Mode) -> Iterator[Problem]:
    stand_in = NodeCluster("any", mode, "any", image="al2023@any")
    own = own_spec("any", pool, node_groups("any", pool)[0], stand_in)
    kind, known = _FIELDS[mode]
    other_kind, other = _FIELDS[_OTHER[mode]]
    for field, value in pool.node_class.items():
        path = f"nodeClass.{field}"
        if field in own:
            yield Problem(
                path,
                shown(value),
                "fields that the pool does not set itself",
                "Remove it, and use the pool's own settings.",
            )
        elif field not in known and field in other:
            yield Problem(
                path, f"a field of {other_kind}", f"fields of {kind}", "Remove it, or change the compute mode."
            )
        elif field not in known:
            yield Problem(
                path,
                f"a field that {kind} is not known to have",
                ", ".join(sorted(known - own.keys())),
                "Check its spelling: it is passed on as it is.",
                Severity.WARNING,
            )
    if mode == "auto":
        further = {field: value for field, value in pool.node_class.items() if field not in own}
        for problem in auto_node_class.spec_problems({**own, **further}):
            yield problem.below("nodeClass")
