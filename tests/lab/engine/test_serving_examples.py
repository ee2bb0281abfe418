"""Every example previews on the real engine, and a real API server takes every object of it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.cluster.kinds import KINDS
from lab.examples import EXAMPLES, Variant, settings_of, variants
from lab.folders import PROJECT

pytestmark = pytest.mark.lab

POLICIES = ("--policy-pack", str(PROJECT / "tests" / "lab" / "strict"))

PLURALS = {kind.kind: kind.plural for kind in KINDS} | {
    "NetworkPolicy": "networkpolicies",
    "HorizontalPodAutoscaler": "horizontalpodautoscalers",
}


def path_of(manifest: dict[str, Any]) -> str:
    version, kind, metadata = manifest["apiVersion"], manifest["kind"], manifest["metadata"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = PLURALS.get(kind, f"{kind.lower()}s")
    return f"{root}/namespaces/{metadata['namespace']}/{plural}/{metadata['name']}"


@pytest.fixture(scope="module")
def upstream(another_lab: Any) -> Iterator[Any]:
    """A lab with every upstream CRD, and the namespace of the examples."""
    if not Path(os.environ.get("LWS_LAB_CRDS", "")).is_dir() or not os.environ.get("LWS_LAB_CRDS"):
        pytest.skip("LWS_LAB_CRDS names no folder, so there are no upstream APIs to ask")
    with another_lab(LWS_LAB_CONTROLLER="") as lab:
        with lab.api() as api:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "models"}}
            api.post("/api/v1/namespaces", json=namespace).raise_for_status()
        yield lab


@pytest.mark.parametrize("variant", tuple(variants()), ids=lambda variant: variant.name)
def test_the_api_server_takes_every_object_and_knows_every_field(variant: Variant, upstream: Any) -> None:
    query = {"fieldManager": "test", "fieldValidation": "Strict", "dryRun": "All"}
    headers = {"Content-Type": "application/apply-patch+yaml"}
    with upstream.api() as api:
        for manifest in variant.objects():
            answer = api.patch(path_of(manifest), params=query, json=manifest, headers=headers)
            assert answer.is_success, (manifest["kind"], manifest["metadata"]["name"], answer.text)


def test_an_example_with_a_router_comes_up(lab: Any, local_stack: Any) -> None:
    (example,) = [path for path in EXAMPLES if path.stem == "gpt-oss-120b-disaggregated"]
    local_stack.declare(settings_of(example) | {"cluster": local_stack.settings()["cluster"]})
    local_stack.succeeds("up", "--yes", "--skip-preview", *POLICIES)
    (router,) = lab.objects("/apis/apps/v1/namespaces/models/deployments")
    assert (router["metadata"]["name"], router["status"]["availableReplicas"]) == ("gpt-oss-router", 1)
    (pod,) = lab.objects("/api/v1/namespaces/models/pods")
    assert pod["spec"]["nodeName"] == "system"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_previews_without_a_policy_violation(example: Path, local_stack: Any) -> None:
    # The lab's cluster stands in for the example's.
    local_stack.declare(settings_of(example) | {"cluster": local_stack.settings()["cluster"]})
    printed = local_stack.succeeds("preview", *POLICIES)
    assert "to create" in printed
    assert "error" not in printed
