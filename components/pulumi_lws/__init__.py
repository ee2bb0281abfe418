"""Typed Pulumi components and policies for multi-node LLM serving on EKS.

Names are loaded when they are first used, so that reading a declaration does not load Pulumi.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pulumi_lws.cluster.eks.component.cluster import EksCluster
    from pulumi_lws.cluster.eks.component.existing import ExistingEks
    from pulumi_lws.cluster.eks.settings import EksClusterArgs, ExistingEksCluster
    from pulumi_lws.cluster.network.component import Network, NetworkArgs
    from pulumi_lws.cluster.network.settings import ExistingVpc, Vpc
    from pulumi_lws.cluster.settings import ExistingCluster
    from pulumi_lws.component import DeclarationError
    from pulumi_lws.facts.models import ModelArchitecture
    from pulumi_lws.nodes.capacity import CapacityBlock, OnDemand, Reservation, Spot
    from pulumi_lws.nodes.component import GpuNodePool, GpuNodePoolArgs
    from pulumi_lws.nodes.settings import GpuPool
    from pulumi_lws.planning.parallelism import Parallelism
    from pulumi_lws.planning.problems import Problem, Severity
    from pulumi_lws.platform.component import Platform
    from pulumi_lws.platform.settings import PlatformArgs
    from pulumi_lws.serving.component import DisaggregatedVllm, MultiNodeVllm, SingleNodeVllm
    from pulumi_lws.serving.engines.settings import CustomEngine, SglangEngine, VllmEngine
    from pulumi_lws.serving.routing.settings import GatewayRouter, StandaloneRouter
    from pulumi_lws.serving.scaling.settings import Autoscaling
    from pulumi_lws.serving.settings import (
        Client,
        DisaggregatedVllmArgs,
        MultiNodeVllmArgs,
        NetworkAccess,
        RoleSettings,
        SingleNodeVllmArgs,
        Transfer,
    )
    from pulumi_lws.serving.sources.settings import CompileCache, HuggingFaceSource, NodeSource, S3Source, VolumeSource
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
    from pulumi_lws.workloads.pods import Container, ContainerPort, EnvironmentVariable, PodSpec, Resources, VolumeMount
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
    "Autoscaling": "serving.scaling.settings",
    "CapacityBlock": "nodes.capacity",
    "Client": "serving.settings",
    "CompileCache": "serving.sources.settings",
    "Container": "workloads.pods",
    "ContainerPort": "workloads.pods",
    "CustomEngine": "serving.engines.settings",
    "DeclarationError": "component",
    "DisaggregatedSet": "workloads.component",
    "DisaggregatedSetArgs": "workloads.disaggregated_set",
    "DisaggregatedSetSpec": "workloads.disaggregated_set",
    "DisaggregatedVllm": "serving.component",
    "DisaggregatedVllmArgs": "serving.settings",
    "EksCluster": "cluster.eks.component.cluster",
    "EksClusterArgs": "cluster.eks.settings",
    "EnvironmentVariable": "workloads.pods",
    "ExistingCluster": "cluster.settings",
    "ExistingEks": "cluster.eks.component.existing",
    "ExistingEksCluster": "cluster.eks.settings",
    "ExistingVpc": "cluster.network.settings",
    "GatewayRouter": "serving.routing.settings",
    "GpuNodePool": "nodes.component",
    "GpuNodePoolArgs": "nodes.component",
    "GpuPool": "nodes.settings",
    "HuggingFaceSource": "serving.sources.settings",
    "LeaderWorkerSet": "workloads.component",
    "LeaderWorkerSetArgs": "workloads.settings",
    "LeaderWorkerSetSpec": "workloads.settings",
    "LeaderWorkerTemplate": "workloads.settings",
    "ModelArchitecture": "facts.models",
    "MultiNodeVllm": "serving.component",
    "MultiNodeVllmArgs": "serving.settings",
    "Network": "cluster.network.component",
    "NetworkAccess": "serving.settings",
    "NetworkArgs": "cluster.network.component",
    "NetworkConfig": "workloads.settings",
    "NodeSource": "serving.sources.settings",
    "OnDemand": "nodes.capacity",
    "Parallelism": "planning.parallelism",
    "PlacementPolicy": "workloads.disaggregated_set",
    "Platform": "platform.component",
    "PlatformArgs": "platform.settings",
    "PodSpec": "workloads.pods",
    "PodTemplate": "workloads.settings",
    "Problem": "planning.problems",
    "Reservation": "nodes.capacity",
    "Resources": "workloads.pods",
    "Role": "workloads.disaggregated_set",
    "RoleMetadata": "workloads.disaggregated_set",
    "RoleRolloutStrategy": "workloads.disaggregated_set",
    "RoleScaling": "workloads.disaggregated_set",
    "RoleSettings": "serving.settings",
    "RoleSpec": "workloads.disaggregated_set",
    "RollingUpdate": "workloads.settings",
    "RolloutStrategy": "workloads.settings",
    "S3Source": "serving.sources.settings",
    "Severity": "planning.problems",
    "SglangEngine": "serving.engines.settings",
    "SingleNodeVllm": "serving.component",
    "SingleNodeVllmArgs": "serving.settings",
    "Spot": "nodes.capacity",
    "StandaloneRouter": "serving.routing.settings",
    "SubGroupPolicy": "workloads.settings",
    "TemplateMetadata": "workloads.settings",
    "Transfer": "serving.settings",
    "VllmEngine": "serving.engines.settings",
    "VolumeMount": "workloads.pods",
    "VolumeRetention": "workloads.settings",
    "VolumeSource": "serving.sources.settings",
    "Vpc": "cluster.network.settings",
}

__all__ = [
    "Autoscaling",
    "CapacityBlock",
    "Client",
    "CompileCache",
    "Container",
    "ContainerPort",
    "CustomEngine",
    "DeclarationError",
    "DisaggregatedSet",
    "DisaggregatedSetArgs",
    "DisaggregatedSetSpec",
    "DisaggregatedVllm",
    "DisaggregatedVllmArgs",
    "EksCluster",
    "EksClusterArgs",
    "EnvironmentVariable",
    "ExistingCluster",
    "ExistingEks",
    "ExistingEksCluster",
    "ExistingVpc",
    "GatewayRouter",
    "GpuNodePool",
    "GpuNodePoolArgs",
    "GpuPool",
    "HuggingFaceSource",
    "LeaderWorkerSet",
    "LeaderWorkerSetArgs",
    "LeaderWorkerSetSpec",
    "LeaderWorkerTemplate",
    "ModelArchitecture",
    "MultiNodeVllm",
    "MultiNodeVllmArgs",
    "Network",
    "NetworkAccess",
    "NetworkArgs",
    "NetworkConfig",
    "NodeSource",
    "OnDemand",
    "Parallelism",
    "PlacementPolicy",
    "Platform",
    "PlatformArgs",
    "PodSpec",
    "PodTemplate",
    "Problem",
    "Reservation",
    "Resources",
    "Role",
    "RoleMetadata",
    "RoleRolloutStrategy",
    "RoleScaling",
    "RoleSettings",
    "RoleSpec",
    "RollingUpdate",
    "RolloutStrategy",
    "S3Source",
    "Severity",
    "SglangEngine",
    "SingleNodeVllm",
    "SingleNodeVllmArgs",
    "Spot",
    "StandaloneRouter",
    "SubGroupPolicy",
    "TemplateMetadata",
    "Transfer",
    "VllmEngine",
    "VolumeMount",
    "VolumeRetention",
    "VolumeSource",
    "Vpc",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
