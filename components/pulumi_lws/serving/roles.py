"""A deployment as its roles, each with everything decided: what plan, checks and manifests are made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pulumi_lws.facts import labels
from pulumi_lws.facts.models import ModelArchitecture
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.parallelism import GroupShape
from pulumi_lws.rules.rule import major_and_minor
from pulumi_lws.serving.engines.engine import Behaviour, InferenceEngine, Launch, RoleName
from pulumi_lws.serving.scaling import manifests as scaling
from pulumi_lws.serving.settings import (
    DisaggregatedVllmArgs,
    ModelSettings,
    RoleSettings,
    gpus_of_copy,
)
from pulumi_lws.serving.sources.loading import Loading
from pulumi_lws.workloads import scale_targets

API_PORT = 8000
"""Port on which every deployment is reached, and engines serve unless a routing sidecar has it."""

_SURGE_ALONE_SINCE = (0, 9)
"""Version of LWS from which on a rollout may do with copies on top alone; an older one takes none down and none up."""

BEHIND_SIDECAR_PORT = 8200
"""Port of an engine behind a routing sidecar (llm-d's own default)."""


@dataclass(frozen=True)
class Role:
    """One role of a deployment: a workload of its own.

    Attributes:
        name: What it does.
        path: Where its settings stand in the declaration; empty for the deployment itself.
        deployment_name: Name of the deployment.
        workload: Name of its workload.
        namespace: Namespace of its workload.
        deployment: What all roles share.
        settings: What it decides for itself.
        pool: Its pool.
        others_gpus: GPUs of the pool that everything else takes at most.
        siblings_surge_gpus: GPUs of the pool that one copy on top of each other role of the deployment takes: the roles
            of a deployment roll together.
        shape: How one copy lies on pods.
        engine: Its engine.
        launch: What the engine is told.
        behaviour: What the engine says of the launch.
        loading: How the weights get into the pods.
        architecture: What sizes follow from; None where nobody said.
        is_deployment: Whether it is a Deployment instead of a LeaderWorkerSet.
        selector: Labels of all its pods.
    """

    name: RoleName
    path: str
    deployment_name: str
    workload: str
    namespace: str
    deployment: ModelSettings
    settings: RoleSettings
    pool: GpuPool
    others_gpus: int
    siblings_surge_gpus: int
    shape: GroupShape
    engine: InferenceEngine
    launch: Launch
    behaviour: Behaviour
    loading: Loading
    architecture: ModelArchitecture | None
    is_deployment: bool
    selector: Mapping[str, str]

    @property
    def is_on_islands(self) -> bool:
        """Whether its groups span nodes, and so need an island each."""
        return self.shape.size > 1

    @property
    def keeps_islands(self) -> bool:
        """Whether LWS keeps each island for one group, and not Kueue."""
        return self.is_on_islands and self.deployment.placement == "exclusive"

    @property
    def engine_kind(self) -> Literal["vllm", "sglang", "custom"]:
        """Kind of its engine."""
        return self.deployment.engine.kind

    @property
    def is_scaled_by_role(self) -> bool:
        """Whether it is a role of a DisaggregatedSet, which has a scaler of its own."""
        return isinstance(self.deployment, DisaggregatedVllmArgs) and self.deployment.backend == "disaggregated-set"

    @property
    def scale_target(self) -> Mapping[str, str]:
        """What an autoscaler of the role aims at."""
        if self.is_deployment:
            return scaling.deployment(self.workload)
        if self.is_scaled_by_role:
            return scale_targets.role_scaler(self.deployment_name, self.name)
        return scale_targets.leader_worker_set(self.workload)

    @property
    def reporting_pods(self) -> str:
        """Regular expression of the names of the pods that report metrics."""
        if self.is_deployment:
            return scaling.deployment_pods(self.workload)
        leaders = self.behaviour.serves == "leader"
        if self.is_scaled_by_role:
            return scaling.role_pods(self.deployment_name, self.name, leaders=leaders)
        return scaling.leader_pods(self.workload) if leaders else scaling.group_pods(self.workload)

    @property
    def pool_capacity(self) -> int:
        """Copies that its pool holds while nothing else runs there."""
        if self.is_on_islands:
            return self.pool.islands
        return self.pool.most_nodes * self.shape.pods_per_node

    @property
    def free_capacity(self) -> int:
        """Copies that its pool holds beside everything else."""
        left = (self.pool.gpus - self.others_gpus) // gpus_of_copy(self.settings, self.pool)
        return max(min(left, self.pool_capacity), 0)

    @property
    def nodes(self) -> int:
        """Nodes that its copies run on at most."""
        copies = self.settings.most_replicas
        return copies * self.shape.size if self.is_on_islands else -(-copies // self.shape.pods_per_node)

    @property
    def weight_bytes(self) -> int | None:
        """Bytes of the model's weights; None where nobody said."""
        return self.architecture.weight_bytes if self.architecture else None

    @property
    def surge(self) -> int:
        """Copies on top during a rollout: one where the pool has room for it, else one copy is down at a time."""
        if self.settings.surge is not None:
            return self.settings.surge
        if major_and_minor(self.deployment.lws_version) < _SURGE_ALONE_SINCE and not self.is_deployment:
            return 0
        copies = self.settings.most_replicas + 1
        gpus = copies * gpus_of_copy(self.settings, self.pool) + self.others_gpus + self.siblings_surge_gpus
        return 1 if gpus <= self.pool.gpus and copies <= self.pool_capacity else 0

    @property
    def serving_selector(self) -> Mapping[str, str]:
        """Labels of the pods that answer requests, whatever makes them.

        So after a change of kind or backend the old ones answer until the new ones do.
        """
        role = {} if self.name == "serve" else {labels.ROLE: self.name}
        return {labels.DEPLOYMENT: self.deployment_name, labels.SERVES: "true", **role}
