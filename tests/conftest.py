"""Settings of every test: outputs that are turned into text by mistake raise, and no cluster of the machine is seen."""

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import yaml

# A shell ignores Ctrl-C for what it runs in the background, and so would every program that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

PROJECT = Path(__file__).resolve().parent.parent

# A loaded machine is no finding.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


class _Plain(yaml.SafeDumper):
    """Writes equal parts out each time; anchors are hard to review."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the base class names it
        return True


@dataclass(frozen=True)
class Golden:
    """Reviewed files, a folder for each scenario."""

    folder: Path
    rewrite: bool

    def compare(self, scenario: str, objects: Sequence[Mapping[str, Any]]) -> None:
        """Compare the objects of a scenario with its files, ``<kind>-<name>.yaml``."""
        rendered = {
            f"{o['kind'].lower()}-{o['metadata']['name']}.yaml": yaml.dump(o, sort_keys=False, width=120, Dumper=_Plain)
            for o in objects
        }
        self.compare_files(scenario, rendered)

    def compare_files(self, scenario: str, rendered: Mapping[str, str]) -> None:
        """Compare texts with the files of a scenario, all of them and no others."""
        folder = self.folder / scenario
        if self.rewrite:
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.glob("*"):
                path.unlink()
            for name, text in rendered.items():
                (folder / name).write_text(text, encoding="utf-8")
        assert {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*")} == rendered


def platform_of(stack: str) -> dict[str, Any]:
    """Return the platform of a stack of this project, as YAML has it."""
    text = (PROJECT / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
    platform: dict[str, Any] = yaml.safe_load(text)["config"]["pulumi-lws:platform"]
    return platform


@pytest.fixture(autouse=True)
def _closed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_ERROR_OUTPUT_STRING", "true")
    monkeypatch.delenv("KUBECONFIG", raising=False)


@pytest.fixture
def local_platform() -> dict[str, Any]:
    """Cluster, pools and deployments of the local stack, as YAML has it."""
    platform = {key: platform_of("local")[key] for key in ("cluster", "namespace", "pools", "deployments")}
    del platform["deployments"]["glm-5"]["queue"]
    return platform


@pytest.fixture
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kubeconfig with the lab's context, named by KUBECONFIG; nothing listens at its address."""
    path = tmp_path / "kubeconfig"
    cluster = {"name": "lab", "cluster": {"server": "https://127.0.0.1:1"}}
    context = {"name": "pulumi-lws-lab", "context": {"cluster": "lab", "user": "admin"}}
    user = {"name": "admin", "user": {"token": "not-a-secret"}}
    path.write_text(
        yaml.safe_dump(
            {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context], "users": [user]}
        )
    )
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


@pytest.fixture
def golden() -> Golden:
    """Compares rendered objects with reviewed files; ``make golden`` rewrites them."""
    return Golden(PROJECT / "tests" / "golden", rewrite=os.environ.get("REWRITE_GOLDEN") == "1")
