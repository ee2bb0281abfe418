"""The control plane: a ``pulumi_eks.Cluster`` with its role, its logs and its key."""

import json
from typing import Any

import pulumi

from pulumi_lws.cluster.component import sdk
from pulumi_lws.cluster.eks import iam, names
from pulumi_lws.cluster.eks.component.parts import Parts, role
from pulumi_lws.cluster.eks.settings import AutoCompute, EksClusterArgs, addon_version
from pulumi_lws.cluster.network.addresses import LEAST_POD_ADDRESSES, WARM_POD_ADDRESSES


def control_plane(parts: Parts) -> Any:
    """Make the control plane."""
    cluster = parts.cluster
    service_role, granted = _service_role(parts)
    # EKS would make the log group itself, and keep logs for ever.
    logs = sdk("pulumi_aws").cloudwatch.LogGroup(
        f"{parts.name}-logs",
        name=names.log_group(cluster),
        retention_in_days=cluster.log_retention_days,
        opts=parts.on_aws(),
    )
    public = bool(cluster.public_cidrs)
    return sdk("pulumi_eks").Cluster(
        f"{parts.name}-cluster",
        name=cluster.name,
        version=cluster.version,
        service_role=service_role,
        vpc_id=parts.network.vpc_id,
        private_subnet_ids=parts.network.control_plane_subnets,
        endpoint_private_access=True,
        endpoint_public_access=public,
        public_access_cidrs=list(cluster.public_cidrs) if public else None,
        authentication_mode=cluster.authentication,
        encryption_config_key_arn=cluster.kms_key or _key(parts),
        enabled_cluster_log_types=list(cluster.log_types),
        kubernetes_service_ip_address_range=cluster.service_cidr,
        deletion_protection=cluster.protect,
        # One plan for security groups: every node has the one that EKS makes, so that all reach the API server and one
        # another. https://github.com/pulumi/pulumi-eks/issues/1275
        skip_default_security_groups=True,
        skip_default_node_group=True,
        create_instance_role=False,
        create_oidc_provider=False,
        **_compute(cluster),
        opts=pulumi.ResourceOptions(
            parent=parts.parent,
            providers=[parts.aws],
            protect=cluster.protect,
            depends_on=[logs, *granted, *parts.network.routes],
        ),
    )


def _service_role(parts: Parts) -> tuple[Any, list[Any]]:
    cluster, mode = parts.cluster, parts.cluster.compute.kind
    made, granted = role(
        parts, "control-plane", names.cluster_role(cluster), iam.cluster_trust(), iam.CLUSTER_POLICIES[mode]
    )
    if mode == "auto":
        tags = sdk("pulumi_aws").iam.RolePolicy(
            f"{parts.name}-control-plane-tags",
            role=made.name,
            policy=json.dumps(iam.auto_tags_policy(cluster)),
            opts=parts.on_aws(),
        )
        granted.append(tags)
    return made, granted


def _key(parts: Parts) -> Any:
    key = sdk("pulumi_aws").kms.Key(
        f"{parts.name}-secrets",
        description=f"Secrets of the cluster {parts.cluster.name}",
        enable_key_rotation=True,
        deletion_window_in_days=30,
        opts=parts.on_aws(protect=parts.cluster.protect),
    )
    return key.arn


def _compute(cluster: EksClusterArgs) -> dict[str, Any]:
    eks = sdk("pulumi_eks")
    # On Auto Mode DNS is part of the node; elsewhere the add-on would wait for nodes that do not exist yet.
    # https://github.com/pulumi/pulumi-eks/issues/1819
    without_dns = {"coredns_addon_options": eks.CoreDnsAddonOptionsArgs(enabled=False)}
    if isinstance(cluster.compute, AutoCompute):
        # A role with no built-in pools is refused, and one with them can never be changed.
        pools = eks.ClusterComputeConfigArgs(node_pools=[])
        return without_dns | {
            "auto_mode": eks.AutoModeOptionsArgs(enabled=True, create_node_role=False, compute_config=pools)
        }
    return without_dns | {
        "kube_proxy_addon_options": eks.KubeProxyAddonOptionsArgs(version=addon_version(cluster, "kube-proxy")),
        "vpc_cni_options": eks.VpcCniOptionsArgs(
            addon_version=addon_version(cluster, "vpc-cni"),
            enable_network_policy=True,
            warm_ip_target=WARM_POD_ADDRESSES,
            configuration_values={"env": {"MINIMUM_IP_TARGET": str(LEAST_POD_ADDRESSES)}},
        ),
    }
