"""What keeps caches from being of use, or pods from starting with them."""

from collections.abc import Iterator, Mapping
from typing import Final

from pulumi_lws.caches.copying import FINISH_FILE
from pulumi_lws.caches.settings import Caches, FsxVolume, NodeModel, Volume
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.nodes.instance_store import beside_the_store, instance_store, is_within, parts
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.entries import DeploymentSettings
from pulumi_lws.serving.settings import roles_settings
from pulumi_lws.serving.sources.settings import NodeSource, VolumeSource

_GB: Final = 10**9

_FULL_PERCENT: Final = 90
"""How full a disk may get: the kubelet then evicts pods, and deletes images some percent earlier."""


def cache_problems(
    caches: Caches,
    pools: Mapping[str, GpuPool],
    deployments: Mapping[str, DeploymentSettings],
    *,
    mode: Mode | None = None,
    image: str = "",
) -> list[Problem]:
    """Return what is wrong with the caches of a platform; paths start at the platform.

    Args:
        caches: What is declared.
        pools: The pools of the platform.
        deployments: Its deployments, as in a stack file.
        mode: Who makes the nodes; None where the cluster is only reached.
        image: Alias of the image of pools that name none.
    """
    used = _used_pools(deployments)
    problems = list(_pre_pull(caches, pools))
    for name, model in caches.node_models.items():
        path = f"caches.nodeModels.{name}"
        problems += [found.below(path) for found in _node_model(model, pools, mode, image)]
    problems += _overlaps("caches.nodeModels", {name: model.path for name, model in caches.node_models.items()})
    problems += _disks(caches, pools)
    for name, volume in caches.shared_volumes.items():
        path = f"caches.sharedVolumes.{name}"
        problems += _overlaps(f"{path}.copies", {key: copy.path for key, copy in volume.copies.items()})
        problems += [found.below(path) for found in _volume(volume)]
    for name, deployment in deployments.items():
        problems += _readers(name, deployment, used[name], caches)
    return problems


def _used_pools(deployments: Mapping[str, DeploymentSettings]) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(dict.fromkeys(role.pool for role in roles_settings(deployment).values()))
        for name, deployment in deployments.items()
    }


def _pre_pull(caches: Caches, pools: Mapping[str, GpuPool]) -> Iterator[Problem]:
    if caches.pre_pull_images and not caches.pre_pull:
        fix = "Set prePull to true or to names of pools, or remove prePullImages."
        found = counted(len(caches.pre_pull_images), "image")
        yield Problem("caches.prePullImages", found, "none where no pool pulls images beforehand", fix)
    if not isinstance(caches.pre_pull, bool):
        for number, name in enumerate(caches.pre_pull):
            if name not in pools:
                yield _no_such_pool(f"caches.prePull[{number}]", name, pools)


def _no_such_pool(path: str, name: str, pools: Mapping[str, GpuPool]) -> Problem:
    return Problem(path, name, ", ".join(pools) or "none is declared", "Name a pool of this stack.")


def _node_model(model: NodeModel, pools: Mapping[str, GpuPool], mode: Mode | None, image: str) -> Iterator[Problem]:
    for number, name in enumerate(model.pools):
        pool = pools.get(name)
        if pool is None:
            yield _no_such_pool(f"pools[{number}]", name, pools)
            continue
        if not pool.is_static:
            yield Problem(
                f"pools[{number}]",
                f"{name}, whose nodes come with their pods",
                "static pools: a new node would first copy and then read",
                f"Set pools.{name}.static to true, or let the deployment stream (source.kind s3).",
            )
        if (store := instance_store(pool, mode, image)) is not None:
            last = (parts(model.path) or ["model"])[-1]
            yield from beside_the_store("path", model.path, f"models/{last}", name, store)


def _overlaps(path: str, folders: Mapping[str, str]) -> Iterator[Problem]:
    """Judge folders that are the same, or lie in one another: each copy looks after all of its folder."""
    for name, folder in folders.items():
        for other, outer in folders.items():
            if name != other and is_within(folder, outer) and (name > other or parts(folder) != parts(outer)):
                allowed = f"a folder of its own: {other} has {outer}"
                yield Problem(f"{path}.{name}.path", folder, allowed, "Give each model and revision a path of its own.")


def _disks(caches: Caches, pools: Mapping[str, GpuPool]) -> Iterator[Problem]:
    for name, pool in pools.items():
        kept = {key: model.size_gb for key, model in caches.node_models.items() if name in model.pools}
        room = pool.instance.local_storage_gb * _FULL_PERCENT // 100
        if sum(kept.values()) > room:
            yield Problem(
                "caches.nodeModels",
                f"{sum(kept.values())} GB on each node of {name}: {', '.join(kept)}",
                f"at most {room} GB: {_FULL_PERCENT} % of the {pool.instance.local_storage_gb} GB instance store of"
                f" {pool.instance_type}",
                f"Take {name} out of the pools of some, or let some deployments stream (source.kind s3).",
            )


def _volume(volume: Volume) -> Iterator[Problem]:
    size = sum(copy.size_gb for copy in volume.copies.values())
    if isinstance(volume, FsxVolume) and size * _GB > volume.size_gib * 2**30:
        least = -(-size * _GB // 2**30)
        allowed = f"at least {least} GiB for copies of {size} GB"
        yield Problem("sizeGib", str(volume.size_gib), allowed, f"Grow the file system to {least} GiB, or copy less.")


def _readers(name: str, deployment: DeploymentSettings, pools: tuple[str, ...], caches: Caches) -> Iterator[Problem]:
    """Judge whether what a deployment reads will be there."""
    match deployment.source:
        case NodeSource() as source:
            yield from _node_reader(name, source, pools, caches)
        case VolumeSource() as source if source.claim in caches.shared_volumes:
            yield from _volume_reader(name, deployment, source, caches.shared_volumes[source.claim])


def _node_reader(name: str, source: NodeSource, pools: tuple[str, ...], caches: Caches) -> Iterator[Problem]:
    path = f"deployments.{name}.source"
    found = next(
        ((key, model) for key, model in caches.node_models.items() if parts(model.path) == parts(source.path)), None
    )
    if found is None:
        if source.finish_file == FINISH_FILE:
            paths = ", ".join(f"{model.path} ({key})" for key, model in caches.node_models.items())
            allowed = f"the path of a model under caches.nodeModels: {paths or 'none is declared'}"
            yield Problem(
                f"{path}.path", source.path, allowed, "Name one of them: nothing else writes this finishFile."
            )
        return
    key, model = found
    if source.finish_file != FINISH_FILE:
        yield Problem(
            f"{path}.finishFile",
            repr(source.finish_file) if source.finish_file else "nothing",
            f"{FINISH_FILE}: until that is there {source.path} holds only a part of the weights",
            f"Set it to {FINISH_FILE}.",
        )
    if missing := [pool for pool in pools if pool not in model.pools]:
        allowed = f"the pools of {name}, whose pods on {', '.join(missing)} would wait for ever"
        yield Problem(f"caches.nodeModels.{key}.pools", ", ".join(model.pools), allowed, f"Add {', '.join(missing)}.")
    if model.remove:
        allowed = f"false, as long as {name} reads the folder"
        yield Problem(f"caches.nodeModels.{key}.remove", "true", allowed, f"Give {name} another source first.")


def _volume_reader(
    name: str, deployment: DeploymentSettings, source: VolumeSource, volume: Volume
) -> Iterator[Problem]:
    path = f"deployments.{name}.source"
    if deployment.team != volume.team:
        yield Problem(
            f"{path}.claim",
            f"{source.claim}, in the namespace of {_owner(volume.team)}",
            f"a claim in the namespace of {_owner(deployment.team)}: pods mount no other",
            "Add a volume of the same file system with that team to caches.sharedVolumes, under another name.",
        )
    folders = {key: copy.path for key, copy in volume.copies.items()}
    if folders and parts(source.path) not in map(parts, folders.values()):
        yield Problem(
            f"{path}.path",
            repr(source.path),
            "a folder that is copied onto the volume: "
            + ", ".join(f"{value} ({key})" for key, value in folders.items()),
            "Set it to one of them, unless you fill the folder by other means.",
            Severity.WARNING,
        )


def _owner(team: str | None) -> str:
    return f"team {team}" if team else "the platform"
