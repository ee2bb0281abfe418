"""What runs in the namespace of each team of a platform."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pulumi_lws.caches.shared_volumes import SharedVolumeArgs
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.ray.settings import RayArgs
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.settings import DeploymentArgs
from pulumi_lws.tenancy.workloads import TeamWorkload, of_copies, of_deployment, of_load_test, of_ray


def workloads_of_teams(
    platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs], ray: Mapping[str, RayArgs]
) -> dict[str, list[TeamWorkload]]:
    """Return what runs for each team; a team without anything is left out.

    Args:
        platform: The platform.
        deployments: The arguments of its deployments by name.
        ray: The arguments of what runs on Ray, by name.
    """
    found: defaultdict[str, list[TeamWorkload]] = defaultdict(list)
    # Of a deployment whose pool could not be read, nobody knows the pods.
    known = {name: args for name, args in deployments.items() if roles_of(args)[0]}
    for team, workload in _workloads(platform, known, ray):
        if team is not None:
            found[team].append(workload)
    return dict(found)


def _workloads(
    platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs], ray: Mapping[str, RayArgs]
) -> Iterator[tuple[str | None, TeamWorkload]]:
    for name, args in deployments.items():
        yield platform.deployments[name].team, of_deployment(args)
    for name, on_ray in ray.items():
        yield platform.ray[name].team, of_ray(on_ray)
    for name, volume in platform.caches.shared_volumes.items():
        namespace = platform.namespace_of(volume.team)
        yield volume.team, of_copies(SharedVolumeArgs(name=name, namespace=namespace, volume=volume))
    for name, test in platform.load_tests.items():
        if (tested := deployments.get(test.deployment)) is not None:
            yield platform.deployments[test.deployment].team, of_load_test(name, test, tested)
