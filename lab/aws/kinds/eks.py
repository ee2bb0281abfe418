"""Rules about EKS.

``source`` of each names the page of the EKS API that refuses, and what replaces is taken from the file of the same
resource below https://github.com/hashicorp/terraform-provider-aws/tree/main/internal/service/eks (``ForceNew``, and
``CustomizeDiff`` of the cluster).
"""

from typing import Any

from lab.aws.kinds.compute import LAUNCH_TEMPLATE
from lab.aws.kinds.forms import Cidr, OneOf, Text
from lab.aws.kinds.iam import ROLE
from lab.aws.kinds.kind import Kind, Reference, RefusedError, Request
from lab.aws.kinds.network import SECURITY_GROUP, SUBNET
from lab.aws.places import KUBERNETES_VERSIONS
from lab.aws.state import Object
from lab.aws.wire import UNKNOWN, at, is_known

CLUSTER = "aws:eks/cluster:Cluster"
ACCESS_ENTRY = "aws:eks/accessEntry:AccessEntry"

_API = "https://docs.aws.amazon.com/eks/latest/APIReference/API_"
CLUSTER_NAME = Text(100, r"[0-9A-Za-z][0-9A-Za-z_-]*")
"""The form of a cluster's name."""

_SEVERAL_ZONES = 2


def _check_cluster(request: Request) -> None:
    subnets = [request.account.find(SUBNET, one) for one in at(request.values, "vpcConfig.subnetIds")]
    found = [subnet for subnet in subnets if subnet]
    if is_known(request.values["vpcConfig"].get("subnetIds")):
        if len({subnet.outputs["vpcId"] for subnet in found}) > 1:
            raise RefusedError("InvalidParameterException: Subnets specified must belong to the same VPC.")
        if len({subnet.outputs["availabilityZone"] for subnet in found}) < _SEVERAL_ZONES:
            raise RefusedError("InvalidParameterException: Subnets specified must be in at least two different AZs")
    _check_endpoint_access(request.values["vpcConfig"])
    _check_auto_mode(request.values)
    if request.before:
        _check_version(request.before.outputs["version"], request.values.get("version", UNKNOWN))


def _check_endpoint_access(network: Any) -> None:
    if network.get("endpointPublicAccess") is False and not network.get("endpointPrivateAccess"):
        raise RefusedError("InvalidParameterException: Private and public endpoint access cannot both be disabled.")


def _check_auto_mode(values: Any) -> None:
    compute = values.get("computeConfig", {})
    parts = (compute, values.get("kubernetesNetworkConfig", {}), values.get("storageConfig", {}))
    if UNKNOWN in parts:
        return
    compute_on = compute.get("enabled", False)
    switches = {
        compute_on,
        parts[1].get("elasticLoadBalancing", {}).get("enabled", False),
        parts[2].get("blockStorage", {}).get("enabled", False),
    }
    if len(switches - {UNKNOWN}) > 1:
        raise RefusedError(
            "compute_config.enabled, kubernetes_networking_config.elastic_load_balancing.enabled, and "
            "storage_config.block_storage.enabled must all be set to either true or false"
        )
    if compute_on is True:
        if values.get("bootstrapSelfManagedAddons") is not False:
            raise RefusedError("bootstrap_self_managed_addons must be set to false when EKS Auto Mode is enabled")
        mode = values.get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
        if mode not in ("API", "API_AND_CONFIG_MAP", UNKNOWN):
            raise RefusedError(
                "InvalidParameterException: EKS Auto Mode requires access entries: authenticationMode API"
            )
        if bool(compute.get("nodePools")) != bool(compute.get("nodeRoleArn")):
            raise RefusedError(
                "InvalidParameterException: When Compute Config nodeRoleArn is not null or empty, nodePool value(s) "
                "must be provided, and the other way round."
            )


def _check_version(before: str, after: str) -> None:
    if UNKNOWN in (before, after) or before == after:
        return
    step = int(after.partition(".")[2]) - int(before.partition(".")[2])
    if step != 1:
        raise RefusedError(
            f"InvalidParameterException: Unsupported Kubernetes minor version update from {before} to {after}"
        )


def _check_delete_cluster(cluster: Object) -> None:
    if cluster.outputs.get("deletionProtection") is True:
        raise RefusedError(
            f"InvalidRequestException: Cannot delete cluster {cluster.id}: deletion protection is enabled"
        )


def _cluster_parts(cluster: Object) -> list[Object]:
    network = cluster.outputs["vpcConfig"]
    described = {
        "name": f"eks-cluster-sg-{cluster.id}",
        "description": "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, "
        "as well as any managed workloads.",
        "vpcId": network["vpcId"],
        "region": cluster.outputs["region"],
    }
    parts = [Object(SECURITY_GROUP, network["clusterSecurityGroupId"], {}, described, owner=cluster.id)]
    compute = cluster.outputs.get("computeConfig") or {}
    if compute.get("nodeRoleArn"):
        entry = {"clusterName": cluster.id, "principalArn": compute["nodeRoleArn"], "type": "EC2"}
        parts.append(Object(ACCESS_ENTRY, f"{cluster.id}:{compute['nodeRoleArn']}", {}, entry, owner=cluster.id))
    return parts


def _check_node_group(request: Request) -> None:
    values = request.values
    scaling = values["scalingConfig"]
    if is_known(scaling) and not scaling["minSize"] <= scaling["desiredSize"] <= scaling["maxSize"]:
        raise RefusedError(
            f"InvalidParameterException: desiredSize {scaling['desiredSize']} must lie between minSize "
            f"{scaling['minSize']} and maxSize {scaling['maxSize']}"
        )
    if values.get("capacityType") == "CAPACITY_BLOCK" and "launchTemplate" not in values:
        raise RefusedError("InvalidParameterException: Capacity type CAPACITY_BLOCK requires a launch template")
    template = next(iter(at(values, "launchTemplate.id")), "")
    if not template:
        return
    for name in ("diskSize", "remoteAccess"):
        if name in values:
            raise RefusedError(f"InvalidParameterException: {name} is not allowed together with a launch template")
    asked = request.account.find(LAUNCH_TEMPLATE, template)
    if asked and any(at(asked.outputs, "networkInterfaces.subnetId")):
        raise RefusedError("InvalidRequestException: Launch template should not specify the subnet of an interface")
    if asked and asked.outputs.get("imageId") and "amiType" in values:
        raise RefusedError(
            "InvalidParameterException: You cannot specify amiType with a launch template that has an AMI"
        )
    if asked and asked.outputs.get("instanceType") and "instanceTypes" in values:
        raise RefusedError("InvalidParameterException: Instance types stand both in the node group and its template")


KINDS: dict[str, Kind] = {
    CLUSTER: Kind(
        called="EKS Cluster",
        source=f"{_API}CreateCluster.html",
        id="{name}",
        arn="arn:aws:eks:{region}:{account}:cluster/{name}",
        replaces=frozenset(
            {
                *("name", "roleArn", "bootstrapSelfManagedAddons", "outpostConfig"),
                "accessConfig.bootstrapClusterCreatorAdminPermissions",
                *("kubernetesNetworkConfig.ipFamily", "kubernetesNetworkConfig.serviceIpv4Cidr"),
            }
        ),
        replaces_if={
            # Only a role that was there; encryption can be added, never taken away.
            "computeConfig.nodeRoleArn": lambda old, _new: bool(old),
            "encryptionConfig": lambda _old, new: not new,
        },
        defaults={"bootstrapSelfManagedAddons": True},
        references=(
            Reference("roleArn", ROLE, by=("arn",)),
            Reference("computeConfig.nodeRoleArn", ROLE, by=("arn",)),
            Reference("vpcConfig.subnetIds", SUBNET, blocks=True),
            Reference("vpcConfig.securityGroupIds", SECURITY_GROUP, blocks=True),
            Reference("encryptionConfig.provider.keyArn", "aws:kms/key:Key", by=("arn",)),
        ),
        forms={
            "name": CLUSTER_NAME,
            "version": OneOf(KUBERNETES_VERSIONS),
            "accessConfig.authenticationMode": OneOf(("API", "API_AND_CONFIG_MAP", "CONFIG_MAP")),
            "computeConfig.nodePools": OneOf(("general-purpose", "system")),
            "enabledClusterLogTypes": OneOf(("api", "audit", "authenticator", "controllerManager", "scheduler")),
            "encryptionConfig.resources": OneOf(("secrets",)),
            "kubernetesNetworkConfig.ipFamily": OneOf(("ipv4", "ipv6")),
            "kubernetesNetworkConfig.serviceIpv4Cidr": Cidr(12, 24),
            "upgradePolicy.supportType": OneOf(("EXTENDED", "STANDARD")),
            "vpcConfig.publicAccessCidrs": Cidr(),
        },
        unique=("name",),
        taken="ResourceInUseException: Cluster already exists with name: {name}",
        missing="ResourceNotFoundException: No cluster found for name: {value}.",
        blocked="ResourceInUseException: Cluster has nodegroups attached",
        outputs={
            "version": KUBERNETES_VERSIONS[-2],
            "platformVersion": "eks.1",
            "status": "ACTIVE",
            "endpoint": "{endpoint}",
            "certificateAuthority": {"data": "{certificate_authority}"},
            "identities": [{"oidcs": [{"issuer": "https://oidc.eks.{region}.amazonaws.com/id/{HEX}"}]}],
            "accessConfig": {"authenticationMode": "CONFIG_MAP", "bootstrapClusterCreatorAdminPermissions": True},
            "kubernetesNetworkConfig": {"ipFamily": "ipv4", "serviceIpv4Cidr": "172.20.0.0/16"},
            "upgradePolicy": {"supportType": "EXTENDED"},
            "vpcConfig": {
                "clusterSecurityGroupId": "sg-{hex}",
                "endpointPrivateAccess": False,
                "endpointPublicAccess": True,
                "publicAccessCidrs": ["0.0.0.0/0"],
                "vpcId": "{vpc_of_subnets}",
            },
            "deletionProtection": False,
        },
        owns=_cluster_parts,
        check=_check_cluster,
        check_delete=_check_delete_cluster,
    ),
    "aws:eks/nodeGroup:NodeGroup": Kind(
        called="EKS Node Group",
        source=f"{_API}CreateNodegroup.html",
        id="{clusterName}:{nodeGroupName}",
        arn="arn:aws:eks:{region}:{account}:nodegroup/{clusterName}/{nodeGroupName}/{hex}",
        named_by="nodeGroupName",
        replaces=frozenset(
            {
                *("amiType", "capacityType", "clusterName", "diskSize", "instanceTypes", "launchTemplate.id"),
                *("launchTemplate.name", "nodeGroupName", "nodeGroupNamePrefix", "nodeRoleArn", "remoteAccess"),
                "subnetIds",
            }
        ),
        references=(
            Reference("clusterName", CLUSTER, by=("name",), blocks=True),
            Reference("nodeRoleArn", ROLE, by=("arn",)),
            Reference("subnetIds", SUBNET, blocks=True),
            Reference("launchTemplate.id", LAUNCH_TEMPLATE),
        ),
        forms={
            "nodeGroupName": Text(63, r"[0-9A-Za-z][0-9A-Za-z_-]*"),
            "capacityType": OneOf(("CAPACITY_BLOCK", "ON_DEMAND", "SPOT")),
            "taints.effect": OneOf(("NO_EXECUTE", "NO_SCHEDULE", "PREFER_NO_SCHEDULE")),
            "amiType": Text(64, r"(AL2023|BOTTLEROCKET)_[A-Za-z0-9_]+|CUSTOM|WINDOWS_[A-Z0-9_]+"),
            "version": OneOf(KUBERNETES_VERSIONS),
        },
        unique=("clusterName", "nodeGroupName"),
        taken="ResourceInUseException: NodeGroup already exists with name {nodeGroupName}",
        outputs={"status": "ACTIVE", "capacityType": "ON_DEMAND", "amiType": "AL2023_x86_64_STANDARD", "diskSize": 20},
        check=_check_node_group,
    ),
}
"""By type."""
