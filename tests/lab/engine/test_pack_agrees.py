"""Through the engine the pack says of objects what ``lws check`` says of the same objects as YAML, rule for rule."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.folders import PROJECT
from lab.rule_samples import samples
from pulumi_lws.checking.judging import check
from pulumi_lws.reporting.reading import read_policies
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.judging import registered
from pulumi_lws.rules.rule import Target

pytestmark = pytest.mark.lab

PROGRAM = """
import json
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

elsewhere = kubernetes.Provider("elsewhere", enable_server_side_apply=True)
made = kubernetes.core.v1.ConfigMap("made", opts=pulumi.ResourceOptions(provider=elsewhere))
cluster = kubernetes.Provider("cluster", enable_server_side_apply=True, kubeconfig=made.id)
for number, manifest in enumerate(json.loads(Path("objects.json").read_text())):
    version = manifest["apiVersion"] if "/" in manifest["apiVersion"] else f"core/{manifest['apiVersion']}"
    type_token = f"kubernetes:{version}:{manifest['kind']}"
    pulumi.CustomResource(type_token, f"{number:03}", manifest, pulumi.ResourceOptions(provider=cluster))
"""
"""Any objects, for a cluster that the program makes itself: none can be asked at a preview."""


OF_PROGRAMS = {rule.name for rule in RULES if rule.of_programs}
SAMPLES = [
    sample
    for sample in samples(None, "denied")
    if sample.manifests and sample.target == Target() and not sample.values and sample.rule not in OF_PROGRAMS
]


def apart(manifest: dict[str, Any], number: int) -> dict[str, Any]:
    """The manifest in a namespace of its sample: samples must not see each other."""
    metadata = manifest.get("metadata", {})
    field = "name" if manifest["kind"] == "Namespace" else "namespace"
    return {**manifest, "metadata": {**metadata, field: f"{metadata.get(field, 'default')}-{number}"}}


OBJECTS = sorted(
    (apart(manifest, number) for number, each in enumerate(SAMPLES) for manifest in each.manifests),
    key=lambda manifest: registered(manifest).type,
)
"""In the order of their URNs, in which the pack reads them."""


def test_the_pack_says_what_the_check_says_even_where_the_cluster_is_unknown(
    project: Callable[[str], Any], tmp_path: Path
) -> None:
    one = project(PROGRAM)
    (one.folder / "objects.json").write_text(json.dumps(OBJECTS))
    config, events, file = (tmp_path / name for name in ("config.json", "events.json", "objects.yaml"))
    # The engine asks policies of whole stacks only where no other blocks.
    config.write_text(json.dumps({"all": "advisory"}))
    pack = ("--policy-pack", str(PROJECT / "policies"), "--policy-pack-config", str(config))
    preview = one.pulumi("preview", "--json", *pack, PULUMI_ENABLE_STREAMING_JSON_PREVIEW="true")
    assert preview.returncode == 0
    events.write_text(preview.stdout)
    results, _ = read_policies(str(events))
    found = {(each.policy, each.urn.rpartition("::")[2], each.message) for each in results}

    file.write_text("\n---\n".join(map(json.dumps, OBJECTS)))
    checked = {
        (problem.rule, f"{number:03}", str(problem))
        for number, each in enumerate(check([str(file)], Target()).objects)
        for problem in each.problems
        if problem.rule != "schema"
    }
    assert (sorted(found - checked), sorted(checked - found)) == ([], [])
    assert {sample.rule for sample in SAMPLES} - {rule for rule, _, _ in found} == set()
