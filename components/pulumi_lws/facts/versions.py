"""The only pin table: every version that this package installs, renders or tests with stands here.

Python packages are the exception: ``pyproject.toml`` bounds them and ``constraints.txt`` pins them.
"""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Pin:
    """One pinned thing.

    Attributes:
        version: Version as its own registry writes it.
        source: Where it comes from: a chart, an image repository or a module path.
        checked: Day on which somebody last looked whether the pin is still right.
    """

    version: str
    source: str
    checked: date


PINS: dict[str, Pin] = {
    "lws": Pin("0.10.0", "oci://registry.k8s.io/lws/charts/lws", date(2026, 9, 1)),
    "kubernetes": Pin("1.35.4", "k8s.io/kubernetes", date(2026, 11, 29)),
    "vllm": Pin(
        "0.26.0-gpu-py312-cu130-ubuntu22.04-ec2", "public.ecr.aws/deep-learning-containers/vllm", date(2026, 9, 1)
    ),
    "pulumi": Pin("3.274.1", "github.com/pulumi/pulumi/pkg/v3", date(2026, 11, 29)),
    "pulumi-kubernetes": Pin(
        "v4.0.0-20260115033456-f47bc2d6f199", "github.com/pulumi/pulumi-kubernetes/provider/v4", date(2026, 11, 29)
    ),
    "etcd": Pin("3.6.16", "go.etcd.io/etcd/server/v3", date(2026, 11, 29)),
    "kwok": Pin("0.8.0", "sigs.k8s.io/kwok", date(2026, 11, 29)),
    "karpenter-kwok": Pin("1.14.1", "sigs.k8s.io/karpenter", date(2026, 11, 29)),
}
