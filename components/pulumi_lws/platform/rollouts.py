"""Whether rollouts put a copy on top, where deployments leave that open and share nodes in sizes that do not divide.

Each deployment decides by the GPUs that the others take of its pool. Where pods of 1, 2, 4 and 8 GPUs share nodes of 8,
free GPUs always lie together; among pods of 3, 5 or 6 they may be scattered, so there the copies are laid out.
"""

from collections.abc import Mapping

from pulumi_lws.planning.capacity import headroom_problems
from pulumi_lws.planning.parallelism import group_shape
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.sizing import demands_of, path_of_role, pools_of
from pulumi_lws.ray.deciding import Decided
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.settings import DeploymentArgs, roles_settings


def without_scattered_surge(
    platform: PlatformArgs, deployments: Mapping[str, DeploymentArgs], ray: Mapping[str, Decided]
) -> dict[str, DeploymentArgs]:
    """Return the deployments; a role that left its surge open has none where no node has room for it.

    Args:
        platform: The platform.
        deployments: The arguments of its deployments by name.
        ray: What runs on Ray, by the path of its settings.
    """
    if not any(_scatters(args) for args in deployments.values()):
        return dict(deployments)
    roles = {path_of_role(name, role): role for name, args in deployments.items() for role in roles_of(args)[0]}
    crowded = {problem.path for problem in headroom_problems(pools_of(platform), demands_of(roles, ray))}
    changed = dict(deployments)
    for path, role in roles.items():
        if role.settings.surge is None and f"{path}.surge" in crowded:
            changed[role.deployment_name] = _without_surge(changed[role.deployment_name], role.path)
    return changed


def _scatters(args: DeploymentArgs) -> bool:
    """Tell whether pods of a deployment leave GPUs of their node over."""
    for settings in roles_settings(args).values():
        if pool := args.pools.get(settings.pool):
            shape = group_shape(settings.parallelism, pool.instance.gpus)
            if shape.gpus_per_node % shape.gpus_per_pod:
                return True
    return False


def _without_surge(args: DeploymentArgs, path: str) -> DeploymentArgs:
    """Return the arguments with no copy on top of one role."""
    none = {"surge": 0}
    return args.model_copy(update={path: getattr(args, path).model_copy(update=none)} if path else none)
