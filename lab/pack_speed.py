"""What the policy pack costs: how much longer the preview of a large program takes with it, and its own time.

Previews with and without it alternate, and their ratio counts: the machine's own speed drifts.
"""

import json
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.protobuf import struct_pb2
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel
from pulumi_policy import policy as sdk

from lab.folders import PROJECT
from lab.project import Project
from pulumi_lws.policies.pack import policies
from pulumi_lws.policies.reading import read_once
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.judging import registered
from pulumi_lws.rules.levels import Preset
from pulumi_lws.rules.scope import SETTINGS

RESOURCES = 300
PAIRS = 5
LARGEST_RATIO = 1.25
LONGEST_OWN_MILLISECONDS = 2.0

_PROGRAM = """
import json
import os
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

kubeconfig = pulumi.Output.secret(Path(os.environ["KUBECONFIG"]).read_text())
provider = kubernetes.Provider("cluster", kubeconfig=kubeconfig, enable_server_side_apply=True)
for number, manifest in enumerate(json.loads(Path("objects.json").read_text())):
    version = manifest["apiVersion"] if "/" in manifest["apiVersion"] else f"core/{manifest['apiVersion']}"
    type_token = f"kubernetes:{version}:{manifest['kind']}"
    pulumi.CustomResource(type_token, str(number), manifest, pulumi.ResourceOptions(provider=provider))
"""
_LEVELS = "levels.json"
_POLICIES = ("--policy-pack", str(PROJECT / "policies"), "--policy-pack-config", _LEVELS)


def measure(project: Project, objects: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each figure, with what is wanted.

    Args:
        project: A project with a lab; its program is replaced.
        objects: The objects, at least ``RESOURCES`` of them.
    """
    objects = objects[:RESOURCES]
    (project.folder / "__main__.py").write_text(_PROGRAM, encoding="utf-8")
    # A policy that blocks would end the preview before the stack is judged.
    (project.folder / _LEVELS).write_text(json.dumps({"all": "advisory"}), encoding="utf-8")
    (project.folder / "objects.json").write_text(json.dumps(objects), encoding="utf-8")
    pairs = [(_preview(project, *_POLICIES), _preview(project)) for _ in range(PAIRS)]
    took, used = (
        statistics.median(with_it[kind] / without[kind] for with_it, without in pairs) for kind in ("took", "used")
    )
    own = _own_seconds(objects) * 1000 / len(objects)
    return [
        f"preview of {len(objects)} resources with the pack {took:.2f} times, at most {LARGEST_RATIO} wanted",
        f"CPU time of that preview and all of its processes {used:.2f} times",
        f"own time of the pack {own:.2f} ms for a resource, at most {LONGEST_OWN_MILLISECONDS} wanted",
    ]


def _preview(project: Project, *policies: str) -> dict[str, float]:
    """Return how long a preview took, and how much CPU time all of its processes used, in seconds."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    project.succeeds("preview", *policies)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"took": time.monotonic() - began, "used": used}


def _own_seconds(objects: Sequence[Mapping[str, Any]]) -> float:
    """Return the CPU time that our policies use, without what the SDK needs to ask them."""
    judging = policies(Preset.ADVISORY, read_once())
    spent: list[float] = []
    for policy in judging:
        vars(policy)["validate"] = _timed(getattr(policy, "validate"), spent)  # noqa: B009 - only its subclasses have it
    # The SDK has no public door to what answers the engine.
    answering: Any = vars(sdk)["_PolicyAnalyzerServicer"]
    pack = answering("pack", "1", judging, EnforcementLevel.ADVISORY)
    pack.Configure(_defaults(), None)
    shown = [_shown(manifest, str(number)) for number, manifest in enumerate(objects)]
    for each in shown:
        pack.Analyze(proto.AnalyzeRequest(**each), None)
    pack.AnalyzeStack(proto.AnalyzeStackRequest(resources=[proto.AnalyzerResource(**each) for each in shown]), None)
    return sum(spent)


def _timed(validate: Callable[..., None], spent: list[float]) -> Callable[..., None]:
    def timed(*arguments: Any) -> None:
        began = time.process_time()
        validate(*arguments)
        spent.append(time.process_time() - began)

    return timed


def _defaults() -> proto.ConfigureAnalyzerRequest:
    """Return every default, with which the engine configures a pack."""
    request = proto.ConfigureAnalyzerRequest()
    for name, parameters in [("pack", SETTINGS), *((rule.name, rule.parameters) for rule in RULES)]:
        request.policyConfig[name].properties.update({key: each.default for key, each in parameters.items()})
    return request


def _shown(manifest: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object as the engine shows it."""
    properties = struct_pb2.Struct()
    properties.update(manifest)
    type_token = registered(manifest).type
    provider = proto.AnalyzerProviderResource(type="pulumi:providers:kubernetes", urn="cluster", name="cluster")
    urn = f"urn:pulumi:prod::models::{type_token}::{name}"
    return {"type": type_token, "properties": properties, "urn": urn, "name": name, "provider": provider}
