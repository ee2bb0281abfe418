"""The policy pack through the CLI, on programs that have nothing else of ours."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.folders import PROJECT

pytestmark = pytest.mark.lab

POLICIES = ("--policy-pack", str(PROJECT / "policies"))

PROGRAM = """
import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("cluster", {provider})
pod = {{"spec": {{"containers": [{{"name": "main", "image": "example.com/main:1"}}]}}}}
kubernetes.apiextensions.CustomResource(
    "llm",
    api_version="leaderworkerset.x-k8s.io/v1",
    kind="LeaderWorkerSet",
    metadata={{"name": "llm", "namespace": "default", "annotations": {annotations}}},
    spec={{{startup} "leaderWorkerTemplate": {{"size": 2, "workerTemplate": pod}}}},
    opts=pulumi.ResourceOptions(provider=provider),
)
"""

EXCLUSIVE = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "pulumi-lws/island"}


def program(
    *, ssa: str = "True", startup: str = '"startupPolicy": "LeaderReady",', annotations: dict[str, str] = EXCLUSIVE
) -> str:
    return PROGRAM.format(provider=f"enable_server_side_apply={ssa}", startup=startup, annotations=annotations)


MakeProject = Callable[[str], Any]


def test_a_program_that_holds_to_the_rules_passes(project: MakeProject) -> None:
    printed = project(program()).succeeds("preview", *POLICIES)
    assert "mandatory" not in printed
    assert "can't run policy" not in printed


REFUSED = {
    "leader-ready": (
        program(startup=""),
        (
            "spec.startupPolicy: found LeaderCreated (the server's default); allowed: LeaderReady,"
            " for a group of 2 pods. Set startupPolicy to LeaderReady"
        ),
    ),
    "exclusive-topology": (
        program(annotations={}),
        "Annotate the LeaderWorkerSet with leaderworkerset.sigs.k8s.io/exclusive-topology: pulumi-lws/island",
    ),
    "server-side-apply": (
        program(ssa="False"),
        (
            "enableServerSideApply: found false; allowed: true. Make one explicit kubernetes.Provider with"
            " enable_server_side_apply=True and pass it to every object."
        ),
    ),
}


@pytest.mark.parametrize("policy", REFUSED)
def test_a_breach_is_refused_at_preview_with_its_fix(project: MakeProject, policy: str) -> None:
    text, message = REFUSED[policy]
    printed = project(text).fails("preview", *POLICIES)
    assert message in " ".join(printed.split())
    assert f"[mandatory]  pulumi-lws v0.0.1  {policy}" in " ".join(printed.split()) or "mandatory" in printed


def test_a_default_provider_is_refused(project: MakeProject) -> None:
    text = program().replace("    opts=pulumi.ResourceOptions(provider=provider),\n", "")
    printed = project(text).fails("preview", *POLICIES)
    assert "found the default provider, which takes its cluster and its settings from the machine" in printed


def test_a_breach_stops_an_update_before_the_object_is_made(project: MakeProject, lab: Any) -> None:
    project(program(startup="")).fails("up", "--yes", "--skip-preview", *POLICIES)
    assert lab.objects("/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets") == []


def test_levels_and_parameters_come_from_a_file(project: MakeProject, tmp_path: Path) -> None:
    file = tmp_path / "levels.json"
    with_file = (*POLICIES, "--policy-pack-config", str(file))
    file.write_text(json.dumps({"leader-ready": "advisory"}))
    advisory = project(program(startup="")).succeeds("preview", *with_file)
    assert "advisory" in advisory
    file.write_text(json.dumps({"leader-ready": "disabled"}))
    assert "startupPolicy" not in project(program(startup="")).succeeds("preview", *with_file)
    file.write_text(json.dumps({"exclusive-topology": {"allowedKeys": ["topology.kubernetes.io/zone"]}}))
    printed = project(program()).fails("preview", *with_file)
    assert "found pulumi-lws/island; allowed: topology.kubernetes.io/zone." in " ".join(printed.split())


def test_a_value_not_known_at_preview_is_said_and_blocks_nothing(project: MakeProject) -> None:
    text = program().replace('"LeaderReady"', "made.id")
    made = 'made = kubernetes.core.v1.ConfigMap("made", opts=pulumi.ResourceOptions(provider=provider))\n'
    text = text.replace("pod = ", made + "pod = ")
    printed = project(text).succeeds("preview", *POLICIES)
    assert "leader-ready could not judge spec.startupPolicy" in printed
    assert "can't run policy" not in printed


def test_an_ordinary_program_is_left_alone(project: MakeProject) -> None:
    text = """
import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("cluster", enable_server_side_apply=True)
kubernetes.core.v1.ConfigMap(
    "settings", metadata={"name": "settings"}, data={"a": "b"}, opts=pulumi.ResourceOptions(provider=provider)
)
"""
    printed = project(text).succeeds("preview", *POLICIES)
    assert "mandatory" not in printed
    assert "advisory" not in printed


def test_a_chart_of_an_explicit_provider_passes_and_its_objects_are_judged(project: MakeProject) -> None:
    one = project("""
import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("cluster", enable_server_side_apply=True)
kubernetes.helm.v4.Chart("groups", chart="./chart", opts=pulumi.ResourceOptions(provider=provider))
""")
    templates = one.folder / "chart" / "templates"
    templates.mkdir(parents=True)
    (templates.parent / "Chart.yaml").write_text("apiVersion: v2\nname: groups\nversion: 0.1.0\n")
    settings = templates / "settings.yaml"
    settings.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n")
    assert "mandatory" not in one.succeeds("preview", *POLICIES)
    pod = "{spec: {containers: [{name: main, image: 'example.com/main:1'}]}}"
    settings.write_text(
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: llm}\n"
        f"spec: {{leaderWorkerTemplate: {{size: 2, workerTemplate: {pod}}}}}\n"
    )
    printed = one.fails("preview", *POLICIES)
    assert "leader-ready" in printed
    assert "server-side-apply" not in printed
