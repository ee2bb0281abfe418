"""Typed Pulumi components and policies for multi-node LLM serving on EKS.

Names are loaded when they are first used, so that reading a declaration does not load Pulumi.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pulumi_lws.cluster.settings import ExistingCluster
    from pulumi_lws.component import DeclarationError
    from pulumi_lws.nodes.settings import GpuPool
    from pulumi_lws.planning.problems import Problem, Severity
    from pulumi_lws.platform.component import Platform
    from pulumi_lws.platform.settings import PlatformArgs
    from pulumi_lws.serving.component import MultiNodeVllm
    from pulumi_lws.serving.settings import MultiNodeVllmArgs, MultiNodeVllmDeployment, Parallelism
    from pulumi_lws.workloads.component import LeaderWorkerSet
    from pulumi_lws.workloads.settings import LeaderWorkerSetArgs, PodTemplate, RollingUpdate

_MODULES = {
    "DeclarationError": "component",
    "ExistingCluster": "cluster.settings",
    "GpuPool": "nodes.settings",
    "LeaderWorkerSet": "workloads.component",
    "LeaderWorkerSetArgs": "workloads.settings",
    "MultiNodeVllm": "serving.component",
    "MultiNodeVllmArgs": "serving.settings",
    "MultiNodeVllmDeployment": "serving.settings",
    "Parallelism": "serving.settings",
    "Platform": "platform.component",
    "PlatformArgs": "platform.settings",
    "PodTemplate": "workloads.settings",
    "Problem": "planning.problems",
    "RollingUpdate": "workloads.settings",
    "Severity": "planning.problems",
}

__all__ = [
    "DeclarationError",
    "ExistingCluster",
    "GpuPool",
    "LeaderWorkerSet",
    "LeaderWorkerSetArgs",
    "MultiNodeVllm",
    "MultiNodeVllmArgs",
    "MultiNodeVllmDeployment",
    "Parallelism",
    "Platform",
    "PlatformArgs",
    "PodTemplate",
    "Problem",
    "RollingUpdate",
    "Severity",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
