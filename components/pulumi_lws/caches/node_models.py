"""Weights on the disks of every node of a pool, kept by a DaemonSet."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import model_validator

from pulumi_lws.caches.copying import SCRATCH, Place, copying, holding, pod_fields, removing
from pulumi_lws.caches.daemons import daemon_set
from pulumi_lws.caches.settings import NodeModel
from pulumi_lws.declarations import DnsLabel, NamespaceName
from pulumi_lws.facts import labels
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import invalid

_FOLDER: Final = "/weights"

_COPIES: Final[Mapping[str, Any]] = {
    # What a container requests before the others start counts for the pod for ever, so it is next to nothing. While it
    # copies it takes what is free: the pods that want the CPUs wait for it.
    "requests": {"cpu": "50m", "memory": "128Mi"},
    "limits": {"memory": "12Gi"},
}


class NodeModelArgs(NodeModel):
    """Arguments of the component ``NodeModelCache``."""

    name: DnsLabel
    """Name of the entry."""
    namespace: NamespaceName
    """Namespace of the DaemonSets, with the Secret and the service account that are named."""
    all_pools: Mapping[DnsLabel, GpuPool]
    """The pools that ``pools`` may name."""

    @model_validator(mode="after")
    def _on_pools(self) -> "NodeModelArgs":
        if unknown := [name for name in self.pools if name not in self.all_pools]:
            raise invalid(
                ", ".join(self.all_pools) or "no pool is given",
                "Name pools of allPools.",
                field="pools",
                found=", ".join(unknown),
            )
        return self


def node_model_objects(args: NodeModelArgs) -> dict[str, dict[str, Any]]:
    """Render the DaemonSet of each pool."""
    return {pool: _daemon_set(args, pool) for pool in args.pools}


def _daemon_set(args: NodeModelArgs, pool: str) -> dict[str, Any]:
    fill = removing if args.remove else copying
    spec = {
        **pod_fields(args),
        "terminationGracePeriodSeconds": 1,
        "initContainers": [fill(args, Place(_FOLDER, {"name": "weights", "mountPath": _FOLDER}, _COPIES))],
        "containers": [holding(args)],
        "volumes": [
            {"name": "weights", "hostPath": {"path": args.path, "type": "DirectoryOrCreate"}},
            dict(SCRATCH),
        ],
    }
    return daemon_set(
        f"{args.name}-on-{pool}",
        args.namespace,
        {labels.CACHE: "weights", labels.CACHED: args.name, labels.POOL: pool},
        pool_name=pool,
        pool=args.all_pools[pool],
        spec=spec,
    )
