"""The policy pack through the CLI, on programs that have nothing else of ours."""

import json
import re
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
opts = pulumi.ResourceOptions(provider=provider)
labels = {"app": "web"}
kubernetes.core.v1.ConfigMap("settings", metadata={"name": "settings"}, data={"a": "b"}, opts=opts)
kubernetes.apps.v1.Deployment(
    "web",
    metadata={"name": "web"},
    spec={
        "replicas": 3,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "nginx:1"}]}},
    },
    opts=opts,
)
kubernetes.core.v1.Service(
    "web",
    metadata={"name": "web"},
    spec={"type": "LoadBalancer", "selector": labels, "ports": [{"port": 80}]},
    opts=opts,
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


GROUPS = """
import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("cluster", enable_server_side_apply=True)
pod = {"spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]}}
spec = {
    "leaderWorkerTemplate": {"size": 2, "restartPolicy": "RecreateGroupAfterStart", "workerTemplate": pod}
}


def groups(name, namespace="default", annotations=None):
    kubernetes.apiextensions.CustomResource(
        name,
        api_version="leaderworkerset.x-k8s.io/v1",
        kind="LeaderWorkerSet",
        metadata={"name": name, "namespace": namespace, "annotations": annotations or {}},
        spec=spec,
        opts=pulumi.ResourceOptions(provider=provider),
    )


"""

VIOLATION = re.compile(r"\[(mandatory|advisory)\] +(\S+) +\((.*?)\)\n")


def violations(printed: str) -> set[tuple[str, str, str]]:
    """Level, policy and resource of each violation that a preview shows."""
    return {(level, policy, resource.rpartition(" ")[2]) for level, policy, resource in VIOLATION.findall(printed)}


def test_exemptions_and_namespaces_are_heeded_until_they_lapse(project: MakeProject, tmp_path: Path) -> None:
    exempt = "pulumi-lws/exempt.leader-ready"
    one = project(
        GROUPS
        + f"""
groups("annotated", annotations={{"{exempt}": "2999-12-31 moves to another engine"}})
groups("lapsed", annotations={{"{exempt}": "2020-12-31 moves to another engine"}})
groups("silent", annotations={{"{exempt}": ""}})
groups("mistyped", annotations={{"{exempt}y": "moves to another engine"}})
groups("configured")
groups("elsewhere", namespace="sandbox-7")
"""
    )
    file = tmp_path / "policies.json"
    exemptions = [
        {"rules": ["exclusive-topology"], "resources": ["*"], "reason": "one group per cluster"},
        {"rules": ["leader-*"], "resources": ["urn:*::configured"], "reason": "starts by itself"},
        {"rules": ["leader-redy"], "resources": ["urn:*::lapsed"], "reason": "starts by itself"},
    ]
    file.write_text(json.dumps({"pack": {"excludeNamespaces": ["sandbox-*"], "exemptions": exemptions}}))
    printed = one.fails("preview", *POLICIES, "--policy-pack-config", str(file))
    assert violations(printed) == {
        ("mandatory", "leader-ready", "lapsed"),
        ("mandatory", "leader-ready", "silent"),
        ("mandatory", "leader-ready", "mistyped"),
        ("advisory", "exemptions", "mistyped"),
        ("advisory", "pack", "pulumi-lws-local"),
    }
    said = " ".join(printed.split())
    assert f"Not exempt: the annotation {exempt} lapsed after 2020-12-31." in said
    assert f"Not exempt: the annotation {exempt} gives no reason." in said
    assert "exemptions[2].rules: there is no rule leader-redy. Write leader-ready." in said


def test_an_exemption_of_the_configuration_without_a_reason_is_refused(project: MakeProject, tmp_path: Path) -> None:
    file = tmp_path / "policies.json"
    file.write_text(json.dumps({"pack": {"exemptions": [{"rules": ["leader-ready"], "resources": ["*"]}]}}))
    printed = project(GROUPS).fails("preview", *POLICIES, "--policy-pack-config", str(file))
    assert "pack: exemptions.0: reason is required" in printed
