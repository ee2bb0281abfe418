"""How one copy of a model is split over GPUs, pods and nodes."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from pulumi_lws.declarations import Declaration, PositiveCount

Ranks = Annotated[PositiveCount, Field(le=1024)]
"""Ranks of one kind: the widest published deployment has 320, of experts."""


class Parallelism(Declaration):
    """How one copy of the model is split over GPUs: tensor by pipeline by data ranks, one GPU each.

    There are at most 1024 ranks of each kind.
    """

    tensor: Ranks = 1
    """GPUs that share every layer. Default 1. Keep it inside a node."""
    pipeline: Ranks = 1
    """Stages that the layers are dealt to; spans nodes. Default 1."""
    data: Ranks = 1
    """Ranks that each take requests of their own and share the experts of a mixture of experts. Default 1. A dense
    model gains nothing from it: use replicas."""
    expert: bool = False
    """Whether each rank holds whole experts instead of a slice of every one. vLLM deals them to all
    ranks of tensor and data parallelism; their number is not chosen. Default false."""

    @property
    def world(self) -> int:
        """GPUs of one data rank (vLLM's world size)."""
        return self.tensor * self.pipeline

    @property
    def gpus(self) -> int:
        """GPUs of one copy."""
        return self.world * self.data

    @property
    def expert_ranks(self) -> int:
        """GPUs that the experts are dealt to; 1 where they are not."""
        return self.tensor * self.data if self.expert else 1

    def __str__(self) -> str:
        """Say it as people do: ``TP8 PP2``."""
        parts = [("TP", self.tensor), ("PP", self.pipeline), ("DP", self.data)]
        shown = [f"{name}{count}" for name, count in parts if count > 1] or ["TP1"]
        return " ".join([*shown, "EP"] if self.expert else shown)


@dataclass(frozen=True)
class GroupShape:
    """How one copy lies on pods.

    Attributes:
        size: Pods of one group, the leader included.
        gpus_per_pod: GPUs of each pod.
        gpus_per_node: GPUs of a node of its pool.
    """

    size: int
    gpus_per_pod: int
    gpus_per_node: int

    @property
    def pods_per_node(self) -> int:
        """Pods that share one node."""
        return self.gpus_per_node // self.gpus_per_pod

    @property
    def is_packed(self) -> bool:
        """Whether several pods share a node."""
        return self.pods_per_node > 1

    def data_per_pod(self, parallelism: Parallelism) -> int:
        """Data ranks whose GPUs all are in one pod; 1 where a rank spans pods."""
        return max(self.gpus_per_pod // parallelism.world, 1)


def group_shape(parallelism: Parallelism, gpus_per_node: int) -> GroupShape:
    """Lay one copy on pods: whole-node pods where it needs a node or more, else one pod that shares a node."""
    gpus_per_pod = min(parallelism.gpus, gpus_per_node)
    return GroupShape(-(-parallelism.gpus // gpus_per_pod), gpus_per_pod, gpus_per_node)
