"""Accounts of the stand-in for AWS: whose they are, and what exists in them before any program."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.aws import tables, values
from lab.aws.cluster_access import ClusterAccess
from lab.aws.kinds import KINDS
from lab.aws.seeding import _recognised, seed
from lab.aws.state import Account, AccountFile
from lab.errors import LabError

ROLE = "arn:aws:iam::111122223333:role/teams/deployers"
VPC = "arn:aws:ec2:us-east-2:123456789012:vpc/vpc-0123456789abcdef0"
SUBNET = "arn:aws:ec2:us-east-2:123456789012:subnet/subnet-0123456789abcdef0"

Seed = Callable[[str], list[str]]


@pytest.fixture
def plant(tmp_path: Path) -> Seed:
    """Seed the accounts of a test with a text."""

    def plant(text: str) -> list[str]:
        file = tmp_path / "seed.yaml"
        file.write_text(text)
        return seed(file, tmp_path, ClusterAccess(tmp_path / "kubeconfig", tmp_path / "credential.json"))

    return plant


def test_the_account_is_the_one_that_the_program_allows(aws: Any) -> None:
    aws.configure(allowedAccountIds=["111122223333"])
    made = aws.create("aws:ec2/vpc:Vpc", cidrBlock="10.0.0.0/16")
    assert made["arn"] == f"arn:aws:ec2:us-east-2:111122223333:vpc/{made['id']}"
    assert aws.invoke("aws:index/getCallerIdentity:getCallerIdentity")["accountId"] == "111122223333"
    assert AccountFile(aws.folder, "111122223333").read().find("aws:ec2/vpc:Vpc", made["id"])
    assert aws.account.read().objects == []


def test_a_role_takes_its_arn_alone(aws: Any, plant: Seed) -> None:
    entry = {"clusterName": "llm", "principalArn": ROLE}
    aws.configure(allowedAccountIds=["111122223333"])
    assert plant("arn:aws:eks:us-east-2:111122223333:cluster/llm: {accessConfig: {authenticationMode: API}}\n")
    with pytest.raises(aws.refused, match=f"NoSuchEntity: The role {ROLE} cannot be found"):
        aws.create("aws:eks/accessEntry:AccessEntry", **entry)
    assert plant(f"{ROLE}:\n") == [ROLE]
    assert aws.create("aws:eks/accessEntry:AccessEntry", **entry)["type"] == "STANDARD"
    found = aws.invoke("aws:iam/getRole:getRole", name="deployers")
    assert (found["arn"], found["path"]) == (ROLE, "/teams/")


def test_properties_are_written_as_a_program_would(aws: Any, plant: Seed) -> None:
    text = f"""
    {VPC}: {{cidrBlock: 10.0.0.0/16}}
    {SUBNET}: {{vpcId: vpc-0123456789abcdef0, cidrBlock: 10.0.0.0/20, availabilityZone: us-east-2a}}
    """
    assert plant(text) == [VPC, SUBNET]
    assert aws.invoke("aws:ec2/getSubnet:getSubnet", id="subnet-0123456789abcdef0")["vpcId"] == "vpc-0123456789abcdef0"
    before = aws.account.path.read_text()
    assert plant(text) == []
    assert aws.account.path.read_text() == before


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- one\n", "is no mapping from ARNs to properties."),
        ("a: b: c\n", "cannot be read."),
        ("arn:aws:s3:::models:\n", "cannot exist: this stand-in has no rules for an ARN of this form"),
        (f"{VPC}: {{cidrBlok: 10.0.0.0/16}}\n", "cannot exist: aws:ec2/vpc:Vpc has no property cidrBlok. Did you mean"),
        (f"{VPC}: {{cidrBlock: 10.0.0.0}}\n", "cannot exist: cidrBlock must be"),
        (f"{SUBNET}:\n", "cannot exist: aws:ec2/subnet:Subnet requires vpcId, but it is not set."),
        (f"{SUBNET}: {{vpcId: vpc-1}}\n", "cannot exist: InvalidVpcID.NotFound: The vpc ID 'vpc-1' does not exist"),
    ],
)
def test_what_cannot_exist_is_said(plant: Seed, text: str, sentence: str) -> None:
    with pytest.raises(LabError) as caught:
        plant(text)
    assert sentence in caught.value.sentence


def test_every_arn_that_the_stand_in_makes_tells_its_type(tmp_path: Path) -> None:
    access = ClusterAccess(tmp_path / "kubeconfig", tmp_path / "credential.json")
    around = values.Surroundings("us-east-2", {}, Account("111122223333", []), access)
    given = {
        "name": "a",
        "path": "/x/",
        "clusterName": "c",
        "nodeGroupName": "n",
        "addonName": "coredns",
        "url": "https://u",
    }
    for token, kind in KINDS.items():
        # AWS has one form of ARN for rules of both directions.
        if kind.arn and token != "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule":
            _, made = values.made(kind, tables.table(token), given, around)
            assert _recognised(made["arn"])[0] == token
