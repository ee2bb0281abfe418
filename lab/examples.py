"""The examples, and every backend, engine and router that each of them can be served by."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab.folders import PROJECT
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.render import render

EXAMPLES = sorted((PROJECT / "examples" / "serving").glob("*.yaml"))


@dataclass(frozen=True)
class Variant:
    """An example as it stands, or with another backend.

    Attributes:
        name: The example's, and what is different.
        settings: The platform, as YAML has it.
    """

    name: str
    settings: dict[str, Any]

    def objects(self) -> list[dict[str, Any]]:
        """Every object of its deployments."""
        platform = PlatformArgs.model_validate(self.settings)
        return [manifest for args in deployments_of(platform).values() for manifest in render(args).manifests.values()]


def settings_of(example: Path) -> dict[str, Any]:
    """The platform of an example, as YAML has it."""
    platform: dict[str, Any] = yaml.safe_load(example.read_text(encoding="utf-8"))["config"]["pulumi-lws:platform"]
    return platform


CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "multi-node-vllm": {
        "ray": {"engine": {"kind": "vllm", "backend": "ray", "version": "0.26"}, "image": "example/vllm-ray:0.26.0"},
        "autoscaled-hpa": {"autoscaling": {"kind": "hpa", "maxReplicas": 1}, "surge": 0},
    },
    "single-node-vllm": {"autoscaled": {"autoscaling": {"maxReplicas": 3}}},
    "disaggregated-vllm": {
        "leader-worker-sets": {"backend": "leader-worker-sets"},
        "disaggregated-set": {"backend": "disaggregated-set"},
        "gateway": {"router": {"kind": "gateway", "gateway": "inference"}, "backend": "leader-worker-sets"},
        "gateway-and-set": {"router": {"kind": "gateway", "gateway": "inference"}, "backend": "disaggregated-set"},
        "router-of-the-user": {"router": None},
    },
}
"""What else a deployment of each kind can be served by."""


def variants() -> Iterator[Variant]:
    """Every example as it stands, and with every other backend."""
    for example in EXAMPLES:
        yield Variant(example.stem, settings_of(example))
        (name, deployment), *_ = settings_of(example)["deployments"].items()
        if deployment.get("engine", {}).get("kind", "vllm") != "vllm":
            continue
        for difference, change in CHANGES[deployment["kind"]].items():
            settings = settings_of(example)
            settings["deployments"][name] |= change
            yield Variant(f"{example.stem}-{difference}", settings)
