"""Caches on the real engine and API server: they come, are waited for, change without a second copy, and go."""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.lab

PROGRAM = """
import json
from pathlib import Path

import pulumi
import pulumi_kubernetes
from pulumi_lws.caches.component import ImagePrePull, NodeModelCache, SharedModelVolume

provider = pulumi_kubernetes.Provider("lab", context="pulumi-lws-lab", enable_server_side_apply=True)
declared = json.loads(Path("caches.json").read_text())
opts = pulumi.ResourceOptions(providers=[provider])
ImagePrePull("images", declared["images"], opts)
NodeModelCache("node", declared["node"], opts)
SharedModelVolume("volume", declared["volume"], opts)
"""
UP = ("up", "--yes", "--skip-preview")
NAMESPACE = "default"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
DAEMON_SETS = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"
POOLS = {"p5": {"instanceType": "p5.48xlarge", "nodes": 2, "static": True}}
ORIGIN = {"kind": "s3", "uri": "s3://models/gpt-oss"}
COPY = {"origin": ORIGIN, "sizeGb": 66, "path": "gpt-oss"}
NODE = {
    "name": "gpt-oss",
    "namespace": NAMESPACE,
    "origin": ORIGIN,
    "sizeGb": 66,
    "pools": ["p5"],
    "allPools": POOLS,
    "path": "/mnt/k8s-disks/0/models/gpt-oss",
}


def test_caches_come_and_go_and_their_copies_are_waited_for(lab: Any, project: Any) -> None:
    one = project(PROGRAM)

    def declare(image: str, copies: dict[str, Any]) -> None:
        images = {"namespace": NAMESPACE, "pools": POOLS, "images": {"p5": [image]}}
        volume = {"kind": "efs", "fileSystem": "fs-0123456789abcdef0", "copies": copies}
        declared = {
            "images": images,
            "node": NODE,
            "volume": {"name": "weights", "namespace": NAMESPACE, "volume": volume},
        }
        (one.folder / "caches.json").write_text(json.dumps(declared))

    def jobs() -> dict[str, int]:
        return {job["metadata"]["name"]: job["status"].get("succeeded", 0) for job in lab.objects(JOBS)}

    declare("registry.example.com/vllm:0.26.0", {"gpt-oss": COPY})
    one.succeeds("preview")
    one.succeeds(*UP)
    one.succeeds("preview", "--expect-no-changes")
    one.succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    first = jobs()
    assert list(first.values()) == [1]
    claim = lab.get(f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims/weights")
    assert claim["status"]["phase"] == "Bound"
    assert sorted(each["metadata"]["name"] for each in lab.objects(DAEMON_SETS)) == ["gpt-oss-on-p5", "pre-pull-p5"]
    declare("registry.example.com/vllm:0.27.0", {"gpt-oss": COPY, "next": COPY | {"path": "next"}})
    said = one.succeeds(*UP)
    assert ("1 created" in said, "replaced" in said, first.items() < jobs().items()) == (True, False, True)
    one.succeeds("destroy", "--yes", "--skip-preview")
    assert (jobs(), lab.objects(DAEMON_SETS), one.state()) == ({}, [], {})
