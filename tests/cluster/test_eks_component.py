"""What the component of a cluster registers in both modes."""

import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pulumi
import pytest

from pulumi_lws.cluster.eks.component.cluster import EksCluster
from pulumi_lws.cluster.eks.component.existing import ExistingEks
from pulumi_lws.component import DeclarationError
from pulumi_lws.testing.monitor import Registration, record

Raw = dict[str, Any]

needs_sdks = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("pulumi_aws", "pulumi_eks")),
    reason="needs the extra aws",
)
# The SDKs deprecate resources of their own when they are loaded.
pytestmark = [
    pytest.mark.filterwarnings("ignore:aws.ec2/encryptioncontrol:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:NodeGroup uses AWS EC2 LaunchConfiguration:DeprecationWarning"),
]

VPC: Raw = {"kind": "vpc", "zones": ["us-east-2a", "us-east-2b"]}
CI = "arn:aws:iam::123456789012:role/ci"
AUTO: Raw = {
    "kind": "eks",
    "name": "llm",
    "account": "123456789012",
    "region": "us-east-2",
    "network": VPC,
    "compute": {"kind": "auto"},
    "access": {"ci": {"principalArn": CI, "policy": "edit", "namespaces": ["models"]}},
    "tags": {"team": "models"},
}
KARPENTER: Raw = AUTO | {"compute": {"kind": "karpenter", "image": "al2023@v20260901"}}
MADE = {"eks:index:Cluster": {"kubeconfigJson": '{"token": "hidden"}', "clusterSecurityGroupId": "sg-cluster"}}


def registered(raw: Raw, *, preview: bool = False) -> list[Registration]:
    answers = {} if preview else MADE

    def program() -> None:
        EksCluster("env", raw)

    return record(program, preview=preview, answers=answers)


def of_type(found: list[Registration], kind: str) -> dict[str, Mapping[str, Any]]:
    return {one.name: one.inputs for one in found if one.type.rpartition(":")[2] == kind}


@needs_sdks
@pytest.mark.parametrize("raw", [AUTO, KARPENTER])
def test_a_first_preview_registers_what_the_update_does(raw: Raw) -> None:
    first, later = registered(raw, preview=True), registered(raw)
    assert Counter((one.type, one.name) for one in first) == Counter((one.type, one.name) for one in later)
    assert len({(one.type, one.name) for one in later}) == len(later)


@needs_sdks
@pytest.mark.parametrize("raw", [AUTO, KARPENTER])
def test_everything_on_aws_is_made_in_the_account_and_region_of_the_declaration(raw: Raw) -> None:
    found = registered(raw)
    provider = next(one for one in found if one.type == "pulumi:providers:aws")
    assert {key: provider.inputs[key] for key in ("region", "allowedAccountIds", "defaultTags")} == {
        "region": "us-east-2",
        "allowedAccountIds": '["123456789012"]',
        "defaultTags": '{"tags": {"team": "models"}}',
    }
    others = {one.name for one in found if one.type.startswith("aws:") and "env-aws" not in one.provider}
    assert others == set()


CONTROL_PLANE = {
    "name": "llm",
    "version": "1.35",
    "vpcId": "env-network-vpc-id",
    "privateSubnetIds": ["env-network-private-us-east-2a-id", "env-network-private-us-east-2b-id"],
    "endpointPrivateAccess": True,
    "endpointPublicAccess": False,
    "authenticationMode": "API",
    "enabledClusterLogTypes": ["api", "audit", "authenticator", "controllerManager", "scheduler"],
    "deletionProtection": True,
    "skipDefaultSecurityGroups": True,
    "skipDefaultNodeGroup": True,
    "createInstanceRole": False,
    "createOidcProvider": False,
}


def without_defaults(addon: Mapping[str, Any]) -> Raw:
    return {key: value for key, value in addon.items() if not key.startswith("resolveConflicts")}


@needs_sdks
def test_auto_mode_has_no_pools_of_its_own_and_no_addons() -> None:
    inputs = dict(of_type(registered(AUTO), "Cluster")["env-cluster"])
    assert inputs.pop("serviceRole").pulumi_resource_name == "env-control-plane"
    assert without_defaults(inputs.pop("corednsAddonOptions")) == {"enabled": False}
    assert inputs == CONTROL_PLANE | {
        "autoMode": {"enabled": True, "createNodeRole": False, "computeConfig": {"nodePools": []}}
    }


@needs_sdks
def test_karpenter_has_pinned_addons_that_hold_few_addresses() -> None:
    found = registered(KARPENTER)
    inputs = dict(of_type(found, "Cluster")["env-cluster"])
    assert inputs.pop("serviceRole").pulumi_resource_name == "env-control-plane"
    assert without_defaults(inputs.pop("corednsAddonOptions")) == {"enabled": False}
    assert without_defaults(inputs.pop("kubeProxyAddonOptions")) == {"version": "v1.35.0-eksbuild.2"}
    assert without_defaults(inputs.pop("vpcCniOptions")) == {
        "addonVersion": "v1.21.1-eksbuild.3",
        "enableNetworkPolicy": True,
        "warmIpTarget": 4,
        "configurationValues": {"env": {"MINIMUM_IP_TARGET": "16"}},
    }
    assert inputs == CONTROL_PLANE
    assert {name: addon["addonVersion"] for name, addon in of_type(found, "Addon").items()} == {
        "env-coredns": "v1.13.2-eksbuild.1",
        "env-eks-pod-identity-agent": "v1.3.10-eksbuild.3",
    }


@needs_sdks
@pytest.mark.parametrize(
    ("raw", "want"),
    [
        (
            AUTO,
            {
                "AmazonEKSClusterPolicy",
                "AmazonEKSComputePolicy",
                "AmazonEKSBlockStoragePolicy",
                "AmazonEKSLoadBalancingPolicy",
                "AmazonEKSNetworkingPolicy",
            },
        ),
        (KARPENTER, {"AmazonEKSClusterPolicy"}),
    ],
)
def test_the_role_of_the_cluster_has_what_its_mode_needs(raw: Raw, want: set[str]) -> None:
    found = registered(raw)
    attached = of_type(found, "RolePolicyAttachment").values()
    arns = {str(one["policyArn"]) for one in attached if one["role"] == "llm-us-east-2-cluster"}
    assert arns == {f"arn:aws:iam::aws:policy/{name}" for name in want}
    assert ("env-control-plane-tags" in of_type(found, "RolePolicy")) == (raw is AUTO)


@needs_sdks
def test_nodes_of_auto_mode_join_by_an_entry_and_a_policy() -> None:
    found = registered(AUTO)
    entries, policies = of_type(found, "AccessEntry"), of_type(found, "AccessPolicyAssociation")
    assert entries["env-nodes"]["type"] == "EC2"
    assert {key: policies["env-nodes"][key] for key in ("policyArn", "accessScope")} == {
        "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy",
        "accessScope": {"type": "cluster"},
    }


@needs_sdks
def test_nodes_of_karpenter_join_by_an_entry_alone() -> None:
    found = registered(KARPENTER)
    assert of_type(found, "AccessEntry")["env-nodes"]["type"] == "EC2_LINUX"
    assert "env-nodes" not in of_type(found, "AccessPolicyAssociation")


@needs_sdks
def test_a_ci_role_may_edit_its_namespaces() -> None:
    found = registered(AUTO)
    assert of_type(found, "AccessEntry")["env-access-ci"] == {"clusterName": "llm", "principalArn": CI}
    assert of_type(found, "AccessPolicyAssociation")["env-access-ci"] == {
        "clusterName": "llm",
        "principalArn": CI,
        "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy",
        "accessScope": {"type": "namespace", "namespaces": ["models"]},
    }


@needs_sdks
def test_one_provider_reaches_the_cluster_by_a_secret_and_is_known_by_its_arn() -> None:
    inputs = of_type(registered(AUTO), "kubernetes")["env-kubernetes"]
    assert inputs["clusterIdentifier"] == "arn:aws:eks:us-east-2:123456789012:cluster/llm"
    assert inputs["enableServerSideApply"] == "true"


@needs_sdks
def test_pools_learn_what_their_nodes_need() -> None:
    seen: list[Any] = []

    def program() -> None:
        nodes = EksCluster("env", KARPENTER).connection.nodes
        pulumi.Output.all(nodes.subnets, nodes.security_groups).apply(
            lambda ids: seen.extend([nodes.name, nodes.mode, nodes.node_role, nodes.image, nodes.tags, *ids])
        )

    record(program, answers=MADE)
    assert seen == [
        "llm",
        "karpenter",
        "llm-us-east-2-nodes",
        "al2023@v20260901",
        {"team": "models"},
        {
            "us-east-2a": ["env-network-private-us-east-2a-id"],
            "us-east-2b": ["env-network-private-us-east-2b-id"],
        },
        ["sg-cluster", "env-efa-id"],
    ]


@needs_sdks
def test_efa_is_let_in_from_and_out_to_its_own_group() -> None:
    found = registered(AUTO)
    for kind in ("SecurityGroupIngressRule", "SecurityGroupEgressRule"):
        rule = next(rule for name, rule in of_type(found, kind).items() if "efa" in name)
        assert (rule["securityGroupId"], rule["referencedSecurityGroupId"], rule["ipProtocol"]) == (
            "env-efa-id",
            "env-efa-id",
            "-1",
        )


@needs_sdks
def test_subnets_are_found_by_their_tags() -> None:
    tags = {name: dict(subnet["tags"]) for name, subnet in of_type(registered(AUTO), "Subnet").items()}
    assert {tags[name].pop("Name") for name in tags} == {
        f"llm-{kind}-us-east-2{letter}" for kind in ("private", "public") for letter in "ab"
    }
    private = {"kubernetes.io/role/internal-elb": "1", "karpenter.sh/discovery": "llm"}
    public = {"kubernetes.io/role/elb": "1"}
    assert {name: tags[name] for name in sorted(tags)} == {
        "env-network-private-us-east-2a": private,
        "env-network-private-us-east-2b": private,
        "env-network-public-us-east-2a": public,
        "env-network-public-us-east-2b": public,
    }


@needs_sdks
@pytest.mark.parametrize(
    ("nat", "want"),
    [
        ("per-zone", {"us-east-2a": "us-east-2a", "us-east-2b": "us-east-2b"}),
        ("single", {"us-east-2a": "us-east-2a", "us-east-2b": "us-east-2a"}),
        ("none", {}),
    ],
)
def test_each_zone_leaves_by_its_gateway(nat: str, want: dict[str, str]) -> None:
    endpoints = ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts"]
    routes = of_type(registered(AUTO | {"network": VPC | {"nat": nat, "endpoints": endpoints}}), "Route")
    ways = {
        name.removeprefix("env-network-private-").removesuffix("-default"): route.get("natGatewayId", "")
        for name, route in routes.items()
        if "private" in name
    }
    assert {zone: gateway.removeprefix("env-network-nat-")[:-3] for zone, gateway in ways.items()} == want


@needs_sdks
def test_an_existing_network_makes_nothing_in_it_but_the_group_of_efa() -> None:
    subnets = {"us-east-2b": ["subnet-0000000b"], "us-east-2a": ["subnet-0000000a", "subnet-000000a2"]}
    network = {"kind": "existing", "vpcId": "vpc-00000001", "privateSubnets": subnets}
    found = registered(AUTO | {"network": network})
    assert {one.name for one in found if one.type.startswith(("aws:ec2/", "aws:vpc/"))} == {
        "env-efa",
        "env-discovery",
        "env-efa-ingress",
        "env-efa-egress",
    }
    cluster = of_type(found, "Cluster")["env-cluster"]
    assert (cluster["vpcId"], cluster["privateSubnetIds"]) == ("vpc-00000001", ["subnet-0000000a", "subnet-0000000b"])


@needs_sdks
def test_karpenter_learns_of_interruptions_by_five_rules() -> None:
    found = registered(KARPENTER)
    rules = of_type(found, "EventRule")
    assert {json.loads(rule["eventPattern"])["detail-type"][0] for rule in rules.values()} == {
        "AWS Health Event",
        "EC2 Spot Instance Interruption Warning",
        "EC2 Instance Rebalance Recommendation",
        "EC2 Instance State-change Notification",
        "EC2 Capacity Reservation Instance Interruption Warning",
    }
    assert {target["rule"] for target in of_type(found, "EventTarget").values()} == {r["name"] for r in rules.values()}
    charts = of_type(found, "Chart")
    assert charts["env-karpenter"]["values"] == {
        "serviceAccount": {"name": "karpenter"},
        "settings": {
            "clusterName": "llm",
            "interruptionQueue": of_type(found, "Queue")["env-interruptions"]["name"],
            "isolatedVPC": False,
            "featureGates": {"staticCapacity": True, "nodeOverlay": False},
        },
    }
    assert {(chart["chart"], chart["version"], chart["skipCrds"]) for chart in charts.values()} == {
        ("oci://public.ecr.aws/karpenter/karpenter-crd", "1.14.1", True),
        ("oci://public.ecr.aws/karpenter/karpenter", "1.14.1", True),
    }


@needs_sdks
def test_an_existing_cluster_is_reached_by_its_name() -> None:
    kubeconfigs: list[Any] = []
    found_there = {"endpoint": "https://example.com", "certificateAuthorities": [{"data": "Y2E="}]}
    raw = {
        "kind": "existing-eks",
        "name": "llm",
        "account": "123456789012",
        "region": "us-east-2",
        "compute": "karpenter",
        "nodeRole": "nodes",
    }

    def program() -> None:
        ExistingEks("env", raw).connection.kubeconfig.apply(kubeconfigs.append)

    found = record(program, answers={"aws:eks/getCluster:getCluster": found_there})
    assert {one.type for one in found} == {
        "lws:index:ExistingEks",
        "pulumi:providers:aws",
        "pulumi:providers:kubernetes",
    }
    kubeconfig = json.loads(kubeconfigs[0])
    assert kubeconfig["clusters"][0]["cluster"] == {
        "server": "https://example.com",
        "certificate-authority-data": "Y2E=",
    }
    assert kubeconfig["users"][0]["user"]["exec"]["args"] == [
        *("--region", "us-east-2", "eks", "get-token", "--cluster-name", "llm", "--output", "json")
    ]


def test_a_wrong_cluster_stops_the_program_before_it_registers_anything() -> None:
    with pytest.raises(DeclarationError) as caught:
        registered(AUTO | {"allowReplacement": True, "network": VPC | {"cidr": "10.0.0.0/24"}})
    assert str(caught.value).splitlines()[0] == "Cluster env has 2 problems:"


def test_without_the_sdks_the_way_out_is_to_install_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pulumi_aws", None)
    with pytest.raises(pulumi.RunError) as caught:
        registered(AUTO)
    assert str(caught.value) == "Clusters on AWS need pulumi_aws: pip install 'pulumi-lws[aws]'."
