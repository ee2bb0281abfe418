"""Folders of nodes that deployments keep things in: on the instance store, wherever the nodes have it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_lws.facts.instance_stores import InstanceStore
from pulumi_lws.nodes.instance_store import beside_the_store, instance_store, parts
from pulumi_lws.planning.problems import Problem
from pulumi_lws.platform.cluster_checks import image_of, mode_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.ray.settings import RayArgs, RayServiceVllmArgs
from pulumi_lws.serving.entries import DeploymentSettings
from pulumi_lws.serving.settings import DeploymentArgs, roles_settings
from pulumi_lws.serving.sources.settings import (
    COMPILED_BELOW,
    HUB_BELOW,
    CompileCache,
    HuggingFaceSource,
    NodeSource,
    Source,
)


def folders_on_stores(
    platform: PlatformArgs, source: Source, cache: CompileCache, pools: Iterable[str]
) -> dict[str, Any]:
    """Return source and cache where nobody declared their folders, on the instance store that all these pools have.

    Args:
        platform: The platform.
        source: Where the weights come from.
        cache: Where compiled kernels are kept.
        pools: Names of the pools.
    """
    mounts = {store.mount for store in _stores(platform, pools).values()}
    if len(mounts) != 1:
        return {}
    (mount,) = mounts
    moved: dict[str, Any] = {}
    if isinstance(source, HuggingFaceSource) and "path" not in source.model_fields_set:
        moved["source"] = source.model_copy(update={"path": f"{mount}/{HUB_BELOW}"})
    if "path" not in cache.model_fields_set:
        moved["compile_cache"] = cache.model_copy(update={"path": f"{mount}/{COMPILED_BELOW}"})
    return moved


def node_folder_problems(
    platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs], ray: Mapping[str, RayArgs]
) -> Iterator[Problem]:
    """Judge folders of nodes beside their instance store: the root volume is small and slow.

    Args:
        platform: The platform.
        deployments: The arguments of its deployments by name.
        ray: The arguments of what runs on Ray, by name.
    """
    for name, args in deployments.items():
        found = _beside(platform, args.source, args.compile_cache, pools_of(args))
        yield from (problem.below(f"deployments.{name}") for problem in found)
    for name, on_ray in ray.items():
        if isinstance(on_ray, RayServiceVllmArgs):
            found = _beside(platform, on_ray.source, on_ray.compile_cache, [on_ray.pool])
            yield from (problem.below(f"ray.{name}") for problem in found)


def pools_of(deployment: DeploymentSettings | DeploymentArgs) -> list[str]:
    """Return the names of the pools of a deployment."""
    return list(dict.fromkeys(role.pool for role in roles_settings(deployment).values()))


def _beside(platform: PlatformArgs, source: Source, cache: CompileCache, pools: list[str]) -> Iterator[Problem]:
    folders: list[tuple[str, str, str]] = []
    if isinstance(source, HuggingFaceSource) and source.path is not None:
        folders.append(("source.path", source.path, HUB_BELOW))
    # A folder that caches.nodeModels fills is judged there.
    filled = [parts(model.path) for model in platform.caches.node_models.values()]
    if isinstance(source, NodeSource) and parts(source.path) not in filled:
        last = (parts(source.path) or ["model"])[-1]
        folders.append(("source.path", source.path, f"models/{last}"))
    if cache.kind == "node":
        folders.append(("compileCache.path", cache.path, COMPILED_BELOW))
    for pool, store in _stores(platform, pools).items():
        for field, folder, below in folders:
            yield from beside_the_store(field, folder, below, pool, store)


def _stores(platform: PlatformArgs, pools: Iterable[str]) -> Mapping[str, InstanceStore]:
    """Return the instance stores of those pools that have one, and of which it is known."""
    mode, image = mode_of(platform), image_of(platform)
    found = {
        name: instance_store(platform.pools[name], mode, image)
        for name in pools
        if name in platform.pools and platform.pools[name].instance.local_storage_gb
    }
    return {name: store for name, store in found.items() if store is not None}
