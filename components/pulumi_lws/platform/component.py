"""The whole of one environment as one Pulumi component."""

import os
from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes

from pulumi_lws.cluster import kubeconfig
from pulumi_lws.cluster.settings import ExistingCluster
from pulumi_lws.component import Manifest, raise_problems
from pulumi_lws.planning.problems import Problem
from pulumi_lws.platform.checks import check, deployments_of, read
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.component import KINDS


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

    def __init__(
        self, name: str, args: PlatformArgs | Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        platform, problems = (args, check(args)) if isinstance(args, PlatformArgs) else read(args)
        access = kubeconfig.read(platform.cluster, os.environ) if platform else None
        if isinstance(access, Problem):
            problems = [access, *problems]
        raise_problems(problems, f"Platform {name}")
        if platform is None or not isinstance(access, kubeconfig.Kubeconfig):
            raise AssertionError("what cannot be read has problems")
        super().__init__("lws:index:Platform", name, platform.model_dump(by_alias=True, exclude_none=True), opts)
        self.provider = self._kubernetes_provider(name, platform.cluster, access)
        namespace = Manifest(
            f"{name}-namespace",
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": platform.namespace}},
            pulumi.ResourceOptions(parent=self, provider=self.provider),
        )
        self.urls = {
            key: KINDS[platform.deployments[key].kind](
                f"{name}-{key}",
                deployment,
                pulumi.ResourceOptions(parent=self, providers=[self.provider], depends_on=[namespace]),
            ).url
            for key, deployment in deployments_of(platform).items()
        }
        self.register_outputs({"urls": self.urls})

    def _kubernetes_provider(
        self, name: str, cluster: ExistingCluster, access: kubeconfig.Kubeconfig
    ) -> pulumi_kubernetes.Provider:
        return pulumi_kubernetes.Provider(
            f"{name}-kubernetes",
            kubeconfig=pulumi.Output.secret(access.content),
            context=access.context,
            cluster_identifier=cluster.name,
            enable_server_side_apply=True,
            opts=pulumi.ResourceOptions(parent=self),
        )
