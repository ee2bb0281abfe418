"""Measures the library against a bare program that registers the same objects, pair by pair in one run.

Only the ratio means something: the machine's own speed drifts. ``python -m lab.bench`` prints it, and how fast the
policy pack, ``lws check`` and the checks of a stack file are.
"""

import json
import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
import yaml

from lab import check_speed, cli, engine, pack_speed, probe_speed, serving_speed
from lab.cluster.layout import Layout
from lab.folders import PROJECT, lab_folder
from lab.project import STACK, Project, leave_models_alone, make
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.render import render

LAB = "bench"
PAIRS = 5
DEPLOYMENTS = 70
"""So many have more objects than the pack is measured with."""
LARGEST_RATIO = 1.2
"""What the components may cost: an update takes at most this many times as long as the bare program's."""

BARE_PROGRAM = """
import json
import os
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider(
    "kubernetes",
    kubeconfig=pulumi.Output.secret(Path(os.environ["KUBECONFIG"]).read_text()),
    context="pulumi-lws-lab",
    cluster_identifier="pulumi-lws-lab",
    enable_server_side_apply=True,
)
after = []
for number, manifest in enumerate(json.loads(Path("objects.json").read_text())):
    opts = pulumi.ResourceOptions(provider=provider, depends_on=list(after))
    rest = {name: value for name, value in manifest.items() if name not in ("apiVersion", "kind")}
    match manifest["kind"]:
        case "Namespace":
            after.append(kubernetes.core.v1.Namespace(str(number), **rest, opts=opts))
        case "ConfigMap":
            after.append(kubernetes.core.v1.ConfigMap(str(number), **rest, opts=opts))
        case "Service":
            kubernetes.core.v1.Service(str(number), **rest, opts=opts)
        case "NetworkPolicy":
            kubernetes.networking.v1.NetworkPolicy(str(number), **rest, opts=opts)
        case "PodDisruptionBudget":
            kubernetes.policy.v1.PodDisruptionBudget(str(number), **rest, opts=opts)
        case kind:
            api_version = manifest["apiVersion"]
            kubernetes.apiextensions.CustomResource(str(number), api_version=api_version, kind=kind, **rest, opts=opts)
"""
"""The same objects in the same order of dependency, as somebody without this library would register them."""


def main() -> None:
    """Bring up a lab of its own, measure, and take it down again.

    Raises:
        LabError: An update fails.
    """
    try:
        cli.up(name=LAB, node_specs=None)
        with tempfile.TemporaryDirectory() as folder:
            ours, bare = _projects(Path(folder))
            pairs = [(_timed_update(ours), _timed_update(bare)) for _ in range(PAIRS)]
            many = PlatformArgs.model_validate(serving_speed.stack(DEPLOYMENTS))
            of_the_pack = pack_speed.measure(bare, bare_objects(many))
    finally:
        cli.down(name=LAB, keep=False)
    ratios = [with_us / without for with_us, without in pairs]
    for (with_us, without), ratio in zip(pairs, ratios, strict=True):
        typer.echo(f"pulumi up of the local stack {with_us:.2f} s, bare program {without:.2f} s: {ratio:.2f}")
    typer.echo(f"median ratio {statistics.median(ratios):.2f}, at most {LARGEST_RATIO} wanted")
    for line in [*of_the_pack, *check_speed.measure(), *serving_speed.measure(), *probe_speed.measure()]:
        typer.echo(line)


def bare_objects(platform: PlatformArgs) -> list[dict[str, Any]]:
    """Return the objects of a platform, those that others depend on first."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": platform.namespace}}
    deployments = deployments_of(platform).values()
    return [namespace, *(manifest for args in deployments for manifest in render(args).manifests.values())]


def _projects(folder: Path) -> tuple[Project, Project]:
    environment = os.environ | engine.environment(Layout(lab_folder(LAB)), os.environ["PATH"])
    ours = _project(folder / "ours", (PROJECT / "__main__.py").read_text(encoding="utf-8"), environment)
    leave_models_alone(ours)
    bare = _project(folder / "bare", BARE_PROGRAM, environment)
    settings = yaml.safe_load(ours.stack_file.read_text(encoding="utf-8"))
    platform = PlatformArgs.model_validate(settings["config"]["pulumi-lws:platform"])
    (bare.folder / "objects.json").write_text(json.dumps(bare_objects(platform)), encoding="utf-8")
    return ours, bare


def _project(folder: Path, program: str, environment: Mapping[str, str]) -> Project:
    project = make(Project(folder, environment), program, folder / "backend")
    project.succeeds("stack", "select", "--create", STACK)
    return project


def _timed_update(project: Project) -> float:
    began = time.monotonic()
    project.succeeds("up", "--yes", "--skip-preview")
    took = time.monotonic() - began
    project.succeeds("destroy", "--yes", "--skip-preview")
    return took


if __name__ == "__main__":
    cli.run(main)
