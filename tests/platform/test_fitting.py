"""Deployments and what is made for them on AWS."""

from typing import Any

import pytest

from pulumi_lws.platform.checks import deployments_of, read
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.sizing import pools_of
from tests.conftest import platform_of

PRIVATE = "111122223333.dkr.ecr.us-east-2.amazonaws.com"
ENDPOINTS = ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sqs", "ssm", "sts"]

Raw = dict[str, Any]


@pytest.fixture
def dev() -> Raw:
    return platform_of("dev")


@pytest.fixture
def staging() -> Raw:
    return platform_of("staging")


def messages(raw: Raw) -> list[str]:
    return [str(problem) for problem in read(raw)[1]]


def isolate(raw: Raw) -> None:
    raw["cluster"]["network"] |= {"nat": "none", "endpoints": ENDPOINTS}


def test_a_network_without_a_way_out_does_with_images_weights_and_charts_of_ones_own(staging: Raw) -> None:
    isolate(staging)
    staging["cluster"]["compute"]["charts"] = f"oci://{PRIVATE}"
    staging["addOns"] |= {"charts": f"oci://{PRIVATE}", "envoyGateway": {}, "inferencePools": {}}
    gateway = {"kind": "gateway", "gateway": "inference"}
    own = {"image": f"{PRIVATE}/vllm:0.26.0", "routerImage": f"{PRIVATE}/router:0.10", "router": gateway}
    staging["deployments"]["gpt-oss"] |= own | {"sidecarImage": f"{PRIVATE}/sidecar:0.10"}
    assert messages(staging) == []


def test_a_hub_of_ones_own_needs_no_way_out(dev: Raw) -> None:
    isolate(dev)
    for deployment in dev["deployments"].values():
        deployment |= {"image": f"{PRIVATE}/vllm:0.26.0", "source": {"kind": "hugging-face"}}
        deployment["environment"] = {"HF_ENDPOINT": "https://hub.example.com"}
    assert [message for message in messages(dev) if "internet" in message] == []


def test_the_images_of_a_router_need_a_way_out_as_well(staging: Raw) -> None:
    isolate(staging)
    staging["cluster"]["compute"]["charts"] = f"oci://{PRIVATE}"
    staging["deployments"]["gpt-oss"]["image"] = f"{PRIVATE}/vllm:0.26.0"
    assert messages(staging) == [
        (
            "deployments.gpt-oss: found docker.io/envoyproxy/envoy:distroless-v1.39.6,"
            " ghcr.io/llm-d/llm-d-router-disagg-sidecar:v0.10.0, ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.10.0,"
            " and no way to the internet; allowed: images of a registry that the VPC reaches, such as ECR of the"
            " account. Copy them there, and name them with image, routerImage and sidecarImage. Envoy's cannot be"
            " named: choose router.kind gateway."
        )
    ]


def test_a_deployment_takes_the_version_of_the_cluster_that_is_made_for_it(dev: Raw) -> None:
    dev["cluster"]["version"] = "1.34"
    args = deployments_of(PlatformArgs.model_validate(dev))
    assert {name: deployment.kubernetes_version for name, deployment in args.items()} == {
        "glm-5": "1.34",
        "gpt-oss": "1.34",
    }


def test_a_pool_without_efa_gives_none_to_the_pods_of_the_plan(dev: Raw) -> None:
    dev["pools"]["p5"]["efa"] = "none"
    assert {pool.name: pool.efa_per_node for pool in pools_of(PlatformArgs.model_validate(dev))} == {
        "p5": 0,
        "small": 1,
    }


def test_a_mistake_in_a_pool_hides_none_of_the_cluster_and_the_other_way_round(dev: Raw) -> None:
    dev["cluster"]["network"]["zones"] = ["us-east-2a"]
    dev["pools"]["small"]["node"] = 3
    dev["deployments"]["glm-5"]["replicas"] = 2
    paths = [message.partition(":")[0] for message in messages(dev)]
    assert paths == ["pools.small.node", "cluster.network.zones", "deployments.glm-5.replicas"]
    dev["cluster"]["nam"] = dev["cluster"].pop("name")
    paths = [message.partition(":")[0] for message in messages(dev)]
    assert paths == ["cluster.name", "cluster.nam", "pools.small.node", "deployments.glm-5.replicas"]


def test_prefill_and_decode_are_laid_on_one_zone_where_there_is_but_one(staging: Raw) -> None:
    del staging["pools"]["p5"]["zone"]
    zone = {"us-east-2a": ["subnet-0123456789abcdef0"]}
    staging["cluster"] = {
        "kind": "existing-eks",
        "name": "inference-staging",
        "account": "111122223333",
        "region": "us-east-2",
        "compute": "karpenter",
        "nodeRole": "nodes",
        "privateSubnets": zone,
        "image": "al2023@v20260901",
    }
    assert messages(staging) == []
    staging["cluster"]["privateSubnets"] = {}
    staging["pools"]["p5"]["zone"] = "us-west-2a"
    assert messages(staging) == [
        (
            "pools.p5.zone: found 'us-west-2a'; allowed: a zone of the cluster's subnets, such as us-east-2a."
            " Name a zone in which the cluster has subnets."
        )
    ]
