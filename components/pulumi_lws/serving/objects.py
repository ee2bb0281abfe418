"""A deployment, rendered to every object that it consists of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi_lws.serving import readiness, single_node
from pulumi_lws.serving.disruption import disruption_budget
from pulumi_lws.serving.groups import groups
from pulumi_lws.serving.network import network_policy
from pulumi_lws.serving.pods import needs_program
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.scaling import manifests as scaling
from pulumi_lws.serving.scaling import zero
from pulumi_lws.serving.service import service, service_name
from pulumi_lws.workloads.disaggregated_set import DisaggregatedSetArgs
from pulumi_lws.workloads.manifests import disaggregated_set, leader_worker_set
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""


@dataclass(frozen=True)
class DeploymentObjects:
    """The objects of a deployment, each by the suffix of its Pulumi name.

    Attributes:
        url: Address of the OpenAI API inside the cluster.
        update_minutes: How long an update waits until the pods serve.
        before: What must exist before the pods: the probe program, and who may reach them.
        beside: What may come with the pods or after them.
        groups: LeaderWorkerSets.
        disaggregated_set: A DisaggregatedSet, where the roles are one.
        deployments: Deployments.
    """

    url: str
    update_minutes: int
    before: Mapping[str, Manifest]
    beside: Mapping[str, Manifest]
    groups: Mapping[str, LeaderWorkerSetArgs] = field(default_factory=dict)
    disaggregated_set: DisaggregatedSetArgs | None = None
    deployments: Mapping[str, Manifest] = field(default_factory=dict)

    @property
    def manifests(self) -> dict[str, Manifest]:
        """Every object as its API has it, in the order in which they may be made."""
        roles = self.disaggregated_set
        return {
            **self.before,
            **{name: leader_worker_set(groups) for name, groups in self.groups.items()},
            **({"roles": disaggregated_set(roles)} if roles else {}),
            **self.deployments,
            **self.beside,
        }


def multi_node(role: Role) -> DeploymentObjects:
    """Render a ``MultiNodeVllm``."""
    return DeploymentObjects(
        url=url(role),
        update_minutes=role.launch.timeouts.update_minutes,
        before=before([role]),
        beside={"api": _service(role), **around(role)},
        groups={"groups": groups(role)},
    )


def one_node(role: Role) -> DeploymentObjects:
    """Render a ``SingleNodeVllm``."""
    return DeploymentObjects(
        url=url(role),
        update_minutes=role.launch.timeouts.update_minutes,
        before=before([role]),
        beside={"api": _service(role), **around(role)},
        deployments={"pods": single_node.deployment(role)},
    )


def url(role: Role) -> str:
    """Return the address of the OpenAI API of a role's Service."""
    return f"http://{service_name(role.workload)}.{role.namespace}.svc:{role.behaviour.ports['http']}/v1"


def before(roles: Iterable[Role]) -> dict[str, Manifest]:
    """Render what must exist before the pods of these roles."""
    objects: dict[str, Manifest] = {}
    for role in roles:
        if needs_program(role):
            objects["probe"] = readiness.config_map(role.deployment_name, role.namespace)
        if role.deployment.network is not None:
            objects[key(role, "network")] = network_policy(
                role.workload,
                role.namespace,
                role.selector,
                role.deployment.network,
                role.behaviour.ports.values(),
            )
    return objects


def around(role: Role) -> dict[str, Manifest]:
    """Render what stands beside the pods of a role: its disruption budget, and its autoscaler."""
    scaling_settings = role.settings.autoscaling
    objects = {
        key(role, "budget"): disruption_budget(
            role.workload,
            role.namespace,
            role.selector,
            pods_per_group=role.shape.size,
            groups=None if scaling_settings else role.settings.replicas,
        )
    }
    if scaling_settings is not None and role.engine_kind != "custom":
        objects[key(role, "autoscaler")] = scaling.autoscaler(
            role.workload,
            role.namespace,
            role.scale_target,
            scaling_settings,
            reporters=scaling.Reporters(
                role.engine_kind,
                role.reporting_pods,
                role.name,
                role.settings.parallelism.data,
                role.shape.data_per_pod(role.settings.parallelism),
            ),
            start_budget_minutes=role.deployment.start_budget_minutes,
            requests=zero.requests_query(role),
        )
    return objects


def key(role: Role, suffix: str) -> str:
    """Return the suffix of the Pulumi name of an object of a role."""
    return f"{role.path}-{suffix}" if role.path else suffix


def _service(role: Role) -> Manifest:
    return service(role.workload, role.namespace, role.serving_selector, role.behaviour.ports)
