"""The namespaces of a platform, and who of them may read which weights."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pulumi

from pulumi_lws.cluster.eks.component.model_access import model_reader
from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.component import Manifest
from pulumi_lws.platform.component.reached import Reached
from pulumi_lws.platform.doors import namespaces_of_gateways
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.weights import Account, accounts_to_make, readers
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
    """Make the namespaces of the platform, its gateways and its teams; return what everything in them waits for.

    Args:
        name: Name of the platform.
        platform: The platform.
        workloads: What runs for each of its teams.
        reached: Its cluster.
        opts: Options of each object.
        parent: The platform.
    """
    made: list[pulumi.Resource] = [
        Manifest(f"{name}-namespace", _namespace(platform.namespace), opts),
        *(Manifest(f"{name}-namespace-{key}", _namespace(key), opts) for key in namespaces_of_gateways(platform)),
    ]
    for key, team in platform.teams.items():
        args = TeamNamespaceArgs(key, team, beside=workloads.get(key, ()))
        made.append(TeamNamespace(f"{name}-team-{key}", args, opts))
    own = pulumi.ResourceOptions(parent=parent, provider=reached.kubernetes, depends_on=made)
    accounts: list[pulumi.Resource] = [
        Manifest(f"{_key(name, account)}-account", _service_account(platform, account), own)
        for account in accounts_to_make(platform)
    ]
    return [*made, *accounts, *_weights(name, platform, reached, parent)]


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _key(name: str, account: Account) -> str:
    return "-".join(filter(None, (name, *account)))


def _service_account(platform: PlatformArgs, account: Account) -> dict[str, Any]:
    team, name = account
    metadata = {"name": name, "namespace": platform.namespace_of(team)}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def _weights(name: str, platform: PlatformArgs, reached: Reached, parent: pulumi.Resource) -> Iterator[pulumi.Resource]:
    """Let pods read their weights in S3, where the cluster is ours; yield what they wait for."""
    if not isinstance(platform.cluster, EksClusterArgs) or reached.connection is None:
        return
    for account, folders in readers(platform).items():
        team, service_account = account
        yield model_reader(
            f"{_key(name, account)}-reads",
            platform.cluster,
            reached.connection,
            (platform.namespace_of(team), service_account),
            folders,
            parent=parent,
        )
