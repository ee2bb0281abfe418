"""The parts of a platform beside cluster, pools and deployments: whether each is sound, and all work together."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_lws.addons.addon import Site
from pulumi_lws.addons.checks import add_on_problems, exclusion_problems
from pulumi_lws.addons.installation import merged, namespaces_of
from pulumi_lws.addons.needed_values import GATEWAY_CERTIFICATES, REDIS_LIMITS, NeededValue, values_off
from pulumi_lws.addons.needs import (
    AUTOSCALERS,
    Needs,
    autoscaling_by_path,
    deployment_needs,
    misplaced_prometheus,
    missing_add_ons,
)
from pulumi_lws.caches.checks import cache_problems
from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.edge.checks import gateway_problems
from pulumi_lws.load_tests.checks import load_test_problems
from pulumi_lws.monitoring.checks import monitoring_problems
from pulumi_lws.monitoring.dashboards.manifests import grafana_values
from pulumi_lws.monitoring.site import LEAST_START_MINUTES, MonitoredSite
from pulumi_lws.monitoring.state_metrics import add_on_values
from pulumi_lws.planning.problems import Problem
from pulumi_lws.platform.cluster_checks import image_of, mode_of, start_budget_of
from pulumi_lws.platform.doors import gateways_of
from pulumi_lws.platform.node_folders import node_folder_problems
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.teams import workloads_of_teams
from pulumi_lws.queues.checks import queue_problems
from pulumi_lws.queues.manager import manager_values
from pulumi_lws.ray.checks import check as check_ray
from pulumi_lws.ray.settings import RayArgs
from pulumi_lws.serving.scaling.adapter import adapter_values
from pulumi_lws.serving.scaling.gateways.checks import gateways_problems, roles_behind
from pulumi_lws.serving.settings import DeploymentArgs
from pulumi_lws.tenancy.checks import team_problems


def part_problems(platform: PlatformArgs, ray: Mapping[str, RayArgs]) -> list[Problem]:
    """Return what is wrong with parts by themselves.

    Args:
        platform: The platform.
        ray: The arguments of what runs on Ray, by name.
    """
    problems = [*_teams_named(platform)]
    problems += [problem.below("addOns") for problem in add_on_problems(platform.add_ons, site_of(platform, {}))]
    problems += cache_problems(
        platform.caches, platform.pools, platform.deployments, mode=mode_of(platform), image=image_of(platform)
    )
    for name, args in ray.items():
        problems += [problem.below(f"ray.{name}") for problem in check_ray(args)]
    return problems


def joint_problems(
    platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs], ray: Mapping[str, RayArgs]
) -> list[Problem]:
    """Return what keeps parts and deployments, all sound by themselves, from working together.

    Args:
        platform: The platform.
        deployments: The arguments of its deployments by name.
        ray: The arguments of what runs on Ray, by name.
    """
    problems: list[Problem] = []
    for name, gateway in gateways_of(platform, deployments).items():
        problems += [problem.below(f"gateways.{name}") for problem in gateway_problems(gateway)]
    if platform.monitoring is not None:
        site = monitored_site(platform)
        problems += [problem.below("monitoring") for problem in monitoring_problems(platform.monitoring, site)]
    site_of_add_ons = site_of(platform, deployments)
    problems += [problem.below("addOns") for problem in exclusion_problems(platform.add_ons, site_of_add_ons)]
    problems += missing_add_ons(_needs(platform, deployments), platform.add_ons, site_of_add_ons)
    problems += values_off(_values_needed(platform), platform.add_ons, site_of_add_ons)
    scaled = {f"gatewayAutoscalers.{name}": scaling for name, scaling in platform.gateway_autoscalers.items()}
    problems += misplaced_prometheus(platform.add_ons, {**autoscaling_by_path(deployments), **scaled})
    problems += load_test_problems(platform.load_tests, deployments)
    problems += node_folder_problems(platform, deployments, ray)
    taken = {platform.namespace, *namespaces_of(platform.add_ons)}
    problems += team_problems(platform.teams, workloads_of_teams(platform, deployments, ray), taken)
    problems += [
        problem.below("gatewayAutoscalers") for problem in gateways_problems(platform.gateway_autoscalers, deployments)
    ]
    if platform.queues is not None:
        lws = platform.add_ons.lws
        namespaces = {platform.namespace, *map(platform.namespace_of, platform.teams)}
        gang_scheduler = lws.gang_scheduler if lws else None
        problems += queue_problems(platform.queues, platform.pools, deployments, namespaces, gang_scheduler)
    elif isinstance(platform.cluster, EksClusterArgs):
        problems += _queues_named(deployments)
    return problems


def monitored_site(platform: PlatformArgs) -> MonitoredSite:
    """Return what alerts must know of a platform."""
    budgets = [start_budget_of(platform, pool) for pool in platform.pools]
    return MonitoredSite(platform.pools, mode_of(platform), max(budgets, default=LEAST_START_MINUTES))


def site_of(platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs]) -> Site:
    """Return what add-ons must know of a platform.

    Args:
        platform: The platform.
        deployments: The arguments of its deployments by name.
    """
    asked: dict[str, Any] = {}
    if platform.monitoring is not None:
        asked = merged(add_on_values(), {"kube_prometheus_stack": grafana_values()})
    if platform.queues is not None:
        asked = merged(asked, {"kueue": manager_values(platform.queues, deployments.values())})
    if platform.add_ons.prometheus_adapter is not None:
        behind = [(one, roles_behind(one, deployments)) for one in platform.gateway_autoscalers.values()]
        asked["prometheus_adapter"] = adapter_values([(one, roles) for one, roles in behind if roles])
    return Site(
        mode=mode_of(platform),
        is_new=isinstance(platform.cluster, EksClusterArgs),
        pools=platform.pools,
        image=image_of(platform),
        installed=frozenset(name for name, _ in platform.add_ons.installed()),
        manager_values=asked,
    )


def _needs(platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs]) -> Needs:
    """Return the add-ons that deployments and other parts need, and where they say so."""
    needs = defaultdict(list, deployment_needs(deployments))
    needs["kueue"] += ["queues"] if platform.queues is not None else []
    needs["kube_prometheus_stack"] += ["monitoring"] if platform.monitoring is not None else []
    needs["kuberay"] += [f"ray.{name}" for name in platform.ray]
    for name, gateway in platform.gateways.items():
        needs["envoy_gateway"].append(f"gateways.{name}")
        if gateway.tls.kind == "cert-manager":
            needs["cert_manager"].append(f"gateways.{name}.tls")
    for name, scaling in platform.gateway_autoscalers.items():
        needs[AUTOSCALERS[scaling.kind]].append(f"gatewayAutoscalers.{name}.kind")
    return needs


def _values_needed(platform: PlatformArgs) -> Iterator[tuple[str, NeededValue]]:
    """Yield the values of add-ons that gateways need, each with the path of what says so."""
    for name, gateway in platform.gateways.items():
        if gateway.rate_limit is not None and gateway.rate_limit.counted == "redis":
            yield f"gateways.{name}.rateLimit.counted", REDIS_LIMITS
        if gateway.tls.kind == "cert-manager":
            yield f"gateways.{name}.tls", GATEWAY_CERTIFICATES


def _queues_named(deployments: Mapping[str, DeploymentArgs]) -> Iterator[Problem]:
    """Judge deployments in queues on a cluster that is made here, and so has none."""
    for name, args in deployments.items():
        if args.queue is not None:
            fix = "Declare it under queues, or remove it: the pods would wait for ever."
            yield Problem(f"deployments.{name}.queue", args.queue, "nothing: no queues are declared", fix)


def _teams_named(platform: PlatformArgs) -> Iterator[Problem]:
    """Judge what is in a team that there is not."""
    named = [
        *((f"deployments.{name}", entry.team) for name, entry in platform.deployments.items()),
        *((f"ray.{name}", entry.team) for name, entry in platform.ray.items()),
        *((f"caches.sharedVolumes.{name}", volume.team) for name, volume in platform.caches.shared_volumes.items()),
    ]
    for path, team in named:
        if team is not None and team not in platform.teams:
            there = ", ".join(platform.teams) or "none is declared"
            yield Problem(f"{path}.team", team, there, "Name a team of this stack, or declare it under teams.")
