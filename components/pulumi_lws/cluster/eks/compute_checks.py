"""What keeps the controllers of a cluster from running: system nodes, add-ons, images and charts."""

import re
from collections.abc import Iterator

from pulumi_lws.cluster.eks.settings import EksClusterArgs, KarpenterCompute, addon_version
from pulumi_lws.cluster.network.settings import is_isolated
from pulumi_lws.nodes.class_checks import moving_image
from pulumi_lws.planning.problems import Problem

_ARM = re.compile(r"(a1|[a-z]+\d+g[a-z]*)\.")
"""Instance types with a Graviton processor, such as m7g.xlarge."""

_PUBLIC_REGISTRY = "oci://public.ecr.aws/"


def compute_problems(cluster: EksClusterArgs) -> Iterator[Problem]:
    """Say what is wrong with who makes the nodes, with paths below the cluster's own."""
    compute = cluster.compute
    if not isinstance(compute, KarpenterCompute):
        if cluster.addons:
            yield Problem(
                "addons",
                ", ".join(cluster.addons),
                "none: on Auto Mode they are part of the node",
                "Remove addons, or set compute.kind to karpenter.",
            )
        return
    yield from _kube_proxy(cluster)
    yield from (problem.below("compute") for problem in moving_image(compute.image))
    system = compute.system_nodes.instance_type
    if _ARM.match(system):
        yield Problem(
            "compute.systemNodes.instanceType",
            f"{system!r}, an ARM type",
            "an x86_64 type such as m7i.xlarge",
            "Choose such a type: the image of these nodes is for x86_64.",
        )
    if is_isolated(cluster.network) and compute.charts.startswith(_PUBLIC_REGISTRY):
        yield Problem(
            "compute.charts",
            f"{compute.charts!r}, whose images nodes without a way to the internet cannot pull",
            "charts with images of a registry that the VPC reaches",
            "Copy charts and images to a registry of your own, and name it; or choose a network with NAT.",
        )


def _kube_proxy(cluster: EksClusterArgs) -> Iterator[Problem]:
    proxy = addon_version(cluster, "kube-proxy")
    if not proxy.startswith(f"v{cluster.version}."):
        yield Problem(
            "addons.kube-proxy",
            f"{proxy}{'' if 'kube-proxy' in cluster.addons else ', the pinned one'}",
            f"a version for Kubernetes {cluster.version}, such as v{cluster.version}.0-eksbuild.2",
            "Look for it with `aws eks describe-addon-versions --addon-name kube-proxy --kubernetes-version"
            f" {cluster.version}`, and name the other add-ons' versions too.",
        )
