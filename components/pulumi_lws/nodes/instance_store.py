"""Where the nodes of a pool mount their instance store, and folders that lie beside it."""

from collections.abc import Iterator

from pulumi_lws.facts.instance_stores import INSTANCE_STORES, InstanceStore
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem, Severity


def instance_store(pool: GpuPool, mode: Mode | None, image: str) -> InstanceStore | None:
    """Return the instance store of the nodes of a pool; None where it is not ours to know.

    Args:
        pool: The pool.
        mode: Who makes the nodes; None where the cluster is only reached.
        image: Alias of the image of pools that name none.
    """
    if mode == "auto":
        return INSTANCE_STORES["auto"]
    alias = pool.image or image
    if mode != "karpenter" or not alias:
        return None
    return INSTANCE_STORES["bottlerocket" if alias.startswith("bottlerocket") else "al2023"]


def beside_the_store(field: str, folder: str, below: str, pool: str, store: InstanceStore) -> Iterator[Problem]:
    """Judge a folder of the nodes that is not on their instance store.

    Args:
        field: Where it is declared.
        folder: The folder.
        below: What to call it instead, below the instance store.
        pool: Name of the pool.
        store: The instance store of its nodes.
    """
    if not is_within(folder, store.mount):
        yield Problem(
            field,
            folder,
            f"a folder below {store.mount}, where the nodes of {pool} mount their instance store; elsewhere it lies on"
            f" the root volume{store.doubt}",
            f"Set it to {store.mount}/{below}.",
            Severity.WARNING,
        )


def is_within(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or lies below it."""
    inner, outer = parts(path), parts(folder)
    return inner[: len(outer)] == outer


def parts(path: str) -> list[str]:
    """Return the folders of a path, from the root."""
    return [part for part in path.split("/") if part not in {"", "."}]
