"""Karpenter's own scheduling onto fake nodes, in a real lab."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from lab.cluster import control_plane
from lab.cluster.control_plane import Wish
from lab.cluster.crds import Definitions, Release
from lab.cluster.layout import Layout
from lab.tools.obtain import obtain
from lab.tools.obtained import Obtained
from lab.tools.progress import reporter

pytestmark = pytest.mark.lab

NODE_CLASS = {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": "default"}}
NODE_POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "p5-0"},
    "spec": {
        "limits": {"nodes": "1"},
        "template": {
            "metadata": {"labels": {"pulumi-lws/island": "p5-0"}},
            "spec": {
                "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                "requirements": [
                    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p5.48xlarge"]}
                ],
            },
        },
    },
}
POD = {
    "metadata": {"name": "one"},
    "spec": {
        "nodeSelector": {"pulumi-lws/island": "p5-0"},
        "containers": [{"name": "main", "image": "none", "resources": {"limits": {"nvidia.com/gpu": "8"}}}],
    },
}


def test_karpenter_makes_the_node_that_a_pod_asks_for(
    tools: dict[str, Obtained],
    new_layout: Callable[[], Layout],
    connection: Callable[[Layout], httpx.Client],
    eventually: Callable[[Callable[[], Any], Any], None],
) -> None:
    own = obtain(["karpenter"], reporter())
    release = Release("karpenter", own["karpenter"].version, own["karpenter"].folder / "crds", whole=True)
    layout = new_layout()
    control_plane.up(layout, Wish({**tools, **own}, Definitions((release,)), karpenter=True), lambda _: None)
    with connection(layout) as api:
        for path, document in (
            ("/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses", NODE_CLASS),
            ("/apis/karpenter.sh/v1/nodepools", NODE_POOL),
            ("/api/v1/namespaces/default/pods", POD),
        ):
            answer = api.post(path, json=document)
            assert answer.is_success, answer.text
        eventually(lambda: api.get("/api/v1/namespaces/default/pods/one").json()["status"]["phase"], "Running")
        (node,) = api.get("/api/v1/nodes").json()["items"]
    assert node["metadata"]["labels"]["pulumi-lws/island"] == "p5-0"
    # As capacity the stand-in provider reports what pods asked for.
    assert node["status"]["allocatable"]["vpc.amazonaws.com/efa"] == "32"
