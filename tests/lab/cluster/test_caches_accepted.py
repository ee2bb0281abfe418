"""A real API server takes every object of the caches."""

from collections.abc import Callable
from typing import Any

import pytest

from pulumi_lws.caches.node_models import NodeModelArgs, node_model_objects
from pulumi_lws.caches.pre_pull import ImagePrePullArgs, pre_pull_objects
from pulumi_lws.caches.shared_volumes import SharedVolumeArgs, copy_jobs, volume_objects

pytestmark = pytest.mark.lab

NAMESPACE = "default"
POOLS = {"p5": {"instanceType": "p5.48xlarge", "nodes": 2, "static": True, "role": "decode"}}
S3 = {"kind": "s3", "uri": "s3://models/glm-5", "region": "us-west-2"}
HUB = {"kind": "hugging-face", "model": "openai/gpt-oss-120b", "revision": "v1", "tokenSecret": "hub"}
FILE_SYSTEM = "fs-0123456789abcdef0"
VOLUMES: dict[str, dict[str, Any]] = {
    "lustre": {
        "kind": "fsx-lustre",
        "fileSystem": FILE_SYSTEM,
        "dnsName": f"{FILE_SYSTEM}.fsx.us-east-2.amazonaws.com",
        "mountName": "fsx",
        "sizeGib": 4800,
    },
    "elastic": {"kind": "efs", "fileSystem": FILE_SYSTEM, "accessPoint": "fsap-0123456789", "mountOptions": ["tls"]},
    "own": {"kind": "claim"},
}


def test_images_and_weights_on_nodes_are_taken(taken: Callable[[list[dict[str, Any]]], list[str]]) -> None:
    images = {
        "namespace": NAMESPACE,
        "pools": POOLS,
        "images": {"p5": ["registry.example.com/vllm:0.26.0", "registry.example.com/vllm:0.27.0"]},
        "pullSecrets": ["registry"],
    }
    model = {
        "name": "glm-5",
        "namespace": NAMESPACE,
        "pools": ["p5"],
        "allPools": POOLS,
        "sizeGb": 756,
        "path": "/mnt/a",
    }
    objects = [
        *pre_pull_objects(ImagePrePullArgs.model_validate(images)).values(),
        *node_model_objects(NodeModelArgs.model_validate(model | {"origin": S3, "serviceAccount": "reader"})).values(),
        *node_model_objects(NodeModelArgs.model_validate(model | {"origin": HUB})).values(),
        *node_model_objects(NodeModelArgs.model_validate(model | {"origin": S3, "remove": True})).values(),
    ]
    assert taken(objects) == []


@pytest.mark.parametrize("name", VOLUMES)
def test_volumes_claims_and_jobs_are_taken(name: str, taken: Callable[[list[dict[str, Any]]], list[str]]) -> None:
    copies = {
        "a" * 63: {"origin": S3, "sizeGb": 756, "path": "models/glm-5", "nodeSelector": {"size": "large"}},
        "gpt-oss": {"origin": HUB, "sizeGb": 66, "path": "models/gpt-oss"},
    }
    volume = {**VOLUMES[name], "copies": copies}
    args = SharedVolumeArgs.model_validate({"name": name, "namespace": NAMESPACE, "volume": volume})
    assert taken([*volume_objects(args).values(), *copy_jobs(args).values()]) == []
