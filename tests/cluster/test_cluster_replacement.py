"""What a running cluster cannot follow is found before anything is touched."""

from typing import Any

import pytest

from pulumi_lws.cluster.eks.replacement import replacement_problems
from pulumi_lws.cluster.eks.settings import EksClusterArgs

Raw = dict[str, Any]

ZONES = ["us-east-2a", "us-east-2b", "us-east-2c"]
VPC: Raw = {"kind": "vpc", "zones": ZONES}
SUBNETS: Raw = {zone: [f"subnet-0000000{zone[-1]}"] for zone in ZONES}
EXISTING_VPC: Raw = {"kind": "existing", "vpcId": "vpc-00000001", "privateSubnets": SUBNETS}
CLUSTER: Raw = {
    "kind": "eks",
    "name": "llm",
    "account": "123456789012",
    "region": "us-east-2",
    "network": VPC,
    "compute": {"kind": "karpenter"},
    "version": "1.34",
}
KEY = "arn:aws:kms:us-east-2:123456789012:key/00000000-0000-0000-0000-000000000000"
WAY_OUT = (
    " Change it back. To make another cluster instead and to destroy this one, with all that runs on it: apply"
    " protect: false first, then set allowReplacement: true."
)


def as_recorded(raw: Raw) -> Raw:
    """The inputs of the component, as the engine keeps them."""
    return EksClusterArgs.model_validate(raw).model_dump(mode="json", by_alias=True, exclude_none=True)


def found(old: Raw, new: Raw) -> list[str]:
    return [str(problem) for problem in replacement_problems(as_recorded(old), as_recorded(new))]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"version": "1.35"},
        {"addons": {"kube-proxy": "v1.34.9-eksbuild.1"}},
        {"network": VPC | {"zones": [*ZONES, "us-east-2d"], "nat": "single", "flowLogs": {}}},
        {"compute": {"kind": "karpenter", "image": "al2023@v20260901", "systemNodes": {"nodes": 4}}},
        {"access": {"ci": {"principalArn": "arn:aws:iam::123456789012:role/ci", "policy": "edit"}}},
        {"publicCidrs": ["192.0.2.0/24"], "logTypes": ["audit"], "protect": False, "tags": {"team": "models"}},
    ],
)
def test_what_eks_changes_in_place_is_let_through(changed: Raw) -> None:
    assert found(CLUSTER, CLUSTER | changed) == []


def test_authentication_is_let_go_forward() -> None:
    assert found(CLUSTER | {"authentication": "API_AND_CONFIG_MAP"}, CLUSTER) == []


REFUSED: dict[str, tuple[Raw, Raw, str]] = {
    "mode": (
        CLUSTER,
        {"compute": {"kind": "auto"}},
        (
            "compute.kind: found 'auto'; allowed: 'karpenter', as the running cluster has it: a running cluster does"
            " not change who makes its nodes."
        ),
    ),
    "name": (
        CLUSTER,
        {"name": "models"},
        "name: found 'models'; allowed: 'llm', as the running cluster has it: a cluster cannot be renamed.",
    ),
    "account": (
        CLUSTER,
        {"account": "210987654321"},
        "account: found '210987654321'; allowed: '123456789012', as the running cluster has it: a cluster cannot move.",
    ),
    "addresses of the VPC": (
        CLUSTER,
        {"network": VPC | {"cidr": "10.1.0.0/16"}},
        (
            "network.cidr: found '10.1.0.0/16'; allowed: '10.0.0.0/16', as the running cluster has it: a VPC keeps its"
            " addresses, and a cluster stays in its VPC."
        ),
    ),
    "another VPC": (
        CLUSTER,
        {"network": EXISTING_VPC},
        "network.kind: found 'existing'; allowed: 'vpc', as the running cluster has it: a cluster stays in its VPC.",
    ),
    "a zone left out": (
        CLUSTER,
        {"network": VPC | {"zones": ZONES[:2]}},
        (
            "network.zones: found us-east-2a, us-east-2b; allowed: us-east-2a, us-east-2b, us-east-2c, and further"
            " zones after them, as the running cluster has it: the subnets of zones that are left out or moved would"
            " be destroyed with all nodes in them."
        ),
    ),
    "zones of the control plane": (
        CLUSTER | {"network": EXISTING_VPC},
        {"network": EXISTING_VPC | {"privateSubnets": {zone: SUBNETS[zone] for zone in ZONES[1:]}}},
        (
            "network.privateSubnets: found us-east-2b, us-east-2c; allowed: us-east-2a, us-east-2b, as the running"
            " cluster has it: the control plane stays in its subnets' zones."
        ),
    ),
    "addresses of Services": (
        CLUSTER,
        {"serviceCidr": "172.20.0.0/16"},
        (
            "serviceCidr: found '172.20.0.0/16'; allowed: nothing, as the running cluster has it: Services keep their"
            " addresses."
        ),
    ),
    "key": (
        CLUSTER | {"kmsKey": KEY},
        {"kmsKey": None},
        (
            f"kmsKey: found nothing; allowed: '{KEY}', as the running cluster has it: Secrets stay encrypted with the"
            " key that they are encrypted with."
        ),
    ),
    "authentication": (
        CLUSTER,
        {"authentication": "API_AND_CONFIG_MAP"},
        (
            "authentication: found 'API_AND_CONFIG_MAP'; allowed: 'API', as the running cluster has it: EKS does not go"
            " back to aws-auth."
        ),
    ),
    "version back": (
        CLUSTER,
        {"version": "1.33"},
        "version: found '1.33'; allowed: '1.34', or '1.35', as the running cluster has it: a cluster cannot go back.",
    ),
    "version by two": (
        CLUSTER,
        {"version": "1.36"},
        (
            "version: found '1.36'; allowed: '1.34', or '1.35', as the running cluster has it: a cluster takes one"
            " minor version at a time."
        ),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_destroy_or_break_the_cluster_is_refused_with_the_reason(name: str) -> None:
    old, changed, want = REFUSED[name]
    assert found(old, CLUSTER | changed) == [want + WAY_OUT]


def test_all_such_changes_are_said_at_once() -> None:
    changed = CLUSTER | {"name": "models", "compute": {"kind": "auto"}, "version": "1.33"}
    problems = replacement_problems(as_recorded(CLUSTER), as_recorded(changed))
    assert [problem.path for problem in problems] == ["name", "compute.kind", "version"]
