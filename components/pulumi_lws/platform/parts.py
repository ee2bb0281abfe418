"""The parts of a platform beside cluster, pools and deployments: whether each is sound, and all work together."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pulumi_lws.addons.addon import Site
from pulumi_lws.addons.checks import add_on_problems
from pulumi_lws.addons.installation import namespaces_of
from pulumi_lws.addons.settings import AddOnName
from pulumi_lws.caches.checks import cache_problems
from pulumi_lws.planning.problems import Problem
from pulumi_lws.platform.cluster_checks import image_of, mode_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.queues.checks import queue_problems
from pulumi_lws.queues.manager import manager_values
from pulumi_lws.ray.checks import check as check_ray
from pulumi_lws.ray.settings import RayArgs
from pulumi_lws.serving.scaling.gateways.checks import gateways_problems
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


def joint_problems(platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs]) -> list[Problem]:
    """Return what keeps parts and deployments, all sound by themselves, from working together.

    Args:
        platform: The platform.
        deployments: The arguments of its deployments by name.
    """
    by_team: defaultdict[str, list[DeploymentArgs]] = defaultdict(list)
    for name, args in deployments.items():
        if team := platform.deployments[name].team:
            by_team[team].append(args)
    taken = {platform.namespace, *namespaces_of(platform.add_ons)}
    problems = team_problems(platform.teams, by_team, taken)
    problems += [
        problem.below("gatewayAutoscalers") for problem in gateways_problems(platform.gateway_autoscalers, deployments)
    ]
    if platform.queues is not None:
        lws = platform.add_ons.lws
        namespaces = {platform.namespace, *map(platform.namespace_of, platform.teams)}
        gang_scheduler = lws.gang_scheduler if lws else None
        problems += queue_problems(platform.queues, platform.pools, deployments, namespaces, gang_scheduler)
    return problems


def site_of(platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs]) -> Site:
    """Return what add-ons must know of a platform.

    Args:
        platform: The platform.
        deployments: The arguments of its deployments by name.
    """
    asked: dict[AddOnName, Mapping[str, object]] = {}
    if platform.queues is not None:
        asked["kueue"] = manager_values(platform.queues, deployments.values())
    return Site(
        mode=mode_of(platform),
        pools=platform.pools,
        image=image_of(platform),
        installed=frozenset(name for name, _ in platform.add_ons.installed()),
        manager_values=asked,
    )


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
