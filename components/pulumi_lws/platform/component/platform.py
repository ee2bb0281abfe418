"""The whole of one environment as one Pulumi component."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pulumi
import pulumi_kubernetes
from pulumi.runtime.config import is_config_secret

from pulumi_lws.cluster.component import Connection
from pulumi_lws.cluster.eks.component.cluster import EksCluster
from pulumi_lws.cluster.eks.component.existing import ExistingEks
from pulumi_lws.cluster.eks.component.model_access import model_reader
from pulumi_lws.cluster.eks.settings import EksClusterArgs, ExistingEksCluster
from pulumi_lws.cluster.kubeconfig import Kubeconfig
from pulumi_lws.cluster.kubeconfig import read as read_kubeconfig
from pulumi_lws.cluster.settings import ExistingCluster
from pulumi_lws.component import DeclarationError, Manifest, raise_problems
from pulumi_lws.nodes.component import GpuNodePool, GpuNodePoolArgs
from pulumi_lws.planning.problems import Problem
from pulumi_lws.platform.checks import check, deployments_of, read
from pulumi_lws.platform.cluster_checks import start_budget_of
from pulumi_lws.platform.secrets import SETTINGS_KEY, secret_somewhere
from pulumi_lws.platform.settings import Cluster, PlatformArgs
from pulumi_lws.platform.weights import DEFAULT_SERVICE_ACCOUNT, readers
from pulumi_lws.serving.component import KINDS


def stack_settings() -> Any:
    """Return the platform that the selected stack's file declares, as it stands there.

    Raises:
        DeclarationError: Some value is a secret: Pulumi hands it over in plain, and so it would go on.
    """
    if is_config_secret(SETTINGS_KEY):
        raise DeclarationError([secret_somewhere()], "The stack file")
    bag, _, key = SETTINGS_KEY.partition(":")
    return pulumi.Config(bag).require_object(key)


class Platform(pulumi.ComponentResource):
    """Cluster, namespace and deployments of one environment.

    Args:
        name: Pulumi name of the component.
        args: The platform of the stack file, as a mapping or already read.
        opts: Options of the component.

    Raises:
        DeclarationError: With every problem of the declaration.
    """

    urls: Mapping[str, pulumi.Output[str]]
    """Address of each deployment's OpenAI API inside the cluster, by name."""
    kubeconfig: pulumi.Output[str] | None
    """How a cluster on AWS is reached, a secret; None for one that is reached by a kubeconfig already."""

    def __init__(
        self, name: str, args: PlatformArgs | Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        today = datetime.now(UTC).date()
        platform, problems = (args, check(args, today)) if isinstance(args, PlatformArgs) else read(args, today)
        access = _access(platform)
        if isinstance(access, Problem):
            problems = [access, *problems]
        raise_problems(problems, f"Platform {name}")
        if platform is None or isinstance(access, Problem):
            raise AssertionError("what cannot be read has problems")
        super().__init__("lws:index:Platform", name, platform.model_dump(by_alias=True, exclude_none=True), opts)
        reached = self._reach(name, platform.cluster, access)
        self.provider, self.kubeconfig = reached.kubernetes, reached.kubeconfig
        namespace = Manifest(
            f"{name}-namespace",
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": platform.namespace}},
            pulumi.ResourceOptions(parent=self, provider=self.provider, depends_on=reached.ready),
        )
        self.pools = self._pools(name, platform, reached)
        before = [namespace, *self._weights(name, platform, reached, namespace), *reached.ready, *self.pools.values()]
        self.urls = {
            key: KINDS[platform.deployments[key].kind](
                f"{name}-{key}",
                deployment,
                pulumi.ResourceOptions(
                    parent=self,
                    providers=[self.provider],
                    # Destroyed before their nodes and before what makes those.
                    depends_on=before,
                ),
            ).url
            for key, deployment in deployments_of(platform).items()
        }
        self.register_outputs({"urls": self.urls})

    def _reach(self, name: str, cluster: Cluster, access: Kubeconfig | None) -> "_Reached":
        own = pulumi.ResourceOptions(parent=self)
        match cluster:
            case EksClusterArgs():
                return _on_aws(EksCluster(f"{name}-cluster", cluster, own).connection)
            case ExistingEksCluster():
                return _on_aws(ExistingEks(f"{name}-cluster", cluster, own).connection)
            case ExistingCluster():
                if access is None:
                    raise AssertionError("a cluster that is reached by a kubeconfig has one")
                return _Reached(self._kubernetes_provider(name, cluster, access))

    def _pools(self, name: str, platform: PlatformArgs, reached: "_Reached") -> dict[str, GpuNodePool]:
        connection = reached.connection
        if connection is None:
            return {}
        return {
            key: GpuNodePool(
                f"{name}-pool-{key}",
                GpuNodePoolArgs(key, pool, connection.nodes, start_budget_of(platform, key)),
                pulumi.ResourceOptions(parent=self, providers=connection.providers, depends_on=connection.ready),
            )
            for key, pool in platform.pools.items()
        }

    def _weights(
        self, name: str, platform: PlatformArgs, reached: "_Reached", namespace: pulumi.Resource
    ) -> list[pulumi.Resource]:
        """Let pods read their weights in S3, where the cluster is ours; return what they wait for."""
        if not isinstance(platform.cluster, EksClusterArgs) or reached.connection is None:
            return []
        made: list[pulumi.Resource] = []
        for account, folders in readers(platform).items():
            if account != DEFAULT_SERVICE_ACCOUNT:
                metadata = {"name": account, "namespace": platform.namespace}
                manifest = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
                own = pulumi.ResourceOptions(parent=self, provider=self.provider, depends_on=[namespace])
                made.append(Manifest(f"{name}-{account}-account", manifest, own))
            subject = (platform.namespace, account)
            made.append(
                model_reader(
                    f"{name}-{account}-reads", platform.cluster, reached.connection, subject, folders, parent=self
                )
            )
        return made

    def _kubernetes_provider(
        self, name: str, cluster: ExistingCluster, access: Kubeconfig
    ) -> pulumi_kubernetes.Provider:
        return pulumi_kubernetes.Provider(
            f"{name}-kubernetes",
            kubeconfig=pulumi.Output.secret(access.content),
            context=access.context,
            cluster_identifier=cluster.name,
            enable_server_side_apply=True,
            opts=pulumi.ResourceOptions(parent=self),
        )


@dataclass(frozen=True)
class _Reached:
    """A cluster that can be deployed to; its pools are made only where it is on AWS."""

    kubernetes: pulumi_kubernetes.Provider
    connection: Connection | None = None

    @property
    def ready(self) -> tuple[pulumi.Resource, ...]:
        """What everything on the cluster waits for."""
        return self.connection.ready if self.connection else ()

    @property
    def kubeconfig(self) -> pulumi.Output[str] | None:
        """How a cluster on AWS is reached."""
        return self.connection.kubeconfig if self.connection else None


def _on_aws(connection: Connection) -> _Reached:
    return _Reached(connection.kubernetes, connection)


def _access(platform: PlatformArgs | None) -> Kubeconfig | Problem | None:
    """Read the kubeconfig of a cluster that is reached by one."""
    if platform is None or not isinstance(platform.cluster, ExistingCluster):
        return None
    return read_kubeconfig(platform.cluster, os.environ)
