"""What the stand-in refuses, each with its message; without an engine."""

import json
from typing import Any

import pytest

from lab.aws.wire import UNKNOWN

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
ROLE = "aws:iam/role:Role"
CLUSTER = "aws:eks/cluster:Cluster"
QUEUE = "aws:sqs/queue:Queue"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
ENTRY = "aws:eks/accessEntry:AccessEntry"


def trust(service: str, *actions: str) -> str:
    statement = {"Effect": "Allow", "Action": list(actions) or "sts:AssumeRole", "Principal": {"Service": [service]}}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


NODES = trust("ec2.amazonaws.com")
RESERVED = {
    "instanceType": "p5.48xlarge",
    "instancePlatform": "Linux/UNIX",
    "availabilityZone": "us-east-2a",
    "instanceCount": 2,
}

WRITTEN_WRONG: list[tuple[str, dict[str, Any], str]] = [
    (
        VPC,
        {"cidrBlok": "10.0.0.0/16", "cidrBlock": "10.0.0.0/16"},
        "aws:ec2/vpc:Vpc has no property cidrBlok. Did you mean cidrBlock?",
    ),
    (SUBNET, {"cidrBlock": "10.0.0.0/24"}, "aws:ec2/subnet:Subnet requires vpcId, but it is not set."),
    (
        VPC,
        {"cidrBlock": "10.0.0.0/16", "enableDnsSupport": "yes"},
        "enableDnsSupport must be of type boolean, not string.",
    ),
    (VPC, {"cidrBlock": 10}, "cidrBlock must be of type string, not integer."),
    (VPC, {"cidrBlock": "10.0.0.0/16", "tags": ["a"]}, "tags must be of type object, not list."),
    (VPC, {"cidrBlock": "10.0.0.0/16", "tags": {"a": 1}}, "tags.a must be of type string, not integer."),
    (
        CLUSTER,
        {"roleArn": "arn:aws:iam::123456789012:role/c", "vpcConfig": {"subnetIds": "subnet-1"}},
        "vpcConfig.subnetIds must be of type list, not string.",
    ),
    (
        CLUSTER,
        {"roleArn": "arn:aws:iam::123456789012:role/c", "vpcConfig": {"subnets": [], "subnetIds": []}},
        "vpcConfig has no property subnets. Did you mean subnetIds?",
    ),
    (
        TEMPLATE,
        {"networkInterfaces": [{"interfaceType": "efa", "cardIndex": 1}]},
        "networkInterfaces[0] has no property cardIndex. Did you mean networkCardIndex?",
    ),
    ("aws:ec2/spaceship:Spaceship", {}, r"pulumi-aws \S+ has no aws:ec2/spaceship:Spaceship"),
    # A type without rules of its own is held to its table all the same.
    ("aws:s3/bucket:Bucket", {"acle": "private"}, "aws:s3/bucket:Bucket has no property acle. Did you mean acl?"),
    (
        VPC,
        {"cidrBlock": "10.0.0.1/16"},
        "cidrBlock must be an IPv4 block written as its network address, such as 10.0.0.0/16, not '10.0.0.1/16'.",
    ),
    (VPC, {"cidrBlock": "10.0.0.0/8"}, "cidrBlock must be a block of /16 to /28, not 10.0.0.0/8."),
    (VPC, {}, "one of cidrBlock, ipv4IpamPoolId must be set."),
    (
        "aws:ec2/placementGroup:PlacementGroup",
        {"strategy": "clustered"},
        "strategy must be one of cluster, partition, spread, not 'clustered'.",
    ),
    (
        ROLE,
        {"name": "r" * 65, "assumeRolePolicy": NODES},
        f"name must have 1 to 64 characters, but '{'r' * 65}' has 65.",
    ),
    (ROLE, {"name": "a b", "assumeRolePolicy": NODES}, "name must match [\\w+=,.@-]+, but is 'a b'."),
    (
        ROLE,
        {"assumeRolePolicy": json.dumps({"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole"}]})},
        "assumeRolePolicy is malformed in statement 0: it needs a Principal.",
    ),
    (
        "aws:iam/policy:Policy",
        {"policy": json.dumps({"Statement": [{"Effect": "Allow", "Action": "ec2", "Resource": "*"}]})},
        "policy is malformed in statement 0: 'ec2' is no action.",
    ),
    (QUEUE, {"messageRetentionSeconds": 30}, "messageRetentionSeconds must be 60 to 1209600, not 30."),
    (
        QUEUE,
        {"kmsMasterKeyId": "alias/k", "sqsManagedSseEnabled": True},
        "kmsMasterKeyId and sqsManagedSseEnabled exclude each other.",
    ),
    (
        CLUSTER,
        {"name": "-llm", "roleArn": "arn:aws:iam::123456789012:role/c", "vpcConfig": {"subnetIds": []}},
        "name must match [0-9A-Za-z][0-9A-Za-z_-]*, but is '-llm'.",
    ),
    (
        CLUSTER,
        {"version": "1.20", "roleArn": "arn:aws:iam::123456789012:role/c", "vpcConfig": {"subnetIds": []}},
        "version must be one of 1.31, 1.32, 1.33, 1.34, 1.35, 1.36, not '1.20'.",
    ),
    (
        VPC,
        {"cidrBlock": "10.0.0.0/16", "tags": {"aws:a": "b"}},
        "tags must not begin with aws:, which AWS keeps for itself, as aws:a does.",
    ),
    (
        RESERVATION,
        RESERVED | {"instanceMatchCriteria": "closed"},
        "instanceMatchCriteria must be one of open, targeted, not 'closed'.",
    ),
]


@pytest.mark.parametrize(
    ("kind", "inputs", "message"), WRITTEN_WRONG, ids=[message[:60] for _, _, message in WRITTEN_WRONG]
)
def test_what_is_written_wrong_is_refused_before_a_call(
    aws: Any, kind: str, inputs: dict[str, Any], message: str
) -> None:
    if "Spaceship" in kind:
        with pytest.raises(aws.refused, match=message):
            aws.check(kind, inputs)
    else:
        assert aws.check(kind, inputs)[1] == [message]


def test_unknown_values_are_never_judged(aws: Any) -> None:
    inputs = {"vpcId": UNKNOWN, "cidrBlock": UNKNOWN, "tags": {"a": UNKNOWN}}
    assert aws.check(SUBNET, inputs)[1] == []
    assert aws.create(SUBNET, preview=True, **inputs)["id"] == ""


def refusal(aws: Any, kind: str, /, **inputs: Any) -> str:
    with pytest.raises(aws.refused) as refused:
        aws.create(kind, "other", **inputs)
    return str(refused.value)


def network(aws: Any) -> tuple[str, str, str]:
    vpc = aws.create(VPC, cidrBlock="10.0.0.0/16")["id"]
    first = aws.create(SUBNET, "a", vpcId=vpc, cidrBlock="10.0.0.0/24", availabilityZone="us-east-2a")["id"]
    second = aws.create(SUBNET, "b", vpcId=vpc, cidrBlock="10.0.1.0/24", availabilityZone="us-east-2b")["id"]
    return vpc, first, second


def cluster(aws: Any, subnets: list[str], **more: Any) -> dict[str, Any]:
    role = aws.create(ROLE, "role", name="control-plane", assumeRolePolicy=trust("eks.amazonaws.com"))
    given = {"accessConfig": {"authenticationMode": "API"}, "version": "1.34", **more}
    made: dict[str, Any] = aws.create(
        CLUSTER, "c", name="llm", roleArn=role["arn"], vpcConfig={"subnetIds": subnets}, **given
    )
    return made


def test_ids_that_name_nothing_are_refused(aws: Any) -> None:
    assert refusal(aws, SUBNET, vpcId="vpc-1", cidrBlock="10.0.0.0/24") == (
        "creating EC2 Subnet (other): InvalidVpcID.NotFound: The vpc ID 'vpc-1' does not exist (vpcId)"
    )
    vpc, first, second = network(aws)
    wanted = {"name": "llm", "roleArn": "arn:aws:iam::123456789012:role/none"}
    assert refusal(aws, CLUSTER, **wanted, vpcConfig={"subnetIds": [first, second]}) == (
        "creating EKS Cluster (other): NoSuchEntity: The role arn:aws:iam::123456789012:role/none cannot be found. "
        "(roleArn)"
    )
    role = aws.create(ROLE, "role", assumeRolePolicy=trust("eks.amazonaws.com"))
    wanted["roleArn"] = role["arn"]
    assert "The subnet ID 'subnet-9' does not exist (vpcConfig.subnetIds)" in refusal(
        aws, CLUSTER, **wanted, vpcConfig={"subnetIds": [first, "subnet-9"]}
    )
    assert "The security group 'sg-9' does not exist" in refusal(aws, TEMPLATE, vpcSecurityGroupIds=["sg-9"])
    reserved = {"capacityReservationTarget": {"capacityReservationId": "cr-9"}}
    assert "The capacity reservation 'cr-9' does not exist" in refusal(
        aws, TEMPLATE, capacityReservationSpecification=reserved
    )
    assert "The Placement Group 'none' is unknown." in refusal(aws, TEMPLATE, placement={"groupName": "none"})
    assert "AmazonEKSClusterPolcy does not exist" in refusal(
        aws,
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        role=role["name"],
        policyArn="arn:aws:iam::aws:policy/AmazonEKSClusterPolcy",
    )
    # What stands in another account is beyond this one.
    aws.create(
        CLUSTER,
        "d",
        **{**wanted, "roleArn": "arn:aws:iam::999999999999:role/x"},
        vpcConfig={"subnetIds": [first, second]},
    )
    assert "No cluster found for name: other." in refusal(
        aws, "aws:eks/addon:Addon", clusterName="other", addonName="coredns"
    )
    assert vpc


def test_doubles_are_refused(aws: Any) -> None:
    aws.create(ROLE, name="node", assumeRolePolicy=NODES)
    assert refusal(aws, ROLE, name="node", assumeRolePolicy=NODES) == (
        "creating IAM Role (other): EntityAlreadyExists: Role with name node already exists."
    )
    vpc, first, _ = network(aws)
    assert refusal(aws, SUBNET, vpcId=vpc, cidrBlock="10.0.0.128/25").endswith(
        "InvalidSubnet.Conflict: The CIDR '10.0.0.128/25' conflicts with another subnet"
    )
    assert "InvalidSubnet.Range" in refusal(aws, SUBNET, vpcId=vpc, cidrBlock="10.1.0.0/24")
    aws.create(QUEUE, name="interruptions")
    assert "QueueAlreadyExists: A queue named interruptions" in refusal(aws, QUEUE, name="interruptions")
    # Another region has its own.
    aws.create(QUEUE, "west", name="interruptions", region="us-west-2")
    aws.create(SECURITY_GROUP, name="efa", vpcId=vpc)
    assert "The security group 'efa' already exists" in refusal(aws, SECURITY_GROUP, name="efa", vpcId=vpc)
    assert "The security group 'default' already exists" in refusal(aws, SECURITY_GROUP, name="default", vpcId=vpc)
    assert first


def test_what_is_still_needed_is_not_deleted(aws: Any) -> None:
    vpc, first, second = network(aws)
    made = cluster(aws, [first, second])
    with pytest.raises(aws.refused, match=r"has dependencies and cannot be deleted. \(needed by EC2 Subnet"):
        aws.delete(VPC, vpc)
    with pytest.raises(aws.refused, match=rf"The subnet '{first}' has dependencies .* \(needed by EKS Cluster llm\)"):
        aws.delete(SUBNET, first)
    # A rule elsewhere that names the cluster's own security group keeps the cluster's network alive.
    group = aws.create(SECURITY_GROUP, "g", name="efa", vpcId=vpc)
    own = made["vpcConfig"]["clusterSecurityGroupId"]
    rule = aws.create(
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        securityGroupId=own,
        referencedSecurityGroupId=group["id"],
        ipProtocol="-1",
    )
    with pytest.raises(
        aws.refused, match=r"DependencyViolation: resource .* \(needed by VPC Security Group Ingress Rule"
    ):
        aws.delete(SECURITY_GROUP, group["id"])
    aws.delete("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", rule["id"])
    aws.delete(SECURITY_GROUP, group["id"])
    policy = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
    attachment = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
    attached = aws.create(attachment, role="control-plane", policyArn=policy)
    with pytest.raises(aws.refused, match=r"DeleteConflict: Cannot delete entity, must detach all policies first."):
        aws.delete(ROLE, "control-plane")
    aws.delete(attachment, attached["id"])
    for kind, identifier in ((CLUSTER, "llm"), (ROLE, "control-plane"), (SUBNET, first), (SUBNET, second), (VPC, vpc)):
        aws.delete(kind, identifier)
    assert aws.account.read().objects == []


def test_clusters_are_held_to_what_eks_asks(aws: Any) -> None:
    vpc, first, second = network(aws)
    role = aws.create(ROLE, "role", assumeRolePolicy=trust("eks.amazonaws.com"))["arn"]
    plain = {"name": "llm", "roleArn": role, "vpcConfig": {"subnetIds": [first, second]}}
    assert "at least two different AZs" in refusal(aws, CLUSTER, **plain | {"vpcConfig": {"subnetIds": [first]}})
    auto = {
        "computeConfig": {"enabled": True},
        "storageConfig": {"blockStorage": {"enabled": True}},
        "kubernetesNetworkConfig": {"elasticLoadBalancing": {"enabled": True}},
        "bootstrapSelfManagedAddons": False,
        "accessConfig": {"authenticationMode": "API"},
    }
    half = {name: value for name, value in auto.items() if name != "storageConfig"}
    assert "must all be set to either true or false" in refusal(aws, CLUSTER, **plain, **half)
    with_addons = auto | {"bootstrapSelfManagedAddons": True}
    assert "bootstrap_self_managed_addons must be set to false" in refusal(aws, CLUSTER, **plain, **with_addons)
    role_alone = auto | {"computeConfig": {"enabled": True, "nodeRoleArn": role}}
    assert "nodePool value(s) must be provided" in refusal(aws, CLUSTER, **plain, **role_alone)
    made = aws.create(CLUSTER, "c", **plain, version="1.33", accessConfig={"authenticationMode": "CONFIG_MAP"})
    assert "authentication mode must be set to one of [API" in refusal(aws, ENTRY, clusterName="llm", principalArn=role)
    with pytest.raises(aws.refused, match=r"Unsupported Kubernetes minor version update from 1.33 to 1.35"):
        aws.update(CLUSTER, made, **plain, version="1.35")
    assert aws.update(CLUSTER, made, **plain, version="1.34", deletionProtection=True)["version"] == "1.34"
    with pytest.raises(aws.refused, match=r"deletion protection is enabled"):
        aws.delete(CLUSTER, "llm")
    assert vpc


def test_access_to_clusters_is_held_to_what_eks_asks(aws: Any) -> None:
    _, first, second = network(aws)
    cluster(aws, [first, second])
    node = aws.create(ROLE, "node", assumeRolePolicy=NODES)["arn"]
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy"
    association = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
    wanted = {"clusterName": "llm", "principalArn": node, "policyArn": policy, "accessScope": {"type": "cluster"}}
    assert "The specified principalArn could not be found" in refusal(aws, association, **wanted)
    assert "Kubernetes groups are not allowed for type EC2_LINUX" in refusal(
        aws, ENTRY, clusterName="llm", principalArn=node, type="EC2_LINUX", kubernetesGroups=["nodes"]
    )
    aws.create(ENTRY, "entry", clusterName="llm", principalArn=node, type="EC2")
    assert "already in use on this cluster" in refusal(aws, ENTRY, clusterName="llm", principalArn=node)
    aws.create(association, "association", **wanted)
    identity = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
    of_pod = {"clusterName": "llm", "namespace": "kube-system", "serviceAccount": "karpenter"}
    assert "Trust policy of role is invalid" in refusal(aws, identity, **of_pod, roleArn=node)
    pods = trust("pods.eks.amazonaws.com", "sts:AssumeRole", "sts:TagSession")
    aws.create(identity, "identity", **of_pod, roleArn=aws.create(ROLE, "pods", assumeRolePolicy=pods)["arn"])


def test_interfaces_of_launch_templates_are_held_to_what_ec2_asks(aws: Any) -> None:
    primary = {"networkCardIndex": 0, "deviceIndex": 0}
    efa = [{"networkCardIndex": card, "deviceIndex": 1, "interfaceType": "efa-only"} for card in range(1, 32)]
    aws.create(TEMPLATE, networkInterfaces=[primary, *efa])
    assert "cannot be efa-only" in refusal(aws, TEMPLATE, networkInterfaces=[{**primary, "interfaceType": "efa-only"}])
    assert "a card and device index of its own" in refusal(aws, TEMPLATE, networkInterfaces=[primary, primary])
    public = {**primary, "associatePublicIpAddress": "true"}
    assert "multiple network interfaces" in refusal(aws, TEMPLATE, networkInterfaces=[public, *efa])
    assert "Invalid BASE64 encoding of user data" in refusal(aws, TEMPLATE, userData="#!/bin/sh")


def test_reservations_need_a_zone_that_offers_the_type(aws: Any) -> None:
    assert "no p5.48xlarge in us-east-2c" in refusal(aws, RESERVATION, **RESERVED | {"availabilityZone": "us-east-2c"})
    assert "Value (us-east-2x) for parameter availabilityZone" in refusal(
        aws, RESERVATION, **RESERVED | {"availabilityZone": "us-east-2x"}
    )
    aws.create(RESERVATION, **RESERVED)


REPLACED: list[tuple[str, dict[str, Any], dict[str, Any], list[str], bool]] = [
    (VPC, {"cidrBlock": "10.0.0.0/16"}, {"cidrBlock": "10.1.0.0/16"}, ["cidrBlock"], False),
    (VPC, {"cidrBlock": "10.0.0.0/16"}, {"cidrBlock": "10.0.0.0/16", "tags": {"a": "b"}}, [], False),
    (ROLE, {"name": "r", "path": "/"}, {"name": "r", "path": "/x/"}, ["path"], True),
    (
        ROLE,
        {"name": "r", "path": "/", "__defaults": ["name"]},
        {"name": "r", "path": "/x/", "__defaults": ["name"]},
        ["path"],
        False,
    ),
    (CLUSTER, {"name": "llm", "version": "1.34"}, {"name": "llm", "version": "1.35"}, [], False),
    (CLUSTER, {"name": "llm"}, {"name": "other"}, ["name"], False),
    (
        CLUSTER,
        {"name": "llm", "computeConfig": {"nodeRoleArn": "a"}},
        {"name": "llm", "computeConfig": {"nodeRoleArn": "b"}},
        ["computeConfig"],
        True,
    ),
    (CLUSTER, {"name": "llm", "computeConfig": {}}, {"name": "llm", "computeConfig": {"nodeRoleArn": "b"}}, [], False),
    ("aws:eks/nodeGroup:NodeGroup", {"instanceTypes": ["a"]}, {"instanceTypes": ["b"]}, ["instanceTypes"], False),
    ("aws:eks/nodeGroup:NodeGroup", {"scalingConfig": {"maxSize": 1}}, {"scalingConfig": {"maxSize": 2}}, [], False),
    (TEMPLATE, {"name": "t", "imageId": "ami-1"}, {"name": "t", "imageId": "ami-2"}, [], False),
    (RESERVATION, {"instanceCount": 1}, {"instanceCount": 2}, [], False),
    (RESERVATION, {"availabilityZone": "us-east-2a"}, {"availabilityZone": "us-east-2b"}, ["availabilityZone"], False),
    (QUEUE, {"name": "q", "fifoQueue": False}, {"name": "q", "fifoQueue": True}, ["fifoQueue"], True),
    ("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", {"ipProtocol": "-1"}, {"ipProtocol": "tcp"}, [], False),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", {"protocol": "-1"}, {"protocol": "tcp"}, ["protocol"], False),
    # A type without rules of its own: the SDK's own words decide.
    ("aws:cloudfront/trustStore:TrustStore", {"name": "a"}, {"name": "b"}, ["name"], False),
]


@pytest.mark.parametrize("case", REPLACED)
def test_changes_replace_as_the_real_provider_decides(
    aws: Any, case: tuple[str, dict[str, Any], dict[str, Any], list[str], bool]
) -> None:
    kind, old, new, replaces, old_first = case
    changed, replacing, first = aws.diff(kind, old, new)
    assert (bool(changed), replacing, first) == (True, replaces, old_first)


def test_what_means_the_same_is_no_change(aws: Any) -> None:
    assert (
        aws.diff(CLUSTER, {"vpcConfig": {"subnetIds": ["a", "b"]}}, {"vpcConfig": {"subnetIds": ["b", "a"]}})[0] == []
    )
    assert aws.diff(ROLE, {"assumeRolePolicy": '{"a": 1}'}, {"assumeRolePolicy": '{"a":1}'})[0] == []
    # What AWS computes where nothing is asked for stays.
    assert aws.diff(CLUSTER, {"version": "1.35"}, {})[0] == []


def test_computed_values_are_unknown_until_made_and_stay(aws: Any) -> None:
    planned = aws.create(VPC, "planned", preview=True, cidrBlock="10.0.0.0/16")
    assert (planned["arn"], planned["defaultSecurityGroupId"], planned["tagsAll"]) == (UNKNOWN, UNKNOWN, {})
    made = aws.create(VPC, cidrBlock="10.0.0.0/16")
    assert made["arn"] == f"arn:aws:ec2:us-east-2:123456789012:vpc/{made['id']}"
    template = aws.create(TEMPLATE, name="nodes", instanceType="m7i.large")
    assert (
        aws.update(TEMPLATE, template, preview=True, name="nodes", instanceType="m7i.xlarge")["latestVersion"]
        == UNKNOWN
    )
    changed = aws.update(TEMPLATE, template, name="nodes", instanceType="m7i.xlarge")
    assert (changed["latestVersion"], changed["arn"]) == (2, template["arn"])


def test_names_of_what_a_preview_plans_can_be_referred_to_and_not_taken(aws: Any) -> None:
    aws.create("aws:ec2/placementGroup:PlacementGroup", preview=True, name="island", strategy="cluster")
    aws.create(TEMPLATE, preview=True, placement={"groupName": "island"})
    with pytest.raises(aws.refused, match=r"The placement group 'island' already exists."):
        aws.create("aws:ec2/placementGroup:PlacementGroup", "two", preview=True, name="island", strategy="cluster")
    assert aws.account.read().objects == []


def test_functions_know_the_account_and_what_exists_in_it(aws: Any) -> None:
    _, first, _ = network(aws)
    assert aws.invoke("aws:index/getAvailabilityZones:getAvailabilityZones", state="available")["names"] == [
        "us-east-2a",
        "us-east-2b",
        "us-east-2c",
    ]
    offerings = aws.invoke(
        "aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings",
        filters=[{"name": "instance-type", "values": ["p5.48xlarge"]}],
        locationType="availability-zone",
    )
    assert offerings["locations"] == ["us-east-2a", "us-east-2b"]
    assert aws.invoke("aws:ec2/getSubnet:getSubnet", id=first)["cidrBlock"] == "10.0.0.0/24"
    with pytest.raises(aws.refused, match=r"no matching EC2 Subnet found"):
        aws.invoke("aws:ec2/getSubnet:getSubnet", id="subnet-9")
    with pytest.raises(aws.refused, match=r"has no property identifier"):
        aws.invoke("aws:ec2/getSubnet:getSubnet", identifier=first)
    with pytest.raises(aws.refused, match=r"This stand-in for AWS has no answer for aws:ec2/getAmi:getAmi"):
        aws.invoke("aws:ec2/getAmi:getAmi")
    statement = {
        "actions": ["sts:AssumeRole"],
        "principals": [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}],
    }
    written = json.loads(aws.invoke("aws:iam/getPolicyDocument:getPolicyDocument", statements=[statement])["json"])
    allowed = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}
    assert written == {"Version": "2012-10-17", "Statement": [allowed]}
