"""What is wrong with what a stack file says of a pool's node class."""

from collections.abc import Iterator, Mapping

from pulumi_lws.nodes import auto_node_class
from pulumi_lws.nodes.cluster import Mode, NodeCluster
from pulumi_lws.nodes.groups import node_groups
from pulumi_lws.nodes.node_classes import own_spec
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.nodes.tags import tag_problems
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

_IOPS_PER_GIB, _IOPS_PER_THROUGHPUT = 500, 4
"""What gp3 gives at most for its size, and asks for at least for each MiB per second.
https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html"""
_GIVEN_IOPS = 3_000


def problems(pool: GpuPool, mode: Mode, region: str, image: str) -> Iterator[Problem]:
    """Return what is wrong with image, volume, hugepages, metadata, tags and further fields of a pool."""
    if mode == "lab":
        return
    yield from _image(pool, mode, image)
    yield from _root_volume(pool, region)
    yield from _hugepages(pool, mode)
    if mode == "auto" and pool.metadata_hop_limit != 1:
        yield Problem(
            "metadataHopLimit",
            str(pool.metadata_hop_limit),
            "1: Auto Mode sets the metadata options itself",
            "Remove it, and give pods a role by EKS Pod Identity.",
        )
    yield from tag_problems(pool.tags)
    yield from _node_class(pool, mode)


def moving_image(image: str | None) -> Iterator[Problem]:
    """Say what is wrong with an alias that follows the newest image, with the path ``image``."""
    if image is not None and image.endswith("@latest"):
        yield Problem(
            "image",
            repr(image),
            "a release, such as al2023@v20260901",
            "Pin a release: with latest, every new image makes all nodes drift.",
        )


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
    else:
        yield from moving_image(pool.image)


def _root_volume(pool: GpuPool, region: str) -> Iterator[Problem]:
    volume = pool.root_volume
    iops = volume.iops or _GIVEN_IOPS
    if iops > volume.size_gib * _IOPS_PER_GIB:
        yield Problem(
            "rootVolume.iops",
            f"{iops}, on {volume.size_gib} GiB",
            f"{volume.size_gib * _IOPS_PER_GIB} or less: gp3 gives {_IOPS_PER_GIB} for each GiB",
            "Lower it, or raise sizeGib.",
        )
    if volume.throughput is not None and volume.throughput * _IOPS_PER_THROUGHPUT > iops:
        yield Problem(
            "rootVolume.throughput",
            f"{volume.throughput}, with {iops} operations per second",
            f"{iops // _IOPS_PER_THROUGHPUT} or less: gp3 wants {_IOPS_PER_THROUGHPUT} operations for each MiB",
            f"Set iops to {volume.throughput * _IOPS_PER_THROUGHPUT}, or lower it.",
        )
    if volume.kms_key and region and volume.kms_key.startswith("arn:") and f":kms:{region}:" not in volume.kms_key:
        yield Problem("rootVolume.kmsKey", repr(volume.kms_key), f"a key of {region}", "Name a key of that region.")


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
    # Tags are judged by themselves.
    own = own_spec("any", pool.model_copy(update={"tags": {}}), node_groups("any", pool)[0], stand_in)
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
