"""Typed Pulumi components and policies for multi-node LLM serving on EKS.

Names are loaded when they are first used, so that reading a declaration does not load Pulumi.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pulumi_lws.addons.addon import Site
    from pulumi_lws.addons.component import ClusterAddOns
    from pulumi_lws.addons.settings import AddOn, AddOns, LwsAddOn
    from pulumi_lws.caches.component import ImagePrePull, NodeModelCache, SharedModelVolume
    from pulumi_lws.caches.node_models import NodeModelArgs
    from pulumi_lws.caches.pre_pull import ImagePrePullArgs
    from pulumi_lws.caches.settings import Caches
    from pulumi_lws.caches.shared_volumes import SharedVolumeArgs
    from pulumi_lws.cluster.eks.component.cluster import EksCluster
    from pulumi_lws.cluster.eks.component.existing import ExistingEks
    from pulumi_lws.cluster.eks.settings import EksClusterArgs, ExistingEksCluster
    from pulumi_lws.cluster.network.component import Network, NetworkArgs
    from pulumi_lws.cluster.network.settings import ExistingVpc, Vpc
    from pulumi_lws.cluster.settings import ExistingCluster
    from pulumi_lws.component import DeclarationError
    from pulumi_lws.edge.component import InferenceGateway
    from pulumi_lws.edge.settings import InferenceGatewayArgs
    from pulumi_lws.facts.models import ModelArchitecture
    from pulumi_lws.load_tests.component import LoadTest, LoadTestArgs
    from pulumi_lws.load_tests.settings import LoadTestSettings
    from pulumi_lws.monitoring.component import Monitoring, MonitoringArgs
    from pulumi_lws.nodes.capacity import CapacityBlock, OnDemand, Reservation, Spot
    from pulumi_lws.nodes.component import GpuNodePool, GpuNodePoolArgs
    from pulumi_lws.nodes.settings import GpuPool
    from pulumi_lws.planning.parallelism import Parallelism
    from pulumi_lws.planning.problems import Problem, Severity
    from pulumi_lws.platform.component import Platform
    from pulumi_lws.platform.settings import PlatformArgs
    from pulumi_lws.queues.component import KueueQueues
    from pulumi_lws.queues.settings import KueueQueuesArgs, Queues
    from pulumi_lws.ray.component import RayClusterPool, RayServiceVllm
    from pulumi_lws.ray.settings import RayClusterPoolArgs, RayServiceVllmArgs
    from pulumi_lws.serving.component import DisaggregatedVllm, MultiNodeVllm, SingleNodeVllm
    from pulumi_lws.serving.engines.settings import CustomEngine, SglangEngine, VllmEngine
    from pulumi_lws.serving.routing.settings import GatewayRouter, StandaloneRouter
    from pulumi_lws.serving.scaling.gateways.component import GatewayAutoscaler, GatewayAutoscalerArgs
    from pulumi_lws.serving.scaling.gateways.settings import GatewayAutoscaling
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
    from pulumi_lws.tenancy.component import TeamNamespace, TeamNamespaceArgs
    from pulumi_lws.tenancy.settings import Team
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
    "AddOn": "addons.settings",
    "AddOns": "addons.settings",
    "Autoscaling": "serving.scaling.settings",
    "Caches": "caches.settings",
    "CapacityBlock": "nodes.capacity",
    "Client": "serving.settings",
    "ClusterAddOns": "addons.component",
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
    "GatewayAutoscaler": "serving.scaling.gateways.component",
    "GatewayAutoscalerArgs": "serving.scaling.gateways.component",
    "GatewayAutoscaling": "serving.scaling.gateways.settings",
    "GatewayRouter": "serving.routing.settings",
    "GpuNodePool": "nodes.component",
    "GpuNodePoolArgs": "nodes.component",
    "GpuPool": "nodes.settings",
    "HuggingFaceSource": "serving.sources.settings",
    "ImagePrePull": "caches.component",
    "ImagePrePullArgs": "caches.pre_pull",
    "InferenceGateway": "edge.component",
    "InferenceGatewayArgs": "edge.settings",
    "KueueQueues": "queues.component",
    "KueueQueuesArgs": "queues.settings",
    "LeaderWorkerSet": "workloads.component",
    "LeaderWorkerSetArgs": "workloads.settings",
    "LeaderWorkerSetSpec": "workloads.settings",
    "LeaderWorkerTemplate": "workloads.settings",
    "LoadTest": "load_tests.component",
    "LoadTestArgs": "load_tests.component",
    "LoadTestSettings": "load_tests.settings",
    "LwsAddOn": "addons.settings",
    "ModelArchitecture": "facts.models",
    "Monitoring": "monitoring.component",
    "MonitoringArgs": "monitoring.component",
    "MultiNodeVllm": "serving.component",
    "MultiNodeVllmArgs": "serving.settings",
    "Network": "cluster.network.component",
    "NetworkAccess": "serving.settings",
    "NetworkArgs": "cluster.network.component",
    "NetworkConfig": "workloads.settings",
    "NodeModelArgs": "caches.node_models",
    "NodeModelCache": "caches.component",
    "NodeSource": "serving.sources.settings",
    "OnDemand": "nodes.capacity",
    "Parallelism": "planning.parallelism",
    "PlacementPolicy": "workloads.disaggregated_set",
    "Platform": "platform.component",
    "PlatformArgs": "platform.settings",
    "PodSpec": "workloads.pods",
    "PodTemplate": "workloads.settings",
    "Problem": "planning.problems",
    "Queues": "queues.settings",
    "RayClusterPool": "ray.component",
    "RayClusterPoolArgs": "ray.settings",
    "RayServiceVllm": "ray.component",
    "RayServiceVllmArgs": "ray.settings",
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
    "SharedModelVolume": "caches.component",
    "SharedVolumeArgs": "caches.shared_volumes",
    "SingleNodeVllm": "serving.component",
    "SingleNodeVllmArgs": "serving.settings",
    "Site": "addons.addon",
    "Spot": "nodes.capacity",
    "StandaloneRouter": "serving.routing.settings",
    "SubGroupPolicy": "workloads.settings",
    "Team": "tenancy.settings",
    "TeamNamespace": "tenancy.component",
    "TeamNamespaceArgs": "tenancy.component",
    "TemplateMetadata": "workloads.settings",
    "Transfer": "serving.settings",
    "VllmEngine": "serving.engines.settings",
    "VolumeMount": "workloads.pods",
    "VolumeRetention": "workloads.settings",
    "VolumeSource": "serving.sources.settings",
    "Vpc": "cluster.network.settings",
}

__all__ = [
    "AddOn",
    "AddOns",
    "Autoscaling",
    "Caches",
    "CapacityBlock",
    "Client",
    "ClusterAddOns",
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
    "GatewayAutoscaler",
    "GatewayAutoscalerArgs",
    "GatewayAutoscaling",
    "GatewayRouter",
    "GpuNodePool",
    "GpuNodePoolArgs",
    "GpuPool",
    "HuggingFaceSource",
    "ImagePrePull",
    "ImagePrePullArgs",
    "InferenceGateway",
    "InferenceGatewayArgs",
    "KueueQueues",
    "KueueQueuesArgs",
    "LeaderWorkerSet",
    "LeaderWorkerSetArgs",
    "LeaderWorkerSetSpec",
    "LeaderWorkerTemplate",
    "LoadTest",
    "LoadTestArgs",
    "LoadTestSettings",
    "LwsAddOn",
    "ModelArchitecture",
    "Monitoring",
    "MonitoringArgs",
    "MultiNodeVllm",
    "MultiNodeVllmArgs",
    "Network",
    "NetworkAccess",
    "NetworkArgs",
    "NetworkConfig",
    "NodeModelArgs",
    "NodeModelCache",
    "NodeSource",
    "OnDemand",
    "Parallelism",
    "PlacementPolicy",
    "Platform",
    "PlatformArgs",
    "PodSpec",
    "PodTemplate",
    "Problem",
    "Queues",
    "RayClusterPool",
    "RayClusterPoolArgs",
    "RayServiceVllm",
    "RayServiceVllmArgs",
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
    "SharedModelVolume",
    "SharedVolumeArgs",
    "SingleNodeVllm",
    "SingleNodeVllmArgs",
    "Site",
    "Spot",
    "StandaloneRouter",
    "SubGroupPolicy",
    "Team",
    "TeamNamespace",
    "TeamNamespaceArgs",
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
