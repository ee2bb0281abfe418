"""The namespaces of a platform, and who of them may read which weights."""

from collections.abc import Mapping, Sequence

import pulumi

from pulumi_lws.cluster.eks.component.model_access import model_reader
from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.component import Manifest
from pulumi_lws.platform.component.reached import Reached
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.weights import DEFAULT_SERVICE_ACCOUNT, readers
from pulumi_lws.tenancy.component import TeamNamespace, TeamNamespaceArgs
from pulumi_lws.tenancy.workloads import TeamWorkload


def make_namespaces(
    name: str,
    platform: PlatformArgs,
    workloads: Mapping[str, Sequence[TeamWorkload]],
    reached: Reached,
    opts: pulumi.ResourceOptions,
    *,
    parent: pulumi.Resource,
) -> list[pulumi.Resource]:
    """Make the namespace of the platform and those of its teams; return what everything in them waits for.

    Args:
        name: Name of the platform.
        platform: The platform.
        workloads: What runs for each of its teams.
        reached: Its cluster.
        opts: Options of each object.
        parent: The platform.
    """
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": platform.namespace}}
    made: list[pulumi.Resource] = [Manifest(f"{name}-namespace", manifest, opts)]
    for key, team in platform.teams.items():
        args = TeamNamespaceArgs(key, team, beside=workloads.get(key, ()))
        made.append(TeamNamespace(f"{name}-team-{key}", args, opts))
    return [*made, *_weights(name, platform, reached, made, parent)]


def _weights(
    name: str, platform: PlatformArgs, reached: Reached, namespaces: list[pulumi.Resource], parent: pulumi.Resource
) -> list[pulumi.Resource]:
    """Let pods read their weights in S3, where the cluster is ours; return what they wait for."""
    if not isinstance(platform.cluster, EksClusterArgs) or reached.connection is None:
        return []
    made: list[pulumi.Resource] = []
    for (team, account), folders in readers(platform).items():
        namespace = platform.namespace_of(team)
        key = "-".join(filter(None, (name, team, account)))
        # A team makes the accounts that its deployments name.
        if account != DEFAULT_SERVICE_ACCOUNT and team is None:
            metadata = {"name": account, "namespace": namespace}
            manifest = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
            own = pulumi.ResourceOptions(parent=parent, provider=reached.kubernetes, depends_on=namespaces)
            made.append(Manifest(f"{key}-account", manifest, own))
        made.append(
            model_reader(
                f"{key}-reads",
                platform.cluster,
                reached.connection,
                (namespace, account),
                folders,
                parent=parent,
            )
        )
    return made
