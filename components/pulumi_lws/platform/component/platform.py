"""The whole of one environment as one Pulumi component."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pulumi
from pulumi.runtime.config import is_config_secret

from pulumi_lws.addons.checks import missing_credentials
from pulumi_lws.addons.component import ClusterAddOns
from pulumi_lws.cluster.kubeconfig import Kubeconfig
from pulumi_lws.component import DeclarationError, as_parts, raise_problems
from pulumi_lws.nodes.component import GpuNodePool, GpuNodePoolArgs
from pulumi_lws.planning.problems import Problem
from pulumi_lws.platform.checks import check, deployments_of, ray_of, read
from pulumi_lws.platform.cluster_checks import start_budget_of
from pulumi_lws.platform.component.around import make_around
from pulumi_lws.platform.component.caching import make_caches
from pulumi_lws.platform.component.namespaces import make_namespaces
from pulumi_lws.platform.component.reached import Reached, kubeconfig_of, reach
from pulumi_lws.platform.parts import site_of
from pulumi_lws.platform.secrets import SETTINGS_KEY, secret_somewhere
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.teams import workloads_of_teams
from pulumi_lws.queues.component import KueueQueues
from pulumi_lws.queues.settings import queues_args
from pulumi_lws.ray.component import RAY_KINDS
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
    """Cluster, add-ons, teams, queues, caches and deployments of one environment, each after what it needs.

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
        access = kubeconfig_of(platform)
        if isinstance(access, Problem):
            problems = [access, *problems]
        if platform is not None:
            missing = missing_credentials(platform.add_ons, os.environ)
            problems = [*problems, *(problem.below("addOns") for problem in missing)]
        raise_problems(problems, f"Platform {name}")
        if platform is None or isinstance(access, Problem):
            raise AssertionError("what cannot be read has problems")
        super().__init__("lws:index:Platform", name, platform.model_dump(by_alias=True, exclude_none=True), opts)
        self._name, self._platform = name, platform
        with as_parts():
            self._make(name, platform, access)
        self.register_outputs({"urls": self.urls})

    def _make(self, name: str, platform: PlatformArgs, access: Kubeconfig | None) -> None:
        self._reached = reach(name, platform.cluster, access, self)
        self.provider, self.kubeconfig = self._reached.kubernetes, self._reached.kubeconfig
        self.pools = self._pools(self._reached)
        deployments = deployments_of(platform)
        # Destroyed last, so that controllers are there for what they made, and nodes for what runs on them.
        before: list[pulumi.Resource] = [*self._reached.ready, *self.pools.values()]
        if list(platform.add_ons.installed()):
            site = site_of(platform, deployments)
            before.append(ClusterAddOns(f"{name}-add-ons", platform.add_ons, site, self._after(self._reached.ready)))
        ray = ray_of(platform)
        teams = workloads_of_teams(platform, deployments, ray)
        before += make_namespaces(name, platform, teams, self._reached, self._after(before), parent=self)
        if platform.queues is not None:
            queues = queues_args(platform.queues, platform.pools)
            before.append(KueueQueues(f"{name}-queues", queues, self._after(before)))
        before += make_caches(name, platform, deployments, self._reached, self._after(before))
        ready = self._after(before)
        made = {
            key: KINDS[platform.deployments[key].kind](f"{name}-{key}", deployment, ready)
            for key, deployment in deployments.items()
        }
        self.urls = {key: deployment.url for key, deployment in made.items()}
        self.ray = {key: RAY_KINDS[args.kind](f"{name}-ray-{key}", args, ready) for key, args in ray.items()}
        self.gateways = make_around(name, platform, deployments, made, ready)

    def _after(self, before: list[pulumi.Resource] | tuple[pulumi.Resource, ...]) -> pulumi.ResourceOptions:
        """Return the options of a part that comes after others, and goes before them."""
        return pulumi.ResourceOptions(parent=self, providers=[self.provider], depends_on=list(before))

    def _pools(self, reached: Reached) -> dict[str, GpuNodePool]:
        connection, platform = reached.connection, self._platform
        if connection is None:
            return {}
        return {
            key: GpuNodePool(
                f"{self._name}-pool-{key}",
                GpuNodePoolArgs(key, pool, connection.nodes, start_budget_of(platform, key)),
                pulumi.ResourceOptions(parent=self, providers=connection.providers, depends_on=connection.ready),
            )
            for key, pool in platform.pools.items()
        }
