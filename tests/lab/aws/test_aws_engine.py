"""Programs on AWS and EKS with the real engine: no account, no network, no credentials."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from lab.aws.cluster_access import UNKNOWN_AT_PREVIEW

pytestmark = pytest.mark.lab

NETWORK = """
import json
import pulumi
import pulumi_aws as aws
import pulumi_eks as eks

config = pulumi.Config()

vpc = aws.ec2.Vpc("net", cidr_block=config.get("cidr") or "10.0.0.0/16", enable_dns_hostnames=True)
gateway = aws.ec2.InternetGateway("gateway", vpc_id=vpc.id)
subnets = []
for number, zone in enumerate(aws.get_availability_zones(state="available").names[:2]):
    subnet = aws.ec2.Subnet(
        f"private-{zone}", vpc_id=vpc.id, cidr_block=f"10.0.{number * 64}.0/18", availability_zone=zone
    )
    table = aws.ec2.RouteTable(f"private-{zone}", vpc_id=vpc.id)
    aws.ec2.RouteTableAssociation(f"private-{zone}", subnet_id=subnet.id, route_table_id=table.id)
    subnets.append(subnet.id)
"""
AROUND = """
island = aws.ec2.PlacementGroup("island", strategy="cluster")
template = aws.ec2.LaunchTemplate(
    "nodes",
    name=config.get("template") or "nodes",
    image_id="ami-0123456789abcdef0",
    instance_type=config.get("instance") or "p5.48xlarge",
    placement=aws.ec2.LaunchTemplatePlacementArgs(group_name=island.name),
)
queue = aws.sqs.Queue("interruptions", name="llm", message_retention_seconds=300)
token = aws.ssm.Parameter("token", name="/llm/token", type="SecureString", value=config.require_secret("token"))
pulumi.export("cluster", cluster.eks_cluster.name)
pulumi.export("group", cluster.eks_cluster.vpc_config.cluster_security_group_id)
pulumi.export("kubeconfig", cluster.kubeconfig_json)
pulumi.export("version", template.latest_version)
pulumi.export("token", token.value)
"""
AUTO = """
cluster = eks.Cluster(
    "c",
    name="llm",
    version=config.get("version") or "1.34",
    vpc_id=vpc.id,
    private_subnet_ids=subnets,
    authentication_mode=eks.AuthenticationMode.API,
    auto_mode=eks.AutoModeOptionsArgs(enabled=True),
    create_instance_role=False,
    create_oidc_provider=False,
    endpoint_private_access=True,
    access_entries={
        "team": eks.AccessEntryArgs(
            principal_arn="arn:aws:iam::999999999999:role/team",
            access_policies={
                "view": eks.AccessPolicyAssociationArgs(
                    policy_arn="arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
                    access_scope=aws.eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
                )
            },
        )
    },
)
"""
KARPENTER = """
cluster = eks.Cluster(
    "c",
    name="llm",
    version=config.get("version") or "1.34",
    vpc_id=vpc.id,
    private_subnet_ids=subnets,
    authentication_mode=eks.AuthenticationMode.API,
    skip_default_node_group=True,
    create_instance_role=False,
    create_oidc_provider=True,
    coredns_addon_options=eks.CoreDnsAddonOptionsArgs(enabled=True),
)
trust = aws.iam.get_policy_document(statements=[{
    "actions": ["sts:AssumeRole"],
    "principals": [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}],
}])
role = aws.iam.Role("node", assume_role_policy=trust.json)
system = eks.ManagedNodeGroup(
    "system",
    cluster=cluster,
    node_role_arn=role.arn,
    subnet_ids=subnets,
    instance_types=["m7i.large"],
    scaling_config=aws.eks.NodeGroupScalingConfigArgs(desired_size=2, min_size=2, max_size=3),
)
eks.Addon("agent", cluster=cluster, addon_name="eks-pod-identity-agent")
"""
CHILDREN = {
    AUTO: {
        "aws:eks/accessEntry:AccessEntry": ["c-team"],
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": ["c-team-view"],
        "aws:eks/addon:Addon": ["c-coredns"],
        "aws:eks/cluster:Cluster": ["c-eksCluster"],
        "aws:iam/role:Role": ["c-eksRole-role", "c-nodeRole-role"],
        # Digests of the policies' ARNs, as the real component names them.
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment": [
            "c-eksRole-1587f79c",
            "c-eksRole-1e381056",
            "c-eksRole-4b490823",
            "c-eksRole-9ae443cd",
            "c-eksRole-d86a545b",
            "c-nodeRole-22021ef5",
            "c-nodeRole-7b85ae6b",
        ],
        "eks:index:Cluster": ["c"],
        "eks:index:ServiceRole": ["c-eksRole", "c-nodeRole"],
        "pulumi:providers:kubernetes": ["c-eks-k8s"],
    },
    KARPENTER: {
        "aws:ec2/securityGroup:SecurityGroup": ["c-eksClusterSecurityGroup", "c-nodeSecurityGroup"],
        "aws:ec2/securityGroupRule:SecurityGroupRule": [
            "c-eksClusterIngressRule",
            "c-eksClusterInternetEgressRule",
            "c-eksExtApiServerClusterIngressRule",
            "c-eksNodeClusterIngressRule",
            "c-eksNodeIngressRule",
            "c-eksNodeInternetEgressRule",
        ],
        "aws:eks/addon:Addon": ["agent", "c-coredns", "c-kube-proxy", "c-vpc-cni"],
        "aws:eks/cluster:Cluster": ["c-eksCluster"],
        "aws:eks/nodeGroup:NodeGroup": ["system"],
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider": ["c-oidcProvider"],
        "aws:iam/role:Role": ["c-eksRole-role", "node"],
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment": ["c-eksRole-4b490823"],
        "eks:index:Addon": ["agent"],
        "eks:index:Cluster": ["c"],
        "eks:index:ManagedNodeGroup": ["system"],
        "eks:index:ServiceRole": ["c-eksRole"],
        "eks:index:VpcCniAddon": ["c-vpc-cni"],
        "pulumi:providers:kubernetes": ["c-eks-k8s"],
    },
}
UP = ("up", "--yes", "--skip-preview")
SECRET = "not-for-everybody"

Make = Callable[..., Any]


def children(project: Any) -> dict[str, list[str]]:
    """Names of the cluster's resources in the state, by type."""
    exported = json.loads(project.succeeds("stack", "export"))
    found: dict[str, list[str]] = {}
    for one in exported["deployment"]["resources"]:
        if one["type"].startswith(("eks:", "aws:eks", "aws:iam", "pulumi:providers:k", "aws:ec2/securityGroup")):
            found.setdefault(one["type"], []).append(one["urn"].rpartition("::")[2])
    return {kind: sorted(names) for kind, names in sorted(found.items())}


@pytest.mark.parametrize("mode", [AUTO, KARPENTER], ids=["auto", "karpenter"])
def test_an_environment_lives_from_its_first_preview_to_its_end(aws_project: Make, mode: str) -> None:
    project = aws_project(NETWORK + mode + AROUND)
    project.succeeds("config", "set", "--secret", "token", SECRET)
    planned = project.operations()
    assert set(planned) == {"create"}
    assert project.account.read().objects == []
    printed = project.succeeds(*UP)
    assert SECRET not in printed
    assert SECRET not in project.succeeds("stack", "export")
    assert children(project) == CHILDREN[mode]
    assert sorted(planned["create"]) == sorted(project.names())
    assert project.operations() == {}
    # A new version of the cluster and of the template replace nothing.
    project.set(version="1.35", instance="p5en.48xlarge")
    assert set(project.operations()) == {"update"}
    project.succeeds(*UP)
    outputs = json.loads(project.succeeds("stack", "output", "--json"))
    assert (outputs["cluster"], outputs["version"], outputs["group"][:3]) == ("llm", 2, "sg-")
    project.succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    project.succeeds("preview", "--expect-no-changes")
    project.succeeds("destroy", "--yes", "--skip-preview")
    assert project.account.read().objects == []


def test_a_first_preview_may_know_the_kubeconfig_or_not(aws_project: Make) -> None:
    project = aws_project(NETWORK + AUTO)

    def provider(**environment: str) -> Any:
        steps = json.loads(project.succeeds("preview", "--json", **environment))["steps"]
        return next(one for one in steps if one["urn"].endswith("::c-eks-k8s"))["newState"]["inputs"]["kubeconfig"]

    kubeconfig = json.loads(provider())
    assert kubeconfig["users"][0]["user"]["exec"]["command"] == "cat"
    assert provider(**{UNKNOWN_AT_PREVIEW: "1"}) == "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


REPLACED = (
    NETWORK
    + """
role = aws.iam.Role("node", name="node", path=config.get("path") or "/", assume_role_policy=json.dumps({
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}],
}))
policy = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodeMinimalPolicy"
attachment = aws.iam.RolePolicyAttachment("minimal", role=role.name, policy_arn=policy)
"""
)


def test_what_has_a_fixed_name_is_deleted_before_its_replacement(aws_project: Make) -> None:
    project = aws_project(REPLACED)
    project.succeeds(*UP)
    project.set(path="/nodes/")
    # What hangs on the role must go before it, or AWS refuses.
    assert sorted(project.operations()["replace"]) == ["minimal", "node"]
    project.succeeds(*UP)
    [role] = project.account.read().of("aws:iam/role:Role")
    assert role.outputs["arn"] == "arn:aws:iam::123456789012:role/nodes/node"
    project.succeeds("preview", "--expect-no-changes")


def test_what_somebody_deletes_or_changes_is_seen_by_a_refresh(aws_project: Make) -> None:
    project = aws_project(NETWORK)
    project.succeeds(*UP)
    with project.account.changed() as account:
        [gateway] = account.of("aws:ec2/internetGateway:InternetGateway")
        account.remove(gateway)
        [vpc] = account.of("aws:ec2/vpc:Vpc")
        vpc.inputs["enableDnsHostnames"] = vpc.outputs["enableDnsHostnames"] = False
    printed = project.succeeds("refresh", "--yes", "--skip-preview")
    assert "- 1 deleted" in printed
    assert "~ 1 updated" in printed
    assert project.operations() == {"create": ["gateway"], "update": ["net"]}
    project.succeeds(*UP)
    project.succeeds("preview", "--expect-no-changes")


WRONG = {
    "misspelt within an object": (
        'aws.ec2.LaunchTemplate("t", placement={"groupNam": "x"})',
        "placement has no property groupNam. Did you mean groupName?",
    ),
    "a component's option": (
        'eks.Cluster("c", vpc_id=vpc.id, authentication_mode="API", auto_mode={"enabled": True, "pools": []})',
        "autoMode has no property pools",
    ),
    "auto mode without access entries": (
        'eks.Cluster("c", vpc_id=vpc.id, private_subnet_ids=subnets, auto_mode={"enabled": True})',
        "Access entries are required when using EKS Auto Mode.",
    ),
    "names nothing": (
        'aws.ec2.Subnet("s", vpc_id="vpc-0123", cidr_block="10.0.0.0/24")',
        "creating EC2 Subnet (s): InvalidVpcID.NotFound: The vpc ID 'vpc-0123' does not exist (vpcId)",
    ),
    "a region that is none": (
        'aws.sqs.Queue("q", opts=pulumi.ResourceOptions(provider=aws.Provider("p", region="us-moon-1")))',
        "invalid AWS Region: us-moon-1.",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_preview_says_what_is_wrong(aws_project: Make, wrong: str) -> None:
    line, message = WRONG[wrong]
    assert message in aws_project(NETWORK + line + "\n").fails("preview")


def test_a_deletion_that_aws_refuses_stops_a_destroy(aws_project: Make) -> None:
    project = aws_project('import pulumi_aws as aws\n\naws.ec2.Vpc("net", cidr_block="10.0.0.0/16")\n')
    project.succeeds(*UP)
    with project.account.changed() as account:
        [vpc] = account.of("aws:ec2/vpc:Vpc")
        kind = type(vpc)
        account.add(kind("aws:ec2/subnet:Subnet", "subnet-1", {}, {"vpcId": vpc.id, "region": "us-east-2"}))
    printed = project.fails("destroy", "--yes", "--skip-preview")
    assert f"DependencyViolation: The vpc '{vpc.id}' has dependencies" in printed
    with project.account.changed() as account:
        [subnet] = account.of("aws:ec2/subnet:Subnet")
        account.remove(subnet)


INSIDE = (
    NETWORK
    + AUTO
    + """
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("k", kubeconfig=cluster.kubeconfig_json, enable_server_side_apply=True)
kubernetes.core.v1.Namespace("team", metadata={"name": "team"}, opts=pulumi.ResourceOptions(provider=provider))
"""
)


def test_objects_go_into_the_labs_api_server_through_a_clusters_kubeconfig(running_lab: Any, aws_project: Make) -> None:
    project = aws_project(INSIDE, running_lab.variables())
    project.succeeds(*UP)
    project.succeeds("preview", "--expect-no-changes")
    project.succeeds("destroy", "--yes", "--skip-preview")
