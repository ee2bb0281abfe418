"""A model in two roles, prefill and decode, rendered to every object that it consists of.

Both roles carry the same revision label, and the router pairs only pods of one revision. How a new revision gets there
is the backend's: the controller of a DisaggregatedSet moves both roles in step. Two LeaderWorkerSets roll each at its
own pace: until both have pods of the new revision, its decode pods compute prompts themselves, which takes longer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.serving.groups import group_template, groups, rolling_update
from pulumi_lws.serving.network import network_policy
from pulumi_lws.serving.objects import DeploymentObjects, around, before, key
from pulumi_lws.serving.queueing import queue_labels
from pulumi_lws.serving.roles import API_PORT, Role
from pulumi_lws.serving.routing import attached, manifests
from pulumi_lws.serving.routing.pool import RoutedPool
from pulumi_lws.serving.service import service, service_name
from pulumi_lws.serving.settings import Client, DisaggregatedVllmArgs, NetworkAccess
from pulumi_lws.workloads.disaggregated_set import (
    DisaggregatedSetArgs,
    DisaggregatedSetSpec,
    RoleMetadata,
    RoleRolloutStrategy,
    RoleScaling,
    RoleSpec,
)
from pulumi_lws.workloads.disaggregated_set import Role as SetRole

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""


def disaggregated(args: DisaggregatedVllmArgs, prefill: Role, decode: Role) -> DeploymentObjects:
    """Render a ``DisaggregatedVllm``."""
    roles = (prefill, decode)
    as_set = args.backend == "disaggregated-set"
    return DeploymentObjects(
        url=_url(args),
        update_minutes=max(role.launch.timeouts.update_minutes for role in roles),
        before={**before(roles), **_policies(args, prefill, decode), **_rights(decode)},
        beside={**around(prefill), **around(decode), **_routing(args, roles)},
        groups={} if as_set else {role.path: groups(role) for role in roles},
        disaggregated_set=_set(args, roles) if as_set else None,
    )


def _url(args: DisaggregatedVllmArgs) -> str:
    """Return the address of the API: the router's, or that of the decode pods where the router is the user's.

    Only the Gateway knows its address, so without a host name there is none to tell.
    """
    router = args.router
    if router is None or router.kind == "standalone":
        owner = args.name if router else f"{args.name}-decode"
        return f"http://{service_name(owner)}.{args.namespace}.svc:{API_PORT}/v1"
    return f"http://{router.hostnames[0]}/v1" if router.hostnames else ""


def _routing(args: DisaggregatedVllmArgs, roles: Sequence[Role]) -> dict[str, Manifest]:
    """Render the router; where it is the user's, a Service for each role by which it finds the pods."""
    if args.router is None:
        ports = {"http": API_PORT}
        return {
            key(role, "api"): service(role.workload, role.namespace, role.serving_selector, ports) for role in roles
        }
    pool = RoutedPool(args.name, args.namespace, attached.serving_selector(args), API_PORT, args.drain_seconds)
    return manifests.router_objects(args.router, pool, API_PORT, args.router_image)


def _policies(args: DisaggregatedVllmArgs, prefill: Role, decode: Role) -> dict[str, Manifest]:
    """Render who reaches what.

    The roles reach each other on every port: the handshakes of NIXL, and its transfers where there is no EFA. The
    router reads the metrics of both. Clients reach the router; a Gateway is a client, and reaches decode pods too.
    """
    router = args.router
    if args.network is None:
        return {}
    access = _with_gateway(args.network, args)
    nobody = access.model_copy(update={"clients": ()})
    routers = [manifests.router_labels(args.name)] if router else []
    callers = {
        "prefill": nobody if router else access,
        "decode": nobody if router and router.kind == "standalone" else access,
    }

    def policy(role: Role, other: Role) -> Manifest:
        return network_policy(
            role.workload,
            role.namespace,
            role.selector,
            callers[role.path],
            [API_PORT],
            peers=[other.selector],
            routers=routers,
            metrics_ports=[API_PORT, role.launch.api_port],
        )

    policies = {key(prefill, "network"): policy(prefill, decode), key(decode, "network"): policy(decode, prefill)}
    if router is not None:
        policies["router-network"] = network_policy(
            manifests.router_name(args.name),
            args.namespace,
            manifests.router_labels(args.name),
            access,
            manifests.router_ports(router, API_PORT),
            metrics_ports=manifests.metrics_ports(router),
        )
    return policies


def _with_gateway(access: NetworkAccess, args: DisaggregatedVllmArgs) -> NetworkAccess:
    """Admit the namespace of the Gateway, which the default of clients leaves out where it is another one."""
    router = args.router
    if router is None or router.kind != "gateway" or router.gateway_namespace in {None, args.namespace}:
        return access
    gateway = Client(namespace=router.gateway_namespace)
    if gateway in access.clients:
        return access
    return access.model_copy(update={"clients": (*access.clients, gateway)})


def _rights(decode: Role) -> dict[str, Manifest]:
    """Render what lets the sidecars of decode know which pods may compute prompts."""
    account = attached.service_account(decode)
    if account is None or not attached.watches_pool(decode):
        return {}
    is_ours = decode.loading.service_account is None
    return manifests.sidecar_rights(decode.workload, decode.namespace, account, is_ours=is_ours)


def _set(args: DisaggregatedVllmArgs, roles: Sequence[Role]) -> DisaggregatedSetArgs:
    return DisaggregatedSetArgs(
        name=args.name,
        namespace=args.namespace,
        labels={labels.DEPLOYMENT: args.name},
        spec=DisaggregatedSetSpec(roles=tuple(_set_role(role) for role in roles)),
        lws_version=args.lws_version,
        kubernetes_version=args.kubernetes_version,
    )


def _set_role(role: Role) -> SetRole:
    annotations: Mapping[str, str] = {labels.LWS_EXCLUSIVE_TOPOLOGY: labels.ISLAND} if role.keeps_islands else {}
    is_scaled = role.settings.autoscaling is not None
    return SetRole(
        name=role.name,
        scaling=RoleScaling(mode="External") if is_scaled else None,
        metadata=RoleMetadata(
            labels={labels.DEPLOYMENT: role.deployment_name, labels.ROLE: role.name, **queue_labels(role)},
            annotations=annotations,
        ),
        spec=RoleSpec(
            # With a scaler of its own the role starts with one copy, whatever stands here.
            replicas=1 if is_scaled else role.settings.replicas,
            leader_worker_template=group_template(role),
            rollout_strategy=RoleRolloutStrategy(rolling_update_configuration=rolling_update(role)),
            startup_policy="LeaderReady",
        ),
    )
