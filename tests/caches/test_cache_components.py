"""The components register what was rendered, in an order in which it works."""

from typing import Any

import pulumi
import pytest

from pulumi_lws.caches.component import ImagePrePull, NodeModelCache, SharedModelVolume
from pulumi_lws.caches.node_models import NodeModelArgs, node_model_objects
from pulumi_lws.caches.pre_pull import ImagePrePullArgs, pre_pull_objects
from pulumi_lws.caches.shared_volumes import SharedVolumeArgs, copy_jobs, volume_objects
from pulumi_lws.component import DeclarationError
from pulumi_lws.testing.monitor import Registration, record

Raw = dict[str, Any]

POOLS: Raw = {"p5": {"instanceType": "p5.48xlarge", "nodes": 2, "static": True}}
IMAGES: Raw = {"namespace": "models", "pools": POOLS, "images": {"p5": ["registry.example.com/vllm:0.26.0"]}}
ORIGIN: Raw = {"kind": "hugging-face", "model": "openai/gpt-oss-120b", "revision": "v1"}
NODE: Raw = {
    "name": "gpt-oss",
    "namespace": "models",
    "origin": ORIGIN,
    "sizeGb": 66,
    "pools": ["p5"],
    "allPools": POOLS,
    "path": "/mnt/k8s-disks/0/models/gpt-oss",
}
VOLUME: Raw = {
    "name": "weights",
    "namespace": "models",
    "volume": {
        "kind": "efs",
        "fileSystem": "fs-0123456789abcdef0",
        "copies": {"gpt-oss": {"origin": ORIGIN, "sizeGb": 66, "path": "gpt-oss"}},
    },
}


def program() -> None:
    ImagePrePull("images", IMAGES)
    NodeModelCache("node", NODE)
    volume = SharedModelVolume("volume", VOLUME)
    pulumi.export("claim", volume.claim)


def registered(*, preview: bool) -> list[Registration]:
    return record(program, preview=preview)


@pytest.mark.parametrize("preview", [False, True])
def test_components_register_what_was_rendered(preview: bool) -> None:
    volume = SharedVolumeArgs.model_validate(VOLUME)
    rendered = {
        **{f"images-{key}": each for key, each in pre_pull_objects(ImagePrePullArgs.model_validate(IMAGES)).items()},
        **{f"node-{key}": each for key, each in node_model_objects(NodeModelArgs.model_validate(NODE)).items()},
        **{f"volume-{key}": each for key, each in volume_objects(volume).items()},
        **{f"volume-copy-{key}": each for key, each in copy_jobs(volume).items()},
    }
    found = registered(preview=preview)
    assert {each.name: dict(each.inputs) for each in found if each.type.startswith("kubernetes:")} == rendered
    assert {each.name: each.type for each in found if each.type.startswith("lws:")} == {
        "images": "lws:index:ImagePrePull",
        "node": "lws:index:NodeModelCache",
        "volume": "lws:index:SharedModelVolume",
    }


def test_what_is_needed_is_registered_before_what_needs_it() -> None:
    names = [each.name for each in registered(preview=False)]
    assert names.index("images-priority") < names.index("images-p5")
    assert names.index("volume-volume") < names.index("volume-claim") < names.index("volume-copy-gpt-oss")


def test_a_pool_that_is_not_given_stops_the_program_before_it_registers_anything() -> None:
    def unknown_pool() -> None:
        NodeModelCache("node", NODE | {"pools": ["p6"]})

    with pytest.raises(DeclarationError) as caught:
        record(unknown_pool)
    assert str(caught.value).splitlines() == [
        "NodeModelCache node has 1 problem:",
        "  - pools: found p6; allowed: p5. Name pools of allPools.",
    ]
