"""Wrong clusters: each has its one problem, with the numbers and the way out."""

from typing import Any

import pytest
from pydantic import ValidationError

from pulumi_lws.cluster.eks.checks import cluster_problems, existing_problems, pools_problems
from pulumi_lws.cluster.eks.settings import EksClusterArgs, ExistingEksCluster
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Severity
from pulumi_lws.planning.validation import problems_of

Raw = dict[str, Any]

VPC: Raw = {"kind": "vpc", "zones": ["us-east-2a", "us-east-2b"]}
EXISTING_VPC: Raw = {
    "kind": "existing",
    "vpcId": "vpc-0123456789abcdef0",
    "privateSubnets": {"us-east-2a": ["subnet-0000000a"], "us-east-2b": ["subnet-0000000b"]},
}
CLUSTER: Raw = {
    "kind": "eks",
    "name": "llm",
    "account": "123456789012",
    "region": "us-east-2",
    "network": VPC,
    "compute": {"kind": "karpenter"},
}
AUTO: Raw = CLUSTER | {"compute": {"kind": "auto"}}
ROLE = "arn:aws:iam::123456789012:role/deployers"
KEY = "arn:aws:kms:{}:123456789012:key/00000000-0000-0000-0000-000000000000"


def found(raw: Raw, pools: Raw | None = None) -> list[str]:
    try:
        cluster = EksClusterArgs.model_validate(raw)
    except ValidationError as error:
        return [str(problem) for problem in problems_of(error, EksClusterArgs)]
    read = {name: GpuPool.model_validate(pool) for name, pool in (pools or {}).items()}
    return [str(problem) for problem in cluster_problems(cluster) or pools_problems(cluster, read)]


@pytest.mark.parametrize(
    "raw",
    [
        CLUSTER,
        AUTO,
        CLUSTER | {"network": EXISTING_VPC},
        CLUSTER | {"network": VPC | {"nat": "single", "flowLogs": {}}},
        AUTO | {"network": VPC | {"nat": "none", "endpoints": ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts"]}},
        CLUSTER | {"version": "1.34", "addons": {"kube-proxy": "v1.34.1-eksbuild.2"}},
        AUTO | {"version": "1.34"},
        CLUSTER | {"access": {"ci": {"principalArn": ROLE, "policy": "edit", "namespaces": ["models"]}}},
        CLUSTER | {"serviceCidr": "172.20.0.0/16", "kmsKey": KEY.format("us-east-2"), "publicCidrs": ["192.0.2.0/24"]},
        CLUSTER | {"protect": False, "allowReplacement": True},
    ],
)
def test_a_sound_cluster_has_no_problem(raw: Raw) -> None:
    assert (
        found(raw, {"p5": {"instanceType": "p5.48xlarge", "islands": 3, "nodesPerIsland": 2, "zone": "us-east-2a"}})
        == []
    )


def network(**changed: Any) -> Raw:
    return CLUSTER | {"network": VPC | changed}


def existing_network(**changed: Any) -> Raw:
    return CLUSTER | {"network": EXISTING_VPC | changed}


WRONG: dict[str, tuple[Raw, str]] = {
    "one zone": (
        network(zones=["us-east-2a"]),
        (
            "network.zones: found only us-east-2a; allowed: 2 to 6 zones: the control plane lies in two. Name the"
            " zones of the pools, and others to make it two."
        ),
    ),
    "a zone twice": (
        network(zones=["us-east-2a", "us-east-2b", "us-east-2a"]),
        "network.zones: found us-east-2a twice; allowed: each zone once. Remove the second one.",
    ),
    "a zone of another region": (
        network(zones=["us-east-2a", "us-west-2b"]),
        (
            "network.zones: found us-west-2b; allowed: zones of us-east-2, such as us-east-2a. Name zones of the"
            " cluster's region, or change cluster.region."
        ),
    ),
    "a VPC that is too small": (
        network(cidr="10.0.0.0/24"),
        (
            "network.cidr: found 10.0.0.0/24, 256 addresses; allowed: /16 to /22: 65536 to 1024 addresses. Choose a"
            " network of that size."
        ),
    ),
    "a VPC that is too large": (
        network(cidr="10.0.0.0/8"),
        (
            "network.cidr: found 10.0.0.0/8, 16777216 addresses; allowed: /16 to /22: 65536 to 1024 addresses. Choose a"
            " network of that size."
        ),
    ),
    "addresses of others": (
        network(cidr="52.94.0.0/16"),
        (
            "network.cidr: found 52.94.0.0/16; allowed: private addresses, such as 10.0.0.0/16 or 100.64.0.0/16. Choose"
            " addresses that belong to nobody: those of others could no longer be reached."
        ),
    ),
    "an address within its network": (
        network(cidr="10.0.1.0/16"),
        (
            "network.cidr: found '10.0.1.0/16'; allowed: the first address of a network and its prefix length. Write"
            " 10.0.0.0/16."
        ),
    ),
    "no network at all": (
        network(cidr="10.0.0.0/33"),
        (
            "network.cidr: found '10.0.0.0/33'; allowed: an IPv4 network such as 10.0.0.0/16. Write address and prefix"
            " length."
        ),
    ),
    "a network that is connected and overlaps": (
        network(connectedCidrs=["192.168.0.0/16", "10.0.128.0/20"]),
        (
            "network.connectedCidrs[1]: found 10.0.128.0/20, which shares addresses with the VPC's 10.0.0.0/16;"
            " allowed: networks apart from the VPC's. Choose another cidr for the VPC: overlapping networks cannot be"
            " connected."
        ),
    ),
    "isolated without endpoints": (
        network(nat="none")
        | {"compute": {"kind": "karpenter", "charts": "oci://123456789012.dkr.ecr.us-east-2.amazonaws.com"}},
        (
            "network.endpoints: found no eks-auth, sqs, ssm, and no way to the internet (nat: none); allowed: ec2,"
            " ecr.api, ecr.dkr, eks, eks-auth, sqs, ssm, sts. Add them, or choose nat: single; without them no node"
            " joins the cluster."
        ),
    ),
    "an unknown endpoint": (
        network(endpoints=["ecr"]),
        (
            "network.endpoints[0]: found 'ecr'; allowed: autoscaling, ec2, ecr.api, ecr.dkr, eks, eks-auth,"
            " elasticloadbalancing, logs, sqs, ssm or sts. Choose one of them for endpoints[0]."
        ),
    ),
    "an endpoint twice": (
        network(endpoints=["sts", "sts"]),
        "network.endpoints: found sts twice; allowed: each service once. Remove the second one.",
    ),
    "a retention that CloudWatch does not know": (
        network(flowLogs={"retentionDays": 10}),
        (
            "network.flowLogs.retentionDays: found 10; allowed: 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400,"
            " 545, 731, 1096 or 1827. Choose one of them for retentionDays."
        ),
    ),
    "a VPC without a kind": (
        CLUSTER | {"network": {"zones": ["us-east-2a", "us-east-2b"]}},
        "network.kind: found nothing; allowed: vpc, existing. Choose one of them for kind.",
    ),
    "a subnet in two zones": (
        existing_network(privateSubnets={"us-east-2a": ["subnet-0000000a"], "us-east-2b": ["subnet-0000000a"]}),
        (
            "network.privateSubnets: found subnet-0000000a twice; allowed: each subnet in one zone. Write each subnet"
            " below the zone that it lies in."
        ),
    ),
    "a name for an id": (
        existing_network(vpcId="main"),
        "network.vpcId: found 'main'; allowed: text such as vpc-0123456789abcdef0. Change vpcId.",
    ),
    "addresses of a zone without subnets": (
        existing_network(freeAddresses={"us-east-2c": 100}),
        (
            "network.freeAddresses.us-east-2c: found a zone without private subnets; allowed: us-east-2a, us-east-2b."
            " Remove it, or add its subnets to privateSubnets."
        ),
    ),
    "Services among the VPC's addresses": (
        CLUSTER | {"serviceCidr": "10.0.16.0/20"},
        (
            "serviceCidr: found 10.0.16.0/20, which shares addresses with the VPC's 10.0.0.0/16; allowed: a network"
            " apart from the VPC's. Choose another, or remove it: EKS chooses one then."
        ),
    ),
    "too few addresses for Services": (
        CLUSTER | {"serviceCidr": "172.20.0.0/28"},
        (
            "serviceCidr: found 172.20.0.0/28, 16 addresses; allowed: /12 to /24 within 10.0.0.0/8, 172.16.0.0/12,"
            " 192.168.0.0/16. Choose such a network, or remove it: EKS chooses one then."
        ),
    ),
    "both modes at once": (
        CLUSTER | {"compute": {"kind": "auto", "image": "al2023@v20260901"}},
        (
            "compute.image: found an unknown field with the value 'al2023@v20260901'; allowed: kind, systemCpus. Remove"
            " image."
        ),
    ),
    "an unknown mode": (
        CLUSTER | {"compute": {"kind": "fargate"}},
        "compute.kind: found fargate; allowed: auto, karpenter. Choose one of them for kind.",
    ),
    "one system node": (
        CLUSTER | {"compute": {"kind": "karpenter", "systemNodes": {"nodes": 1}}},
        "compute.systemNodes.nodes: found 1; allowed: 2 or more. Change nodes.",
    ),
    "a version that YAML reads as a number": (
        CLUSTER | {"version": 1.35},
        "version: found 1.35; allowed: text such as '1.35'. Write it in quotes: YAML reads 1.30 as the number 1.3.",
    ),
    "a version with a patch level": (
        CLUSTER | {"version": "1.35.4"},
        (
            "version: found '1.35.4'; allowed: 1.33, 1.34, 1.35, 1.36. Choose a version that EKS offers, without a"
            " patch level."
        ),
    ),
    "add-ons of another version": (
        CLUSTER | {"version": "1.34"},
        (
            "addons.kube-proxy: found v1.35.0-eksbuild.2, the pinned one; allowed: a version for Kubernetes 1.34, such"
            " as v1.34.0-eksbuild.2. Look for it with `aws eks describe-addon-versions --addon-name kube-proxy"
            " --kubernetes-version 1.34`, and name the other add-ons' versions too."
        ),
    ),
    "add-ons on Auto Mode": (
        AUTO | {"addons": {"vpc-cni": "v1.21.1-eksbuild.3"}},
        (
            "addons: found vpc-cni; allowed: none: on Auto Mode they are part of the node. Remove addons, or set"
            " compute.kind to karpenter."
        ),
    ),
    "a name that makes others too long": (
        CLUSTER | {"name": "large-language-models-of-the-whole-company-in-ohio"},
        (
            "name: found 50 characters, which make"
            " large-language-models-of-the-whole-company-in-ohio-capacity-interruption with 72; allowed: 42"
            " characters: AWS takes 64 for that. Shorten it by 8."
        ),
    ),
    "an account as a number": (
        CLUSTER | {"account": 123456789012},
        (
            "account: found 123456789012; allowed: text of 12 digits. Write it in quotes: YAML reads a number, and"
            " drops zeros in front."
        ),
    ),
    "the session of a role": (
        CLUSTER | {"access": {"ci": {"principalArn": "arn:aws:sts::123456789012:assumed-role/ci/x", "policy": "edit"}}},
        (
            "access.ci.principalArn: found 'arn:aws:sts::123456789012:assumed-role/ci/x'; allowed: ARN of an IAM role"
            " or user, such as arn:aws:iam::123456789012:role/deployers. Name the role itself, neither a session of it"
            " (arn:aws:sts:…:assumed-role/…) nor a group."
        ),
    ),
    "a role twice": (
        CLUSTER | {"access": {name: {"principalArn": ROLE, "policy": "view"} for name in ("ci", "team")}},
        (
            f"access.team.principalArn: found {ROLE}, which ci has; allowed: a role or user that has no entry: EKS"
            " takes one for each. Put both into ci."
        ),
    ),
    "access to nothing": (
        CLUSTER | {"access": {"ci": {"principalArn": ROLE}}},
        "access.ci: found neither policy nor groups; allowed: one of them, or both. Add policy: edit, for example.",
    ),
    "namespaces of groups": (
        CLUSTER | {"access": {"ci": {"principalArn": ROLE, "groups": ["team"], "namespaces": ["models"]}}},
        (
            "access.ci.namespaces: found models; allowed: nothing without a policy: role bindings say where groups may"
            " act. Add policy, or remove namespaces."
        ),
    ),
    "a group of Kubernetes itself": (
        CLUSTER | {"access": {"ci": {"principalArn": ROLE, "groups": ["system:masters"]}}},
        (
            "access.ci.groups: found system:masters; allowed: groups that do not start with system:, eks:, aws:,"
            " amazon:, iam:: EKS refuses those. Use policy: cluster-admin instead, or a group of your own."
        ),
    ),
    "a key of another region": (
        CLUSTER | {"kmsKey": KEY.format("us-west-2")},
        "kmsKey: found a key of us-west-2; allowed: a key of us-east-2. Name a key of the cluster's own region.",
    ),
    "more networks than EKS takes": (
        CLUSTER | {"publicCidrs": [f"192.0.2.{number}/32" for number in range(41)]},
        "publicCidrs: found 41 networks; allowed: 40 at most. Name larger networks, or go through a VPN.",
    ),
    "replacing what is protected": (
        CLUSTER | {"allowReplacement": True},
        (
            "allowReplacement: found true, with protect: true; allowed: true with protect: false: what is protected is"
            " never replaced. Apply protect: false first, or remove allowReplacement."
        ),
    ),
    "a tag of AWS": (
        CLUSTER | {"tags": {"aws:team": "models"}},
        (
            "tags.aws:team: found a tag that is not yours to set; allowed: tags that do not start with aws:,"
            " eks:eks-cluster-name, kubernetes.io/cluster, karpenter.sh/, karpenter.k8s.aws/, eks.amazonaws.com/. Use a"
            " name of your own."
        ),
    ),
    "a misspelt field": (
        CLUSTER | {"publicCidr": ["192.0.2.0/24"]},
        (
            "publicCidr: found an unknown field with the value a list of 1; allowed:"
            f" {', '.join(field.alias or name for name, field in EksClusterArgs.model_fields.items())}. Write"
            " publicCidrs instead."
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_cluster_has_its_one_problem(name: str) -> None:
    raw, want = WRONG[name]
    assert found(raw) == [want]


P5: Raw = {"instanceType": "p5.48xlarge", "zone": "us-east-2a"}
PLAIN: Raw = {"instanceType": "g6e.xlarge", "nodes": 30}
SMALL = network(cidr="10.0.0.0/21")

WRONG_TOGETHER: dict[str, tuple[Raw, Raw, str]] = {
    "too few addresses in the pool's zone": (
        SMALL,
        {"p5": P5 | {"islands": 3, "nodesPerIsland": 2}, "plain": PLAIN | {"nodes": 1}},
        (
            "cluster.network.cidr: found 230 free addresses in us-east-2a; allowed: 352 or more: p5 takes 6 x 52,"
            " system nodes 40. Choose a larger network, set efa: explicit (an interface without an address), or spread"
            " the pools over zones."
        ),
    ),
    "too few addresses in all zones": (
        SMALL,
        {"plain": PLAIN},
        (
            "cluster.network.cidr: found 460 free addresses in us-east-2a, us-east-2b; allowed: 670 or more: plain"
            " takes 30 x 21, system nodes 40. Choose a larger network, or use fewer nodes."
        ),
    ),
    "too few free addresses": (
        AUTO | {"network": EXISTING_VPC | {"freeAddresses": {"us-east-2a": 100}}},
        {"p5": P5 | {"nodes": 2}},
        (
            "cluster.network.freeAddresses.us-east-2a: found 100 free addresses in us-east-2a; allowed: 128 or more: p5"
            " takes 2 x 64, system nodes 0. Add subnets, set efa: explicit (an interface without an address), or"
            " spread the pools over zones."
        ),
    ),
    "a zone without the type": (
        network(offerings={"p5.48xlarge": ["us-east-2b", "us-east-2c"]}),
        {"p5": P5 | {"nodes": 1}},
        (
            "pools.p5.zone: found us-east-2a, which has no p5.48xlarge; allowed: us-east-2b, us-east-2c, by"
            " cluster.network.offerings. Move the pool to such a zone."
        ),
    ),
    "a type that no zone has": (
        network(offerings={"g6e.xlarge": ["us-east-2c"]}),
        {"plain": PLAIN},
        (
            "pools.plain.instanceType: found g6e.xlarge, which no zone of the network has; allowed: a type of"
            " us-east-2a, us-east-2b; g6e.xlarge is in us-east-2c. Add such a zone to the network, or choose another"
            " type."
        ),
    ),
    "hugepages without their gate": (
        CLUSTER,
        {"p5": P5 | {"nodes": 1, "hugepages": True}},
        (
            "pools.p5.hugepages: found true, without the feature gate NodeOverlay; allowed: true with"
            " cluster.compute.nodeOverlays: true. Set it, or remove hugepages: without the gate, pods that request them"
            " stay pending."
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG_TOGETHER)
def test_pools_that_do_not_fit_their_cluster_have_their_one_problem(name: str) -> None:
    cluster, pools, want = WRONG_TOGETHER[name]
    assert found(cluster, pools) == [want]


def test_an_api_server_that_everybody_reaches_is_a_warning() -> None:
    problems = cluster_problems(EksClusterArgs.model_validate(CLUSTER | {"publicCidrs": ["0.0.0.0/0"]}))
    assert [(problem.path, problem.severity) for problem in problems] == [("publicCidrs", Severity.WARNING)]


EXISTING: Raw = {
    "kind": "existing-eks",
    "name": "llm",
    "account": "123456789012",
    "region": "us-east-2",
    "compute": "auto",
    "nodeRole": "llm-nodes",
}


@pytest.mark.parametrize(
    ("changed", "want"),
    [
        ({}, []),
        (
            {"image": "al2023@v20260901"},
            [
                (
                    "image: found 'al2023@v20260901'; allowed: nothing: Auto Mode chooses its own image. Remove it, or"
                    " set compute: karpenter."
                )
            ],
        ),
        (
            {"privateSubnets": {"us-west-2a": ["subnet-0000000a"]}},
            [
                (
                    "privateSubnets: found us-west-2a; allowed: zones of us-east-2, such as us-east-2a. Name zones of"
                    " the cluster's region, or change region."
                )
            ],
        ),
    ],
)
def test_an_existing_cluster_is_judged_by_what_it_says(changed: Raw, want: list[str]) -> None:
    cluster = ExistingEksCluster.model_validate(EXISTING | changed)
    assert [str(problem) for problem in existing_problems(cluster)] == want
