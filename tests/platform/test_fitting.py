"""Deployments and what is made for them on AWS."""

from typing import Any

import pytest

from pulumi_lws.addons.addon import AddOnFacts
from pulumi_lws.addons.catalogue import ADD_ONS
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
    """Take the way out, and name images of add-ons that are reached without."""
    raw["cluster"]["network"] |= {"nat": "none", "endpoints": ENDPOINTS}
    raw["addOns"] |= {facts.key: own_images(facts) for facts in ADD_ONS.values() if facts.key in raw["addOns"]}


def own_images(facts: AddOnFacts) -> Raw:
    values: Raw = {}
    for path in () if facts.manifests else facts.images:
        *parents, name = path.split(".")
        inner = values
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[name] = f"{PRIVATE}/mirror" if name in {"image", "repository"} else PRIVATE
    return {"values": values} if values else {}


def test_a_network_without_a_way_out_does_with_images_weights_and_charts_of_ones_own(staging: Raw) -> None:
    staging["addOns"] |= {"envoyGateway": {}, "inferencePools": {}}
    isolate(staging)
    staging["cluster"]["compute"]["charts"] = staging["addOns"]["charts"] = f"oci://{PRIVATE}"
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


def internet(raw: Raw) -> list[tuple[str, str, str]]:
    """Return the problems about the internet: path, severity, and what was found."""
    return [
        (problem.path, problem.severity.value, problem.found.removesuffix(", and no way to the internet"))
        for problem in read(raw)[1]
        if "internet" in problem.found or "without a way to the internet" in problem.allowed
    ]


def alone(staging: Raw) -> Raw:
    """Take the way out of a platform whose deployments, charts and add-ons need none."""
    isolate(staging)
    staging["cluster"]["compute"]["charts"] = f"oci://{PRIVATE}"
    staging["deployments"]["gpt-oss"] |= {
        "image": f"{PRIVATE}/vllm:0.26.0",
        "sidecarImage": f"{PRIVATE}/sidecar:0.10",
        "router": None,
    }
    assert internet(staging) == []
    return staging


@pytest.mark.parametrize(
    ("add_on", "changes", "problem"),
    [
        ("lws", {}, ("values.image.manager.repository", "error", "nothing")),
        ("kueue", {"values": {}}, ("values.controllerManager.manager.image.repository", "error", "nothing")),
        (
            "keda",
            {"values": {"global": {"image": {"registry": "ghcr.io"}}}},
            ("values.global.image.registry", "error", "ghcr.io"),
        ),
        ("lws", {"charts": f"oci://{PRIVATE}"}, ("values.image.manager.repository", "warning", "nothing")),
        (
            "kubePrometheusStack",
            {"values": {"global": {"imageRegistry": PRIVATE.replace("us-east-2", "eu-west-1")}}},
            ("values.global.imageRegistry", "error", PRIVATE.replace("us-east-2", "eu-west-1")),
        ),
        # Its image lies in ECR, of another region than this cluster's.
        ("efaDevicePlugin", {}, ("values.image.repository", "error", "nothing")),
    ],
)
def test_images_of_add_ons_are_reached_from_inside(
    staging: Raw, add_on: str, changes: Raw, problem: tuple[str, str, str]
) -> None:
    path, severity, found = problem
    alone(staging)["addOns"][add_on] = changes
    assert internet(staging) == [(f"addOns.{add_on}.{path}", severity, found)]


def test_what_copies_pulls_and_tests_is_reached_from_inside(staging: Raw) -> None:
    hub = {"kind": "hugging-face", "model": "openai/gpt-oss-120b", "revision": "v1"}
    bucket = {"kind": "s3", "uri": "s3://weights/oss", "region": "eu-west-1"}
    copies = {key: {"origin": origin, "sizeGb": 70, "path": key} for key, origin in (("a", hub), ("b", bucket))}
    copies["b"]["image"] = f"{PRIVATE}/aws-cli:2"
    alone(staging)["caches"] = {
        "prePull": True,
        "prePullImages": ["vllm/vllm-openai:v0.27.0", f"{PRIVATE}/vllm:0.27.0"],
        "sharedVolumes": {"weights": {"kind": "claim", "copies": copies}},
    }
    load = {"kind": "concurrent", "requests": [1]}
    test = {"load": load, "inputTokens": 1000, "outputTokens": 100}
    staging["loadTests"] = {"smoke": {"deployment": "gpt-oss", "url": "https://llm.example.com/v1", **test}}
    vllm = "public.ecr.aws/deep-learning-containers/vllm:0.26.0-gpu-py312-cu130-ubuntu22.04-ec2"
    found = internet(staging)
    assert [(path, what) for path, severity, what in found if severity == "error"] == [
        ("caches.toolImage", "public.ecr.aws/docker/library/busybox:1.37.0-musl"),
        ("caches.prePullImages[0]", "vllm/vllm-openai:v0.27.0"),
        ("caches.sharedVolumes.weights.copies.a.image", vllm),
        ("caches.sharedVolumes.weights.copies.a.origin", "hugging-face"),
        ("caches.sharedVolumes.weights.copies.b.origin.region", "'eu-west-1'"),
        ("loadTests.smoke.image", "ghcr.io/vllm-project/guidellm:v0.8.1"),
        ("loadTests.smoke.tokenizer", "openai/gpt-oss-120b of the hub"),
    ]
    own = {"image": f"{PRIVATE}/guidellm:0.8", "tokenizerClaim": "weights", "tokenizerPath": "oss"}
    staging["loadTests"]["smoke"] |= own
    del staging["caches"]
    assert internet(staging) == []


def test_what_runs_on_ray_is_reached_from_inside(staging: Raw) -> None:
    pool = {"kind": "ray-cluster-pool", "pool": "batch", "maxWorkers": 1}
    alone(staging)["ray"] = {"batch": pool}
    staging["pools"]["batch"] = {"instanceType": "p5.48xlarge", "nodes": 1}
    staging["addOns"]["kuberay"] = own_images(ADD_ONS["kuberay"])
    ((path, severity, image),) = internet(staging)
    assert (path, severity) == ("ray.batch.image", "error")
    assert image.startswith("public.ecr.aws/deep-learning-containers/ray:")
    staging["ray"]["batch"] |= {"image": f"{PRIVATE}/ray:2.58", "rayVersion": "2.58.0"}
    assert internet(staging) == []


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
