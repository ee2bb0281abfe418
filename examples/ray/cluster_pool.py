"""A Ray cluster of up to four GPU nodes for the programs of a team, driven from pods of the namespace ``notebooks``."""

import pulumi
import pulumi_kubernetes

from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.ray.component import RayClusterPool
from pulumi_lws.ray.settings import PoolAccess, RayClusterPoolArgs
from pulumi_lws.serving.settings import Client

cluster = pulumi_kubernetes.Provider("cluster", context="production", enable_server_side_apply=True)
batch = RayClusterPool(
    "batch",
    RayClusterPoolArgs(
        name="batch",
        namespace="research",
        max_workers=4,
        pool="g6e",
        pools={"g6e": GpuPool(instance_type="g6e.12xlarge", nodes=4)},
        # The key auth_token of a Secret of the namespace.
        token_secret="ray-token",  # noqa: S106 - the name of a Secret
        network=PoolAccess(drivers=(Client(namespace="notebooks"),)),
    ),
    pulumi.ResourceOptions(providers=[cluster]),
)
pulumi.export("dashboard", batch.url)
