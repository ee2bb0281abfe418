"""A deployment that becomes one of another kind, on the real engine and a real API server."""

import json
from collections.abc import Mapping
from itertools import pairwise, permutations
from typing import Any

import pytest

from lab.cluster.kinds import KINDS
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.render import render
from tests.serving.shapes import NAME, SHAPES, platform

pytestmark = pytest.mark.lab

UP = ("up", "--yes", "--skip-preview")

WALK = (
    *("single", "groups", "single", "roles", "groups", "roles", "roles as a set", "roles", "roles behind a gateway"),
    *("roles without a router", "roles behind a gateway", "roles as a set behind a gateway", "roles as a set"),
    *("roles as a set without a router", "roles", "single"),
)
"""Every change of kind, of backend and of router, one after the other."""

COLLECTIONS = (
    *("api/v1/*/services", "api/v1/*/configmaps", "api/v1/*/serviceaccounts"),
    *(
        "apis/apps/v1/*/deployments",
        "apis/policy/v1/*/poddisruptionbudgets",
        "apis/networking.k8s.io/v1/*/networkpolicies",
    ),
    *("apis/rbac.authorization.k8s.io/v1/*/roles", "apis/rbac.authorization.k8s.io/v1/*/rolebindings"),
    *(
        f"apis/{kind.group}/{kind.version}/*/{kind.plural}"
        for kind in KINDS
        if kind.kind in {"LeaderWorkerSet", "DisaggregatedSet", "HTTPRoute", "InferencePool"}
    ),
)
"""Where everything that a deployment consists of is read from; the star stands for the namespace."""

NOT_OURS = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default"), ("Service", "kubernetes")}
"""What Kubernetes has in a namespace by itself."""

DIRECT = """
import json
from pathlib import Path

import pulumi
import pulumi_kubernetes
import pulumi_lws

provider = pulumi_kubernetes.Provider("lab", context="pulumi-lws-lab", enable_server_side_apply=True)
for kind, args in json.loads(Path("deployments.json").read_text()).items():
    getattr(pulumi_lws, kind)("another-name", args, pulumi.ResourceOptions(providers=[provider]))
"""
"""A program without a platform, which gives components names of its own."""


def found(lab: Any, namespace: str = "models") -> dict[tuple[str, str], str]:
    """The uid of each object of a namespace by its kind and name."""
    objects: dict[tuple[str, str], str] = {}
    for collection in COLLECTIONS:
        answer = lab.get("/" + collection.replace("*", f"namespaces/{namespace}"))
        kind = answer["kind"].removesuffix("List")
        objects |= {(kind, item["metadata"]["name"]): item["metadata"]["uid"] for item in answer["items"]}
    return {which: uid for which, uid in objects.items() if which not in NOT_OURS}


def wanted(settings: Mapping[str, Any]) -> set[tuple[str, str]]:
    deployments = deployments_of(PlatformArgs.model_validate(settings))
    manifests = [manifest for args in deployments.values() for manifest in render(args).manifests.values()]
    return {(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests}


def changes_of(field: str, shapes: Mapping[str, str]) -> set[tuple[str, str]]:
    """Steps of the walk on which a field changes, by its values; the field of each shape is given."""
    steps = {(shapes[before], shapes[after]) for before, after in pairwise(WALK) if {before, after} <= shapes.keys()}
    assert {one for step in steps for one in step} == set(shapes.values()), field
    return {(before, after) for before, after in steps if before != after}


def test_the_walk_has_every_change() -> None:
    roles = {name: shape for name, shape in SHAPES.items() if shape["kind"] == "disaggregated-vllm"}
    fields = {
        "kind": {name: shape["kind"] for name, shape in SHAPES.items()},
        "backend": {name: shape.get("backend", "leader-worker-sets") for name, shape in roles.items()},
        "router": {name: str(shape.get("router", "standalone")) for name, shape in roles.items()},
    }
    for field, shapes in fields.items():
        assert changes_of(field, shapes) == set(permutations(set(shapes.values()), 2)), field


def test_a_deployment_becomes_any_other_kind_and_leaves_nothing_behind(lab: Any, local_stack: Any) -> None:
    cluster = local_stack.settings()["cluster"]
    before: dict[tuple[str, str], str] = {}
    for shape in WALK:
        settings = platform(shape) | {"cluster": cluster}
        local_stack.declare(settings)
        local_stack.succeeds(*UP)
        after = found(lab)
        assert set(after) == wanted(settings), shape
        # What both consist of is the same object: updated, never made anew.
        assert {which: after[which] for which in before.keys() & after.keys()} == {
            which: before[which] for which in before.keys() & after.keys()
        }, shape
        before = after
    local_stack.succeeds("preview", "--expect-no-changes")
    local_stack.succeeds("destroy", "--yes", "--skip-preview")
    assert found(lab) == {}
    assert local_stack.state() == {}


def test_a_component_of_another_class_under_the_same_name_is_the_same_deployment(lab: Any, project: Any) -> None:
    direct = project(DIRECT)
    for shape, kind in (("single", "SingleNodeVllm"), ("groups", "MultiNodeVllm"), ("roles", "DisaggregatedVllm")):
        settings = platform(shape)
        args = {**settings["deployments"][NAME], "name": NAME, "namespace": "default", "pools": settings["pools"]}
        (direct.folder / "deployments.json").write_text(json.dumps({kind: args}))
        direct.succeeds(*UP)
        assert ("Service", f"{NAME}-api") in found(lab, "default")
    direct.succeeds("destroy", "--yes", "--skip-preview")
    assert found(lab, "default") == {}
    assert direct.state() == {}
