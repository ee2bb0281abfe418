"""Records previews of ten kinds of change for the tests of ``lws report``: ``python -m lab.previews FOLDER``.

A small site, half of it ours and half written as others do, is brought up in a lab; then its settings are changed and
``pulumi preview --json`` is asked what would happen. Recordings keep what a report reads and leave out the rest: what
the provider answered, where in a program something stands, and most of long texts.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab import engine
from lab.aws import install as aws
from lab.cluster.layout import Layout
from lab.errors import LabError
from lab.folders import PROJECT, lab_folder
from lab.project import STACK, Project, make

Settings = dict[str, Any]

LAB = "previews"

PROGRAM = """
import json
from pathlib import Path

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from pulumi_lws.nodes.cluster import NodeCluster
from pulumi_lws.nodes.component import GpuNodePool, GpuNodePoolArgs
from pulumi_lws.serving.component import KINDS

site = json.loads(Path("site.json").read_text())

vpc = aws.ec2.Vpc("network", cidr_block=site["cidr"])
subnets = [
    aws.ec2.Subnet(f"private-{zone}", vpc_id=vpc.id, cidr_block=site["cidr"].replace(".0.0/16", f".{n}.0/24"),
                   availability_zone=zone)
    for n, zone in enumerate(("us-east-2a", "us-east-2b"))
]
trust = {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}]}
role = aws.iam.Role("cluster", assume_role_policy=json.dumps(trust))
aws.eks.Cluster("inference", name="inference", role_arn=role.arn, version="1.35",
                vpc_config={"subnet_ids": [subnet.id for subnet in subnets]})
provider = kubernetes.Provider("cluster", enable_server_side_apply=True, cluster_identifier="inference")
own = pulumi.ResourceOptions(provider=provider)
for name in ("models", "lws-system"):
    kubernetes.core.v1.Namespace(name, metadata={"name": name}, opts=own)
labels = {"control-plane": "controller-manager"}
kubernetes.apps.v1.Deployment(
    "lws-controller",
    metadata={"name": "lws-controller-manager", "namespace": "lws-system"},
    spec={"replicas": 1, "selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "manager", "image": f"registry.k8s.io/lws/lws:v{site['lws']}"}]}}},
    opts=own,
)
pools = {
    name: GpuNodePool(name, GpuNodePoolArgs(name, pool, NodeCluster("inference", "lab")),
                      pulumi.ResourceOptions(providers=[provider]))
    for name, pool in site["pools"].items()
}
for name, deployment in site["deployments"].items():
    args = deployment | {"name": name, "namespace": "models", "pools": site["pools"]}
    KINDS[deployment["kind"]](name, args, pulumi.ResourceOptions(providers=[provider]))
"""

SITE: Settings = {
    "cidr": "10.0.0.0/16",
    "lws": "0.9.0",
    "pools": {
        "p5": {"instanceType": "p5.48xlarge", "islands": 3, "nodesPerIsland": 2},
        "small": {"instanceType": "g6e.12xlarge", "nodes": 2},
    },
    "deployments": {
        "glm-5": {
            "kind": "multi-node-vllm",
            "model": "zai-org/GLM-5-FP8",
            "pool": "p5",
            "replicas": 2,
            "parallelism": {"tensor": 8, "pipeline": 2},
            "source": {"kind": "node", "path": "/mnt/k8s-disks/0/models/glm-5"},
            "maxModelLen": 131072,
            "secretEnvironment": {"HF_TOKEN": {"secret": "hugging-face", "key": "token"}},
        },
        "gpt-oss": {
            "kind": "single-node-vllm",
            # The lab has no node for it, and a preview needs none.
            "wait": "none",
            "model": "openai/gpt-oss-120b",
            "pool": "small",
            "parallelism": {"tensor": 4},
            "source": {"kind": "node", "path": "/mnt/k8s-disks/0/models/gpt-oss"},
            "maxModelLen": 65536,
        },
    },
}

_LLAMA: Settings = SITE["deployments"]["gpt-oss"] | {
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "source": {"kind": "node", "path": "/mnt/k8s-disks/0/models/llama-8b"},
    "parallelism": {"tensor": 1},
}

CHANGES: Mapping[str, Callable[[Settings], object]] = {
    "no-change": lambda _: None,
    "add-a-deployment": lambda site: site["deployments"].update(llama=_LLAMA),
    "change-the-image": lambda site: site["deployments"]["glm-5"].update(image="example.com/vllm:v0.27.0"),
    "change-the-parallelism": lambda site: site["deployments"]["gpt-oss"].update(parallelism={"tensor": 2}),
    "scale": lambda site: site["deployments"]["glm-5"].update(replicas=3),
    "add-an-island": lambda site: site["pools"]["p5"].update(islands=4),
    "change-the-instance-type": lambda site: site["pools"]["p5"].update(instanceType="p5en.48xlarge"),
    "remove-a-deployment": lambda site: site["deployments"].pop("gpt-oss"),
    "upgrade-lws": lambda site: site.update(lws="0.10.0"),
    "change-the-vpc": lambda site: site.update(cidr="10.64.0.0/16"),
}
"""What is changed in a copy of the site, by name of the recording."""

_LONGEST_TEXT = 200
_STATE = ("type", "urn", "parent", "inputs")
_READ = (
    "lws:index:MultiNodeVllm",
    "lws:index:SingleNodeVllm",
    "kubernetes:leaderworkerset",
    "kubernetes:apps/",
    "kubernetes:karpenter.sh/",
)
"""Types of which a report reads what stays the same."""


def changed(name: str) -> Settings:
    """Return the site after a change."""
    site = deepcopy(SITE)
    CHANGES[name](site)
    return site


def recorded(printed: str) -> Iterator[str]:
    """Yield the lines of a recording: the events of a preview, as far as a report reads them."""
    for line in printed.splitlines():
        event = json.loads(line)
        if metadata := event.get("resourcePreEvent", {}).get("metadata"):
            kept = {key: metadata[key] for key in ("op", "urn", "type")}
            states = {key: _state(metadata[key]) for key in ("old", "new") if metadata.get(key)}
            if metadata["op"] == "same":
                states.pop("old", None)
                if not metadata["type"].startswith(_READ):
                    states["new"].pop("inputs", None)
            yield json.dumps({"resourcePreEvent": {"metadata": kept | states}}, sort_keys=True)
        elif "policyEvent" in event:
            yield json.dumps({"policyEvent": event["policyEvent"]}, sort_keys=True)
        elif event.get("diagnosticEvent", {}).get("severity") in ("error", "warning"):
            yield json.dumps({"diagnosticEvent": event["diagnosticEvent"]}, sort_keys=True)
        elif "summaryEvent" in event:
            summary = event["summaryEvent"]
            packs = {name.partition("|")[0]: version for name, version in (summary.get("PolicyPacks") or {}).items()}
            kept = {key: summary[key] for key in ("isPreview", "resourceChanges", "result") if key in summary}
            yield json.dumps({"summaryEvent": kept | {"PolicyPacks": packs}}, sort_keys=True)


def _state(state: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: _short(state[key]) for key in _STATE if key in state}
    if kept["type"].startswith("pulumi:providers:"):
        kept.pop("inputs", None)  # where this machine keeps its kubeconfig
    return kept


def _short(value: Any) -> Any:
    match value:
        case dict():
            return {key: _short(part) for key, part in value.items()}
        case list():
            return [_short(part) for part in value]
        case str() if len(value) > _LONGEST_TEXT:
            return f"{value[:_LONGEST_TEXT]}…"
    return value


@contextmanager
def running(folder: Path) -> Iterator[Project]:
    """Bring up the site in a lab of its own, as a project whose previews can be asked."""
    _lab("up", "--name", LAB)
    try:
        layout = Layout(lab_folder(LAB))
        aws.install(layout.pulumi_home, folder / "account", layout.kubeconfig, Path(sys.executable))
        project = Project(folder / "project", {**os.environ, **engine.environment(layout, os.environ["PATH"])})
        project = make(project, PROGRAM, folder / "backend")
        project.stack_file.write_text("config:\n  aws:region: us-east-2\n", encoding="utf-8")
        _write(project, SITE)
        _succeeds(project, "stack", "select", "--create", STACK)
        _succeeds(project, "up", "--yes", "--skip-preview")
        yield project
    finally:
        _lab("down", "--name", LAB)


def preview(project: Project, site: Settings) -> str:
    """Return the events of a preview of the site, with this project's policies."""
    _write(project, site)
    streaming = replace(project, environment={**project.environment, "PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true"})
    # A policy that does not hold is no failure here.
    return streaming.pulumi("preview", "--json", "--policy-pack", str(PROJECT / "policies")).stdout


def main(target: Path) -> None:
    """Record every change."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as project:
        for name in CHANGES:
            lines = list(recorded(preview(project, changed(name))))
            (target / f"{name}.json").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            print(f"{name}: {len(lines)} events")  # noqa: T201 - what a command says


def _write(project: Project, site: Settings) -> None:
    (project.folder / "site.json").write_text(json.dumps(site), encoding="utf-8")


def _succeeds(project: Project, *arguments: str) -> None:
    ended = project.pulumi(*arguments)
    if ended.returncode:
        raise LabError(f"pulumi {arguments[0]} failed.", "Read what it says.", ended.stdout)


def _lab(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "lab", *arguments], cwd=PROJECT, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
