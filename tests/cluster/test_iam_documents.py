"""IAM, action by action: what Karpenter 1.14 may do, on what, and under which condition."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.cluster.eks import iam, interruption, names
from pulumi_lws.cluster.eks.controller_policies import controller_policies
from pulumi_lws.cluster.eks.settings import EksClusterArgs
from pulumi_lws.facts.versions import PINS

CLUSTER = EksClusterArgs.model_validate(
    {
        "kind": "eks",
        "name": "llm",
        "account": "123456789012",
        "region": "us-east-2",
        "network": {"kind": "vpc", "zones": ["us-east-2a", "us-east-2b"]},
        "compute": {"kind": "karpenter"},
    }
)
POLICIES = controller_policies(CLUSTER)

MADE = {
    f"arn:aws:ec2:us-east-2:123456789012:{kind}/*"
    for kind in ("fleet", "instance", "launch-template", "network-interface", "spot-instances-request", "volume")
}
USED = {
    "arn:aws:ec2:us-east-2::image/*",
    "arn:aws:ec2:us-east-2::snapshot/*",
    "arn:aws:ec2:us-east-2:*:capacity-reservation/*",
    "arn:aws:ec2:us-east-2:*:security-group/*",
    "arn:aws:ec2:us-east-2:*:subnet/*",
    "arn:aws:ec2:us-east-2:123456789012:placement-group/*",
}
TEMPLATES = {"arn:aws:ec2:us-east-2:123456789012:launch-template/*"}
INSTANCES = {"arn:aws:ec2:us-east-2:123456789012:instance/*"}
PROFILES = {"arn:aws:iam::123456789012:instance-profile/*"}
QUEUE = {"arn:aws:sqs:us-east-2:123456789012:llm-karpenter"}
OWN_CLUSTER = {"arn:aws:eks:us-east-2:123456789012:cluster/llm"}

# What is granted where nothing narrower exists.
EVERYTHING = {
    **{
        f"ec2:{action}": {"*"}
        for action in (
            "DescribeCapacityReservations",
            "DescribeImages",
            "DescribeInstanceStatus",
            "DescribeInstanceTypeOfferings",
            "DescribeInstanceTypes",
            "DescribeInstances",
            "DescribeLaunchTemplates",
            "DescribePlacementGroups",
            "DescribeSecurityGroups",
            "DescribeSpotPriceHistory",
            "DescribeSubnets",
        )
    },
    "arc-zonal-shift:GetManagedResource": {"*"},
    "iam:ListInstanceProfiles": {"*"},
    "pricing:GetProducts": {"*"},
}
GRANTED: dict[str, set[str]] = EVERYTHING | {
    "ec2:CreateFleet": MADE | USED,
    "ec2:CreateLaunchTemplate": MADE,
    "ec2:CreateTags": MADE,
    "ec2:DeleteLaunchTemplate": INSTANCES | TEMPLATES,
    "ec2:RunInstances": MADE | USED,
    "ec2:TerminateInstances": INSTANCES | TEMPLATES,
    "eks:DescribeCluster": OWN_CLUSTER,
    "iam:AddRoleToInstanceProfile": PROFILES,
    "iam:CreateInstanceProfile": PROFILES,
    "iam:DeleteInstanceProfile": PROFILES,
    "iam:GetInstanceProfile": PROFILES,
    "iam:PassRole": {"arn:aws:iam::123456789012:role/llm-us-east-2-nodes"},
    "iam:RemoveRoleFromInstanceProfile": PROFILES,
    "iam:TagInstanceProfile": PROFILES,
    "sqs:DeleteMessage": QUEUE,
    "sqs:GetQueueUrl": QUEUE,
    "sqs:ReceiveMessage": QUEUE,
    "ssm:GetParameter": {"arn:aws:ssm:us-east-2::parameter/aws/service/*"},
}

OWNED = {"aws:ResourceTag/kubernetes.io/cluster/llm": "owned"}
REQUESTED = {"aws:RequestTag/kubernetes.io/cluster/llm": "owned", "aws:RequestTag/eks:eks-cluster-name": "llm"}
IN_REGION = "topology.kubernetes.io/region"
OWNED_PROFILE = OWNED | {f"aws:ResourceTag/{IN_REGION}": "us-east-2"}
REQUESTED_PROFILE = REQUESTED | {f"aws:RequestTag/{IN_REGION}": "us-east-2"}
NODE_CLASS = "karpenter.k8s.aws/ec2nodeclass"

CONDITIONS: dict[str, Mapping[str, Any] | None] = {
    "UseForInstances": None,
    "UseOwnLaunchTemplates": {
        "StringEquals": OWNED,
        "StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"},
    },
    "MakeTaggedInstances": {
        "StringEquals": REQUESTED,
        "StringLike": {"aws:RequestTag/karpenter.sh/nodepool": "*"},
    },
    "TagWhatIsMade": {
        "StringEquals": REQUESTED | {"ec2:CreateAction": ["RunInstances", "CreateFleet", "CreateLaunchTemplate"]},
        "StringLike": {"aws:RequestTag/karpenter.sh/nodepool": "*"},
    },
    "TagOwnInstances": {
        "StringEquals": OWNED,
        "StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"},
        "StringEqualsIfExists": {"aws:RequestTag/eks:eks-cluster-name": "llm"},
        "ForAllValues:StringEquals": {"aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"]},
    },
    "DeleteOwn": {"StringEquals": OWNED, "StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"}},
    "PassNodeRole": {"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}},
    "CreateInstanceProfiles": {
        "StringEquals": REQUESTED_PROFILE,
        "StringLike": {f"aws:RequestTag/{NODE_CLASS}": "*"},
    },
    "TagOwnInstanceProfiles": {
        "StringEquals": OWNED_PROFILE | REQUESTED_PROFILE,
        "StringLike": {f"aws:ResourceTag/{NODE_CLASS}": "*", f"aws:RequestTag/{NODE_CLASS}": "*"},
    },
    "ChangeOwnInstanceProfiles": {
        "StringEquals": OWNED_PROFILE,
        "StringLike": {f"aws:ResourceTag/{NODE_CLASS}": "*"},
    },
    "DescribeOwnCluster": None,
    "ReadInterruptions": None,
    "ReadZonalShift": {"StringEquals": {"arc-zonal-shift:ResourceIdentifier": next(iter(OWN_CLUSTER))}},
    "DescribeRegion": {"StringEquals": {"aws:RequestedRegion": "us-east-2"}},
    "ReadImageIds": None,
    "ReadPrices": None,
    "ListInstanceProfiles": None,
    "ReadInstanceProfiles": None,
}


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def statements() -> Iterator[Mapping[str, Any]]:
    for document in POLICIES.values():
        assert document["Version"] == "2012-10-17"
        yield from document["Statement"]


def test_the_controller_may_do_exactly_what_karpenter_needs_on_exactly_these_resources() -> None:
    granted: dict[str, set[str]] = {}
    for statement in statements():
        assert statement["Effect"] == "Allow"
        for action in listed(statement["Action"]):
            granted.setdefault(action, set()).update(listed(statement["Resource"]))
    assert granted == GRANTED


def test_every_statement_holds_only_under_its_condition() -> None:
    assert {statement["Sid"]: statement.get("Condition") for statement in statements()} == CONDITIONS


def test_everything_is_granted_only_where_nothing_narrower_exists() -> None:
    wide = {action for s in statements() if "*" in listed(s["Resource"]) for action in listed(s["Action"])}
    assert wide == set(EVERYTHING)


def test_there_are_six_policies_each_small_enough_for_iam() -> None:
    assert list(POLICIES) == [
        "node-lifecycle",
        "iam-integration",
        "eks-integration",
        "interruption",
        "zonal-shift",
        "resource-discovery",
    ]
    # IAM counts a managed policy without white space.
    assert all(len(json.dumps(document, separators=(",", ":"))) <= 6_144 for document in POLICIES.values())


def test_only_events_reach_the_queue_and_never_in_the_clear() -> None:
    queue = next(iter(QUEUE))
    assert iam.queue_policy(CLUSTER)["Statement"] == [
        {
            "Sid": "SendEvents",
            "Effect": "Allow",
            "Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
            "Action": "sqs:SendMessage",
            "Resource": queue,
        },
        {
            "Sid": "DenyHTTP",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "sqs:*",
            "Resource": queue,
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
    ]


def test_auto_mode_may_tag_its_own_nodes_and_nothing_else() -> None:
    own = {"aws:RequestTag/eks:eks-cluster-name": "llm"}
    nodes, pods = iam.auto_tags_policy(CLUSTER)["Statement"]
    assert set(nodes.pop("Resource")) == MADE
    assert nodes == {
        "Sid": "Compute",
        "Effect": "Allow",
        "Action": ["ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateLaunchTemplate"],
        "Condition": {
            "StringEquals": own,
            "StringLike": {
                "aws:RequestTag/eks:kubernetes-node-class-name": "*",
                "aws:RequestTag/eks:kubernetes-node-pool-name": "*",
            },
        },
    }
    assert pods == {
        "Sid": "Networking",
        "Effect": "Allow",
        "Action": "ec2:CreateNetworkInterface",
        "Resource": ["arn:aws:ec2:us-east-2:123456789012:network-interface/*"],
        "Condition": {"StringEquals": own, "StringLike": {"aws:RequestTag/eks:kubernetes-cni-node-name": "*"}},
    }


def test_five_kinds_of_events_announce_the_end_of_an_instance() -> None:
    assert {pattern["detail-type"][0]: pattern["source"][0] for pattern in interruption.EVENTS.values()} == {
        "AWS Health Event": "aws.health",
        "EC2 Spot Instance Interruption Warning": "aws.ec2",
        "EC2 Instance Rebalance Recommendation": "aws.ec2",
        "EC2 Instance State-change Notification": "aws.ec2",
        "EC2 Capacity Reservation Instance Interruption Warning": "aws.ec2",
    }
    assert all(set(pattern) == {"source", "detail-type"} for pattern in interruption.EVENTS.values())


def test_a_role_is_taken_only_by_what_it_is_made_for() -> None:
    trusts = [iam.cluster_trust(), iam.node_trust(CLUSTER), iam.pod_trust(CLUSTER), iam.flow_log_trust(CLUSTER.account)]
    assert trusts == [
        {"Version": "2012-10-17", "Statement": [statement]}
        for statement in (
            {
                "Effect": "Allow",
                "Principal": {"Service": "eks.amazonaws.com"},
                "Action": ["sts:AssumeRole", "sts:TagSession"],
            },
            {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"},
            {
                "Effect": "Allow",
                "Principal": {"Service": "pods.eks.amazonaws.com"},
                "Action": ["sts:AssumeRole", "sts:TagSession"],
                "Condition": {
                    "StringEquals": {"aws:SourceAccount": "123456789012"},
                    "ArnEquals": {"aws:SourceArn": next(iter(OWN_CLUSTER))},
                },
            },
            {
                "Effect": "Allow",
                "Principal": {"Service": "vpc-flow-logs.amazonaws.com"},
                "Action": "sts:AssumeRole",
                "Condition": {"StringEquals": {"aws:SourceAccount": "123456789012"}},
            },
        )
    ]


def test_in_another_partition_every_arn_is_of_that_partition() -> None:
    china = CLUSTER.model_copy(update={"region": "cn-north-1"})
    documents = [*controller_policies(china).values(), iam.queue_policy(china), iam.pod_trust(china)]
    assert "arn:aws:" not in json.dumps(documents)
    assert iam.node_trust(china)["Statement"][0]["Principal"] == {"Service": "ec2.amazonaws.com.cn"}


def test_names_tell_cluster_and_region_apart_where_aws_has_one_name_for_all_regions() -> None:
    roles = {
        names.cluster_role(CLUSTER),
        names.node_role(CLUSTER),
        names.system_role(CLUSTER),
        names.controller_role(CLUSTER),
    }
    assert roles == {"llm-us-east-2-cluster", "llm-us-east-2-nodes", "llm-us-east-2-system", "llm-us-east-2-karpenter"}


KNOWN_FINDINGS = {
    # The linter wants every resource of an action in one statement; IAM adds up the statements.
    ("node-lifecycle", "RESOURCE_MISMATCH"),
    ("auto-tags", "RESOURCE_MISMATCH"),
    # Public parameters belong to no account, which the linter's table does not know.
    ("resource-discovery", "RESOURCE_MISMATCH"),
    # Karpenter's own policy has it so; the condition names the cluster.
    ("zonal-shift", "RESOURCE_STAR"),
}


@pytest.mark.lab
def test_the_linter_for_iam_policies_finds_nothing_that_is_not_understood(tmp_path: Path) -> None:
    flow_logs = iam.flow_log_policy("arn:aws:logs:us-east-2:123456789012:log-group:/aws/vpc/llm")
    for name, document in {**POLICIES, "flow-logs": flow_logs, "auto-tags": iam.auto_tags_policy(CLUSTER)}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    # An environment of its own: its dependencies and those of the Kubernetes client exclude one another.
    package = f"parliament=={PINS['parliament'].version}"
    tool = ["uv", "tool", "run", "--from", package, "--with", "setuptools<81", "parliament"]
    assert shutil.which("uv", path=Path(sys.executable).parent)
    ended = subprocess.run(
        [sys.executable, "-m", *tool, "--directory", str(tmp_path), "--json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if "Failed to fetch" in ended.stderr or "error sending request" in ended.stderr:
        pytest.skip(f"{package} cannot be downloaded here")
    findings = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    assert {(Path(finding["location"]["filepath"]).stem, finding["issue"]) for finding in findings} == KNOWN_FINDINGS
