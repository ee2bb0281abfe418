"""Whether the deployments of a platform fit what is made for them on AWS: its network, its zones, its pools."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.cluster.network.settings import is_isolated
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.platform.cluster_checks import mode_of, zones_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.sizing import pools_of
from pulumi_lws.serving.render import render
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import DeploymentArgs, roles_settings
from pulumi_lws.serving.sources.loading import is_in_image
from pulumi_lws.serving.sources.settings import HuggingFaceSource, S3Source

_PUBLIC_REGISTRIES = frozenset(
    {"docker.io", "gcr.io", "ghcr.io", "mcr.microsoft.com", "nvcr.io", "public.ecr.aws", "quay.io", "registry.k8s.io"}
)
_HUB_ADDRESS = "HF_ENDPOINT"


def fitting_problems(
    platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs], roles: Mapping[str, Role]
) -> list[Problem]:
    """Return what does not fit, of a platform whose parts are sound by themselves.

    Args:
        platform: The platform.
        deployments: The arguments of its deployments by name.
        roles: Their roles by the path of their settings.
    """
    if mode_of(platform) is None:
        return []
    found = [*_idle(platform), *_shared_interfaces(platform, roles), *_handing_over(platform, roles)]
    if isinstance(platform.cluster, EksClusterArgs):
        for name, args in deployments.items():
            reached = [*_bucket(args, platform.cluster)]
            if is_isolated(platform.cluster.network):
                reached = [*_isolated_source(args, platform.cluster), *_isolated_images(args)]
            found += [problem.below(f"deployments.{name}") for problem in reached]
    return found


def _idle(platform: PlatformArgs) -> Iterator[Problem]:
    used = {role.pool for deployment in platform.deployments.values() for role in roles_settings(deployment).values()}
    for name, pool in platform.pools.items():
        if pool.is_static and name not in used:
            yield Problem(
                f"pools.{name}",
                f"{pool.most_nodes} nodes that are always there, and no deployment on them",
                "a deployment on each static pool: its nodes are paid for",
                "Name the pool in a deployment, set static to false, or remove it.",
                Severity.WARNING,
            )


def _shared_interfaces(platform: PlatformArgs, roles: Mapping[str, Role]) -> Iterator[Problem]:
    """Judge pods with and without EFA on nodes that have it only if they were made for a pod with it."""
    by_interfaces: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    pools = {pool.name: pool for pool in pools_of(platform)}
    for path, role in roles.items():
        name = role.settings.pool
        by_interfaces[name, pools[name].efa(role.shape.gpus_per_pod) > 0].append(path.removeprefix("deployments."))
    for name, pool in platform.pools.items():
        with_efa, without = by_interfaces[name, True], by_interfaces[name, False]
        if pool.efa_mode == "dynamic" and with_efa and without:
            yield Problem(
                f"pools.{name}.efa",
                f"'dynamic', with pods of {', '.join(with_efa)} that take EFA and pods of {', '.join(without)} that do"
                " not",
                "explicit: a node that was made for a pod without EFA has none for others",
                "Set efa to explicit, or give them pools of their own.",
                Severity.WARNING,
            )


def _handing_over(platform: PlatformArgs, roles: Mapping[str, Role]) -> Iterator[Problem]:
    """Judge pools whose nodes may lie in several zones: prefill would not reach decode there."""
    zones = zones_of(platform)
    unplaced = {
        role.settings.pool: role.deployment_name
        for role in roles.values()
        if role.name in {"prefill", "decode"} and role.launch.has_efa and role.pool.zone is None
    }
    for pool, deployment in unplaced.items() if len(zones) != 1 else ():
        yield Problem(
            f"pools.{pool}.zone",
            "nothing",
            f"one of {', '.join(zones) or 'the zones of the cluster'}: prefill of {deployment} hands caches to decode"
            " by EFA, which does not leave a zone",
            "Add zone.",
        )


def _bucket(args: DeploymentArgs, cluster: EksClusterArgs) -> Iterator[Problem]:
    if isinstance(args.source, S3Source) and args.source.region not in {None, cluster.region}:
        yield Problem(
            "source.region",
            repr(args.source.region),
            f"{cluster.region}: from another region every start is slower, and every byte is paid for",
            "Copy the weights to a bucket of the cluster's region.",
            Severity.WARNING,
        )


def _isolated_source(args: DeploymentArgs, cluster: EksClusterArgs) -> Iterator[Problem]:
    """Judge whether pods without a way to the internet get their weights."""
    source, environments = args.source, [role.environment for role in roles_settings(args).values()]
    if isinstance(source, S3Source) and source.region not in {None, cluster.region}:
        yield Problem(
            "source.region",
            repr(source.region),
            f"{cluster.region}: without a way to the internet, pods reach the buckets of their region alone",
            "Copy the weights to a bucket of the cluster's region.",
        )
    is_hub = isinstance(source, HuggingFaceSource) and not is_in_image(source, args.model)
    if is_hub and not all(_HUB_ADDRESS in environment for environment in environments):
        yield Problem(
            "source",
            "hugging-face, and no way to the internet",
            f"s3, volume, node, or a hub of your own by environment.{_HUB_ADDRESS}",
            "Copy the weights to S3, which pods reach inside the VPC, and set source.",
        )


def _isolated_images(args: DeploymentArgs) -> Iterator[Problem]:
    images = sorted(set(_images(list(render(args).manifests.values()))))
    if public := [image for image in images if _registry(image) in _PUBLIC_REGISTRIES]:
        has_envoy = any("envoy" in image for image in public)
        yield Problem(
            "",
            f"{', '.join(public)}, and no way to the internet",
            "images of a registry that the VPC reaches, such as ECR of the account",
            "Copy them there, and name them with image, routerImage and sidecarImage."
            + (" Envoy's cannot be named: choose router.kind gateway." if has_envoy else ""),
        )


def _images(value: Any) -> Iterator[str]:
    parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        if key == "image" and isinstance(part, str):
            yield part
        else:
            yield from _images(part)


def _registry(image: str) -> str:
    first, _, rest = image.partition("/")
    return first if rest and ("." in first or ":" in first) else "docker.io"
