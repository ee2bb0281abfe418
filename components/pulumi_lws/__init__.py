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
    from pulumi_lws.workloads.component import DisaggregatedSet, LeaderWorkerSet
    from pulumi_lws.workloads.disaggregated_set import (
        DisaggregatedSetArgs,
        DisaggregatedSetSpec,
        PlacementPolicy,
        Role,
        RoleMetadata,
        RoleRolloutStrategy,
        RoleScaling,
        RoleSpec,
    )
    from pulumi_lws.workloads.pods import (
        Container,
        ContainerPort,
        EnvironmentVariable,
        PodSpec,
        Resources,
        VolumeMount,
    )
    from pulumi_lws.workloads.settings import (
        LeaderWorkerSetArgs,
        LeaderWorkerSetSpec,
        LeaderWorkerTemplate,
        NetworkConfig,
        PodTemplate,
        RollingUpdate,
        RolloutStrategy,
        SubGroupPolicy,
        TemplateMetadata,
        VolumeRetention,
    )

_MODULES = {
    "Container": "workloads.pods",
    "ContainerPort": "workloads.pods",
    "DeclarationError": "component",
    "DisaggregatedSet": "workloads.component",
    "DisaggregatedSetArgs": "workloads.disaggregated_set",
    "DisaggregatedSetSpec": "workloads.disaggregated_set",
    "EnvironmentVariable": "workloads.pods",
    "ExistingCluster": "cluster.settings",
    "GpuPool": "nodes.settings",
    "LeaderWorkerSet": "workloads.component",
    "LeaderWorkerSetArgs": "workloads.settings",
    "LeaderWorkerSetSpec": "workloads.settings",
    "LeaderWorkerTemplate": "workloads.settings",
    "MultiNodeVllm": "serving.component",
    "MultiNodeVllmArgs": "serving.settings",
    "MultiNodeVllmDeployment": "serving.settings",
    "NetworkConfig": "workloads.settings",
    "Parallelism": "serving.settings",
    "PlacementPolicy": "workloads.disaggregated_set",
    "Platform": "platform.component",
    "PlatformArgs": "platform.settings",
    "PodSpec": "workloads.pods",
    "PodTemplate": "workloads.settings",
    "Problem": "planning.problems",
    "Resources": "workloads.pods",
    "Role": "workloads.disaggregated_set",
    "RoleMetadata": "workloads.disaggregated_set",
    "RoleRolloutStrategy": "workloads.disaggregated_set",
    "RoleScaling": "workloads.disaggregated_set",
    "RoleSpec": "workloads.disaggregated_set",
    "RollingUpdate": "workloads.settings",
    "RolloutStrategy": "workloads.settings",
    "Severity": "planning.problems",
    "SubGroupPolicy": "workloads.settings",
    "TemplateMetadata": "workloads.settings",
    "VolumeMount": "workloads.pods",
    "VolumeRetention": "workloads.settings",
}

__all__ = [
    "Container",
    "ContainerPort",
    "DeclarationError",
    "DisaggregatedSet",
    "DisaggregatedSetArgs",
    "DisaggregatedSetSpec",
    "EnvironmentVariable",
    "ExistingCluster",
    "GpuPool",
    "LeaderWorkerSet",
    "LeaderWorkerSetArgs",
    "LeaderWorkerSetSpec",
    "LeaderWorkerTemplate",
    "MultiNodeVllm",
    "MultiNodeVllmArgs",
    "MultiNodeVllmDeployment",
    "NetworkConfig",
    "Parallelism",
    "PlacementPolicy",
    "Platform",
    "PlatformArgs",
    "PodSpec",
    "PodTemplate",
    "Problem",
    "Resources",
    "Role",
    "RoleMetadata",
    "RoleRolloutStrategy",
    "RoleScaling",
    "RoleSpec",
    "RollingUpdate",
    "RolloutStrategy",
    "Severity",
    "SubGroupPolicy",
    "TemplateMetadata",
    "VolumeMount",
    "VolumeRetention",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
