"""``eks:index:Cluster``: a cluster with its roles, security groups, add-ons and access entries."""

import json
import os
from collections.abc import Mapping
from typing import Any

import pulumi

from lab.aws.cluster_access import UNKNOWN_AT_PREVIEW, ClusterAccess
from lab.aws.eks import addons, security_groups
from lab.aws.eks.children import Child, KubernetesProvider
from lab.aws.eks.refusing import is_auto, refuse
from lab.aws.eks.service_role import ServiceRole

_AUTO_MODE_POLICIES = (
    *("AmazonEKSComputePolicy", "AmazonEKSBlockStoragePolicy", "AmazonEKSLoadBalancingPolicy"),
    "AmazonEKSNetworkingPolicy",
)
_AUTO_NODE_POLICIES = ("AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly")


class Cluster(pulumi.ComponentResource):
    """The component.

    Args:
        name: Its name in the program.
        inputs: Its inputs, with the names of the wire.
        options: Its options.
        access: How the cluster is reached.
    """

    def __init__(
        self, name: str, inputs: Mapping[str, Any], options: pulumi.ResourceOptions, access: ClusterAccess
    ) -> None:
        super().__init__("eks:index:Cluster", name, dict(inputs), options)
        refuse(inputs)
        self._name, self._inputs, self._own = name, inputs, pulumi.ResourceOptions(parent=self)
        auto = is_auto(inputs)
        groups = not inputs.get("skipDefaultSecurityGroups", auto)
        control_plane = inputs.get("clusterSecurityGroup")
        if control_plane is None and groups:
            control_plane = security_groups.control_plane_group(name, inputs, self._own)
        service, node = self._roles(auto=auto)
        cluster = self._cluster(control_plane, service, node)
        kubeconfig = self._kubeconfig(cluster, access)
        mutable = inputs.get("enableConfigMapMutable")
        provider = KubernetesProvider(
            f"{name}-eks-k8s",
            {"kubeconfig": kubeconfig.apply(_compact), "enableConfigMapMutable": mutable},
            self._own,
        )
        nodes, rule = None, None
        if groups and control_plane is not None:
            group_id = control_plane.id
            nodes, rule = security_groups.node_group(name, inputs, group_id, cluster.output("name"), self._own)
        self._access_entries(cluster)
        self._addons(cluster, auto=auto)
        issuer = cluster.output("identities").apply(lambda known: known[0]["oidcs"][0]["issuer"])
        oidc = self._oidc_provider(issuer)
        network = cluster.output("vpcConfig")
        self.core: Any = {
            "cluster": cluster,
            "vpcId": inputs.get("vpcId"),
            "subnetIds": self._subnets(),
            "publicSubnetIds": inputs.get("publicSubnetIds"),
            "privateSubnetIds": inputs.get("privateSubnetIds"),
            "endpoint": cluster.output("endpoint"),
            "clusterSecurityGroup": control_plane,
            "provider": provider,
            "instanceRoles": [],
            "nodeGroupOptions": {},
            "kubeconfig": kubeconfig,
            "tags": inputs.get("tags"),
            "nodeSecurityGroupTags": inputs.get("nodeSecurityGroupTags"),
            "oidcProvider": oidc,
            "clusterIamRole": inputs.get("serviceRole") or (service and service.role),
            "accessEntries": list((inputs.get("accessEntries") or {}).values()),
            "autoModeNodeRoleName": node.role.output("name") if node else "",
        }
        own_group = network.apply(lambda known: known["clusterSecurityGroupId"])
        self.outputs = {
            "core": self.core,
            "eksCluster": cluster,
            "kubeconfig": kubeconfig,
            "kubeconfigJson": kubeconfig.apply(_compact),
            "instanceRoles": [],
            "clusterSecurityGroup": control_plane,
            "clusterSecurityGroupId": control_plane.id if control_plane is not None else own_group,
            "nodeSecurityGroup": nodes,
            "nodeSecurityGroupId": nodes.id if nodes else own_group,
            "eksClusterIngressRule": rule,
            "clusterIngressRuleId": rule.output("securityGroupRuleId") if rule else "",
            "defaultNodeGroupAsgName": "",
            "fargateProfileId": "",
            "fargateProfileStatus": "",
            "oidcProviderArn": oidc.output("arn") if oidc else "",
            "oidcProviderUrl": issuer,
            "oidcIssuer": issuer.apply(lambda url: url.removeprefix("https://")),
            "autoModeNodeRoleName": self.core["autoModeNodeRoleName"],
        }
        self.register_outputs(self.outputs)

    def _roles(self, *, auto: bool) -> tuple[ServiceRole | None, ServiceRole | None]:
        """The role of the control plane and that of Auto Mode's nodes, where the component makes them."""
        tags, service, node = self._inputs.get("tags"), None, None
        if self._inputs.get("serviceRole") is None:
            service = ServiceRole(
                f"{self._name}-eksRole",
                "eks.amazonaws.com",
                ("AmazonEKSClusterPolicy", *(_AUTO_MODE_POLICIES if auto else ())),
                self._own,
                description="Allows EKS to manage clusters on your behalf.",
                actions=("sts:AssumeRole", "sts:TagSession"),
                tags=tags,
            )
        if auto and self._inputs["autoMode"].get("createNodeRole", True):
            node = ServiceRole(f"{self._name}-nodeRole", "ec2.amazonaws.com", _AUTO_NODE_POLICIES, self._own, tags=tags)
        return service, node

    def _cluster(self, group: Any, service: ServiceRole | None, node: ServiceRole | None) -> Child:
        inputs = self._inputs
        role = service.role.output("arn") if service else pulumi.Output.from_input(inputs["serviceRole"]).apply(_arn)
        named = {"Name": f"{self._name}-eksCluster"}
        key, mode = inputs.get("encryptionConfigKeyArn"), inputs.get("authenticationMode")
        wanted: dict[str, Any] = {
            "name": inputs.get("name"),
            "roleArn": role,
            "version": inputs.get("version"),
            "accessConfig": {"authenticationMode": mode, "bootstrapClusterCreatorAdminPermissions": True},
            "bootstrapSelfManagedAddons": inputs.get("bootstrapSelfManagedAddons", True),
            "deletionProtection": inputs.get("deletionProtection"),
            "enabledClusterLogTypes": inputs.get("enabledClusterLogTypes"),
            "encryptionConfig": {"provider": {"keyArn": key}, "resources": ["secrets"]} if key else None,
            "tags": security_groups.merged(named, inputs.get("clusterTags"), inputs.get("tags")),
            "upgradePolicy": inputs.get("upgradePolicy"),
            "vpcConfig": {
                "endpointPrivateAccess": inputs.get("endpointPrivateAccess"),
                "endpointPublicAccess": inputs.get("endpointPublicAccess"),
                "publicAccessCidrs": inputs.get("publicAccessCidrs"),
                "securityGroupIds": [group.id] if group is not None else None,
                "subnetIds": self._subnets(),
            },
        }
        family, block = inputs.get("ipFamily"), inputs.get("kubernetesServiceIpAddressRange")
        network = {"ipFamily": family or "ipv4", "serviceIpv4Cidr": block}
        if is_auto(inputs):
            wanted["bootstrapSelfManagedAddons"] = False
            wanted |= self._auto_mode(network, node)
        elif family or block:
            wanted["kubernetesNetworkConfig"] = network
        roles = [attachment for one in (service, node) if one for attachment in one.attachments]
        options = pulumi.ResourceOptions(
            # Both are said once, when a cluster is made.
            ignore_changes=["accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons"],
            depends_on=roles,
        )
        return Child(
            "aws:eks/cluster:Cluster",
            f"{self._name}-eksCluster",
            wanted,
            pulumi.ResourceOptions.merge(self._own, options),
        )

    def _auto_mode(self, network: Mapping[str, Any], node: ServiceRole | None) -> dict[str, Any]:
        """The three settings of Auto Mode; known or unknown together, as AWS's provider asks of them."""
        given = self._inputs["autoMode"].get("computeConfig")
        all_of = pulumi.Output.all(given, node.role.output("arn") if node else None, network)

        def compute(known: list[Any]) -> dict[str, Any]:
            pools = {"nodePools": ["general-purpose", "system"]}
            return {"enabled": True, **({"nodeRoleArn": known[1]} if known[1] else {}), **pools, **(known[0] or {})}

        return {
            "computeConfig": all_of.apply(compute),
            "storageConfig": all_of.apply(lambda _: {"blockStorage": {"enabled": True}}),
            "kubernetesNetworkConfig": all_of.apply(
                lambda known: {**known[2], "elasticLoadBalancing": {"enabled": True}}
            ),
        }

    def _subnets(self) -> Any:
        if (chosen := self._inputs.get("subnetIds")) is not None:
            return chosen
        both = pulumi.Output.all(self._inputs.get("publicSubnetIds") or [], self._inputs.get("privateSubnetIds") or [])
        return both.apply(lambda known: [*known[0], *known[1]])

    def _kubeconfig(self, cluster: Child, access: ClusterAccess) -> pulumi.Output[Any]:
        """Known even before the cluster is, unless the switch asks for what a real first deployment sees."""
        if pulumi.runtime.is_dry_run() and os.environ.get(UNKNOWN_AT_PREVIEW) != "1":
            return cluster.output("name").apply(access.kubeconfig_of)
        parts = pulumi.Output.all(cluster.output("name"), cluster.output("endpoint"))
        return parts.apply(lambda known: access.kubeconfig_of(known[0]))

    def _access_entries(self, cluster: Child) -> None:
        for key, entry in (self._inputs.get("accessEntries") or {}).items():
            made = Child(
                "aws:eks/accessEntry:AccessEntry",
                f"{self._name}-{key}",
                {
                    "clusterName": cluster.output("name"),
                    "principalArn": entry["principalArn"],
                    "kubernetesGroups": entry.get("kubernetesGroups"),
                    "type": entry.get("type"),
                    "userName": entry.get("username"),
                    "tags": entry.get("tags"),
                },
                self._own,
            )
            for policy, association in (entry.get("accessPolicies") or {}).items():
                described = pulumi.Output.from_input(association)
                Child(
                    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
                    f"{self._name}-{key}-{policy}",
                    {
                        "clusterName": cluster.output("name"),
                        "principalArn": entry["principalArn"],
                        "policyArn": described.apply(lambda known: known["policyArn"]),
                        "accessScope": described.apply(lambda known: known["accessScope"]),
                    },
                    pulumi.ResourceOptions(parent=made, depends_on=[made]),
                )

    def _addons(self, cluster: Child, *, auto: bool) -> None:
        inputs, tags = self._inputs, self._inputs.get("tags")
        proxy = inputs.get("kubeProxyAddonOptions") or {}
        if proxy.get("enabled", not auto):
            addons.managed(f"{self._name}-kube-proxy", "kube-proxy", cluster, {**proxy, "tags": tags}, self._own)
        if not inputs.get("useDefaultVpcCni", auto):
            addons.VpcCniAddon(
                f"{self._name}-vpc-cni",
                {
                    **(inputs.get("vpcCniOptions") or {}),
                    "clusterName": cluster.output("name"),
                    "clusterVersion": cluster.output("version"),
                    **({"tags": tags} if tags else {}),
                },
                self._own,
            )
        dns = inputs.get("corednsAddonOptions") or {}
        asked_for = dns.get("enabled") is True or dns.get("configurationValues") is not None
        has_place = not inputs.get("skipDefaultNodeGroup") or auto
        if asked_for or (has_place and dns.get("enabled", True)):
            addons.managed(f"{self._name}-coredns", "coredns", cluster, {**dns, "tags": tags}, self._own)

    def _oidc_provider(self, issuer: pulumi.Output[str]) -> Child | None:
        if not self._inputs.get("createOidcProvider"):
            return None
        thumbprint = "9e99a48a9960b14926bb7f3b02e22da2b0ab7280"  # of Amazon Root CA 1; nobody is asked here
        inputs = {"clientIdLists": ["sts.amazonaws.com"], "url": issuer, "thumbprintLists": [thumbprint]}
        return Child(
            "aws:iam/openIdConnectProvider:OpenIdConnectProvider", f"{self._name}-oidcProvider", inputs, self._own
        )


def _compact(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"))


def _arn(role: Any) -> Any:
    return role.output("arn")
