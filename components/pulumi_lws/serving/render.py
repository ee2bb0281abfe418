"""The renderer of each kind of deployment."""

from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.disaggregated import disaggregated
from pulumi_lws.serving.objects import DeploymentObjects, multi_node, one_node
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import DeploymentArgs, DisaggregatedVllmArgs, SingleNodeVllmArgs


def render(args: DeploymentArgs, roles: tuple[Role, ...] | None = None) -> DeploymentObjects:
    """Render a deployment whose roles are known; one with problems of its roles cannot be."""
    roles = roles_of(args)[0] if roles is None else roles
    if isinstance(args, DisaggregatedVllmArgs):
        prefill, decode = roles
        return disaggregated(args, prefill, decode)
    (role,) = roles
    return one_node(role) if isinstance(args, SingleNodeVllmArgs) else multi_node(role)
