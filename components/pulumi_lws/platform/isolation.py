"""What would wait for the internet for ever where nodes have no way to it: images, weights and tokenizers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.checks import value_at
from pulumi_lws.addons.installation import installation
from pulumi_lws.caches.copying import image_of
from pulumi_lws.caches.pre_pull import tool_image_of
from pulumi_lws.caches.settings import Caches, Copy, S3Origin
from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.load_tests.record import generator_image
from pulumi_lws.load_tests.settings import LoadTestSettings
from pulumi_lws.load_tests.target import HUB_ADDRESS, hub_address_of, tokenizer_of
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.platform.parts import site_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.ray.deciding import decide
from pulumi_lws.ray.settings import RayArgs, RayServiceVllmArgs
from pulumi_lws.serving.render import render
from pulumi_lws.serving.settings import DeploymentArgs, roles_settings
from pulumi_lws.serving.sources.loading import is_in_image
from pulumi_lws.serving.sources.settings import HuggingFaceSource, S3Source, Source

_PUBLIC_REGISTRIES = frozenset(
    {"docker.io", "gcr.io", "ghcr.io", "mcr.microsoft.com", "nvcr.io", "public.ecr.aws", "quay.io", "registry.k8s.io"}
)
_ECR = re.compile(r"[0-9]{12}\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?")
_OWN_IMAGES = "images of a registry that the VPC reaches, such as ECR of the account"
_COPY = "Copy the weights to S3, which pods reach inside the VPC"


def isolation_problems(
    platform: PlatformArgs,
    cluster: EksClusterArgs,
    deployments: Mapping[str, DeploymentArgs],
    ray: Mapping[str, RayArgs],
) -> list[Problem]:
    """Return what nodes without a way to the internet would never get.

    Args:
        platform: The platform, whose parts are sound by themselves.
        cluster: Its cluster.
        deployments: The arguments of its deployments by name.
        ray: The arguments of what runs on Ray, by name.
    """
    region = cluster.region
    found = [problem.below("addOns") for problem in _add_ons(platform, deployments, region)]
    for name, args in deployments.items():
        found += [problem.below(f"deployments.{name}") for problem in _deployment(args, region)]
    for name, on_ray in ray.items():
        found += [problem.below(f"ray.{name}") for problem in _ray(on_ray, region)]
    found += [problem.below("caches") for problem in _caches(platform.caches, region)]
    for name, test in platform.load_tests.items():
        if (tested := deployments.get(test.deployment)) is not None:
            found += [problem.below(f"loadTests.{name}") for problem in _load_test(test, tested, region)]
    return found


def _add_ons(platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs], region: str) -> Iterator[Problem]:
    """Judge what the charts say of their images. A chart of one's own may name others than upstream's."""
    site = site_of(platform, deployments)
    for name, declared in platform.add_ons.installed():
        facts = ADD_ONS[name]
        decided = installation(facts, declared, platform.add_ons, site)
        if decided.manifests is not None:
            continue
        is_own = bool(declared.charts or platform.add_ons.charts)
        for value in facts.images:
            said = value_at(decided.values, tuple(value.split(".")))
            # A registry alone is the first part of an image.
            if said is None and facts.image_region == region:
                continue
            if said is None or _out_of_reach([f"{said}/any"], region):
                yield Problem(
                    f"{facts.key}.values.{value}",
                    f"{'nothing' if said is None else said}, and no way to the internet",
                    _OWN_IMAGES + (", unless the chart of your own names such images" if is_own else ""),
                    f"Copy the images of {facts.title} there, and set this value.",
                    Severity.WARNING if is_own and said is None else Severity.ERROR,
                )


def _deployment(args: DeploymentArgs, region: str) -> Iterator[Problem]:
    yield from _source(args.source, args.model, [role.environment for role in roles_settings(args).values()], region)
    public = _out_of_reach(_images(list(render(args).manifests.values())), region)
    fix = "Copy them there, and name them with image, routerImage and sidecarImage."
    if any("envoy" in image for image in public):
        fix += " Envoy's cannot be named: choose router.kind gateway."
    yield from _named("", public, fix)


def _ray(args: RayArgs, region: str) -> Iterator[Problem]:
    if isinstance(args, RayServiceVllmArgs):
        yield from _source(args.source, args.model, [args.environment], region)
    yield from _named("image", _out_of_reach([decide(args).image], region), "Copy it there, and set image.")


def _caches(caches: Caches, region: str) -> Iterator[Problem]:
    if caches.pre_pull:
        tool = _out_of_reach([tool_image_of(caches.tool_image)], region)
        yield from _named("toolImage", tool, "Copy it there, and set toolImage.")
        for index, image in enumerate(caches.pre_pull_images):
            yield from _named(f"prePullImages[{index}]", _out_of_reach([image], region), "Copy it there.")
    copies: dict[str, Copy] = {f"nodeModels.{name}": model for name, model in caches.node_models.items()}
    for volume, declared in caches.shared_volumes.items():
        copies |= {f"sharedVolumes.{volume}.copies.{name}": copy for name, copy in declared.copies.items()}
    for path, copy in copies.items():
        yield from (problem.below(path) for problem in _copy(copy, region))


def _copy(copy: Copy, region: str) -> Iterator[Problem]:
    yield from _named("image", _out_of_reach([image_of(copy)], region), "Copy it there, and set image.")
    if isinstance(copy.origin, S3Origin):
        yield from _bucket("origin.region", copy.origin.region, region)
    else:
        yield Problem("origin", "hugging-face, and no way to the internet", "s3", f"{_COPY}, and set origin.")


def _load_test(test: LoadTestSettings, args: DeploymentArgs, region: str) -> Iterator[Problem]:
    yield from _named("image", _out_of_reach([generator_image(test)], region), "Copy it there, and set image.")
    tokenizer = tokenizer_of(test, args)
    if tokenizer.claim is None and hub_address_of(args) is None:
        yield Problem(
            "tokenizer",
            f"{tokenizer.name} of the hub, and no way to the internet",
            f"a tokenizer on a volume, or a hub of your own by environment.{HUB_ADDRESS} of the deployment",
            "Copy its files to a volume, and set tokenizerClaim and tokenizerPath.",
        )


def _source(source: Source, model: str, environments: Iterable[Mapping[str, str]], region: str) -> Iterator[Problem]:
    """Judge whether pods get their weights."""
    if isinstance(source, S3Source):
        yield from _bucket("source.region", source.region, region)
    is_hub = isinstance(source, HuggingFaceSource) and not is_in_image(source, model)
    if is_hub and not all(HUB_ADDRESS in environment for environment in environments):
        yield Problem(
            "source",
            "hugging-face, and no way to the internet",
            f"s3, volume, node, or a hub of your own by environment.{HUB_ADDRESS}",
            f"{_COPY}, and set source.",
        )


def _bucket(path: str, declared: str | None, region: str) -> Iterator[Problem]:
    if declared not in {None, region}:
        yield Problem(
            path,
            repr(declared),
            f"{region}: without a way to the internet, pods reach the buckets of their region alone",
            "Copy the weights to a bucket of the cluster's region.",
        )


def _named(path: str, public: list[str], fix: str) -> Iterator[Problem]:
    if public:
        yield Problem(path, f"{', '.join(public)}, and no way to the internet", _OWN_IMAGES, fix)


def _images(value: Any) -> Iterator[str]:
    parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        if key == "image" and isinstance(part, str):
            yield part
        else:
            yield from _images(part)


def _out_of_reach(images: Iterable[str], region: str) -> list[str]:
    """Return the images that nodes cannot pull: endpoints lead to ECR of their own region alone."""
    return sorted({image for image in images if _is_out_of_reach(_registry(image), region)})


def _is_out_of_reach(registry: str, region: str) -> bool:
    ecr = _ECR.fullmatch(registry)
    return registry in _PUBLIC_REGISTRIES or (ecr is not None and ecr[1] != region)


def _registry(image: str) -> str:
    first, _, rest = image.partition("/")
    return first if rest and ("." in first or ":" in first) else "docker.io"
