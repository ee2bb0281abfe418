"""A team that has the built package and not its repository: the pack that ``lws policies`` writes, and a component."""

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.folders import PROJECT

pytestmark = pytest.mark.lab

VIOLATION = re.compile(r"\[(mandatory|advisory)\] +(\S+) ")
MakeProject = Callable[[str], Any]

OURS = """
import pulumi
import pulumi_kubernetes
from pulumi_lws import GpuPool, MultiNodeVllm, MultiNodeVllmArgs, Parallelism, S3Source

cluster = pulumi_kubernetes.Provider("cluster", context="pulumi-lws-lab", enable_server_side_apply=True)
MultiNodeVllm(
    "glm-5",
    MultiNodeVllmArgs(
        name="glm-5",
        namespace="default",
        model="zai-org/GLM-5-FP8",
        parallelism=Parallelism(tensor=8, pipeline=2),
        max_model_len=131072,
        source=S3Source(kind="s3", uri="s3://my-models/glm-5-fp8"),
        pool="p5",
        pools={"p5": GpuPool(instance_type="p5.48xlarge", islands=2, nodes_per_island=2)},
    ),
    pulumi.ResourceOptions(providers=[cluster]),
)
"""

FIRST_TRY = """
import pulumi
import pulumi_kubernetes

cluster = pulumi_kubernetes.Provider("cluster", context="pulumi-lws-lab")
pod = {"spec": {"containers": [{"name": "web", "image": "example.com/web:1"}]}}
pulumi_kubernetes.apiextensions.CustomResource(
    "sample",
    api_version="leaderworkerset.x-k8s.io/v1",
    kind="LeaderWorkerSet",
    metadata={"name": "sample", "namespace": "default"},
    spec={"replicas": 3, "leaderWorkerTemplate": {"size": 4, "workerTemplate": pod}},
    opts=pulumi.ResourceOptions(provider=cluster),
)
"""
"""As a first try with LeaderWorkerSets is written: none of what this library chooses."""

EXPECTED = ("leader-ready", "exclusive-topology", "server-side-apply")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built from a copy of its sources."""
    sources, built = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheels")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(PROJECT / name, sources)
    leave_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(PROJECT / "components", sources / "components", ignore=leave_out)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(built), str(sources))
    [wheel] = built.glob("*.whl")
    return wheel


def run(*command: str, folder: Path | None = None) -> str:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def environment(folder: Path, wheel: Path) -> Path:
    """Make a virtual environment with the wheel, and with what it needs from the one that runs the tests.

    A path in a file of a virtual environment brings the packages there, and not what is installed editable in it: the
    package is the wheel's.
    """
    run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    python = folder / "bin" / "python"
    install(python, str(wheel))
    packages = run(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(packages) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = run(str(python), "-c", "import pulumi_lws; print(pulumi_lws.__file__)", folder=folder)
    assert Path(where).is_relative_to(folder)
    return python


def install(python: Path, *requirement: str, folder: Path | None = None) -> None:
    offline = ("--no-index", "--no-deps", "--force-reinstall")
    run(sys.executable, "-m", "pip", "--python", str(python), "install", *offline, *requirement, folder=folder)


def test_a_team_without_this_repository_uses_pack_and_component(project: MakeProject, wheel: Path) -> None:
    one = project(OURS)
    pack = one.folder / "policies"
    python = environment(pack / "venv", wheel)
    description = yaml.safe_load((one.folder / "Pulumi.yaml").read_text())
    description["runtime"]["options"]["virtualenv"] = str(pack / "venv")
    (one.folder / "Pulumi.yaml").write_text(yaml.safe_dump(description))

    lws = str(python.with_name("lws"))
    shutil.copy2(wheel, pack)
    run(lws, "policies", str(pack), "--preset", "strict", "--requirement", f"./{wheel.name}[policy]")
    install(python, "-r", "requirements.txt", folder=pack)

    preview = ("preview", "--policy-pack", str(pack))
    printed = one.succeeds(*preview)
    assert "lws:index:MultiNodeVllm" in printed
    assert VIOLATION.findall(printed) == []

    (one.folder / "__main__.py").write_text(FIRST_TRY)
    mandatory = VIOLATION.findall(one.fails(*preview))
    assert {("mandatory", rule) for rule in EXPECTED} <= set(mandatory)
    run(lws, "policies", str(pack), "--preset", "advisory")
    assert (pack / "requirements.txt").read_text() == f"./{wheel.name}[policy]\n"
    advisory = VIOLATION.findall(one.succeeds(*preview))
    assert sorted(advisory) == sorted(("advisory", rule) for _, rule in mandatory)
