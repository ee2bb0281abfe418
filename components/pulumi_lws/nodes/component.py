"""A pool of GPU nodes as a Pulumi component: placement groups, reservations and what Karpenter makes nodes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from pulumi_lws.cluster.component import sdk
from pulumi_lws.component import Manifest, declared, raise_problems
from pulumi_lws.nodes.capacity import Reservation
from pulumi_lws.nodes.checks import pool_problems
from pulumi_lws.nodes.cluster import NodeCluster
from pulumi_lws.nodes.groups import NodeGroup, node_groups, placement_group_name
from pulumi_lws.nodes.manifests import node_objects
from pulumi_lws.nodes.node_classes import aws_tags
from pulumi_lws.nodes.node_pools import LEAST_CONSOLIDATE_AFTER_MINUTES
from pulumi_lws.nodes.settings import GpuPool


@dataclass(frozen=True)
class GpuNodePoolArgs:
    """What a :class:`GpuNodePool` is made from.

    Attributes:
        name: Name of the pool, which deployments and labels use.
        pool: The pool, as in a stack file; a mapping is validated like the model.
        cluster: The cluster; its references may be outputs.
        start_budget_minutes: Longest start budget of the deployments on the pool.
    """

    name: str
    pool: GpuPool | Mapping[str, Any]
    cluster: NodeCluster
    start_budget_minutes: int = LEAST_CONSOLIDATE_AFTER_MINUTES


class GpuNodePool(pulumi.ComponentResource):
    """A pool of GPU nodes: a NodePool and a node class for each island, with their placement groups.

    A reservation without an id is made here, and paid for until the pool is destroyed. Capacity blocks never are.

    Args:
        name: Pulumi name of the component.
        args: What to make.
        opts: Give the Kubernetes and the AWS provider in ``providers``, and Karpenter (or the cluster) in
            ``depends_on``, so that nodes are drained before it goes.

    Raises:
        DeclarationError: AWS or Karpenter would refuse the pool, or it would never have a node.
    """

    def __init__(self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        subject, cluster = f"Pool {args.name}", args.cluster
        pool = declared(GpuPool, args.pool, subject)
        problems = pool_problems(
            args.name,
            pool,
            cluster.mode,
            zones=tuple(cluster.subnets),
            image=cluster.image,
            start_budget_minutes=args.start_budget_minutes,
        )
        raise_problems(problems, subject)
        inputs = {
            "name": args.name,
            "cluster": cluster.name,
            "mode": cluster.mode,
            "pool": pool.model_dump(by_alias=True, exclude_none=True),
        }
        super().__init__("lws:index:GpuNodePool", name, inputs, opts)
        self._name = name
        made = [] if cluster.mode == "lab" else self._capacity(args.name, pool, cluster)
        self.objects: dict[str, Manifest] = {}
        for key, manifest in node_objects(args.name, pool, cluster, args.start_budget_minutes).items():
            # A NodePool follows its class, so that destroying drains the nodes while what they are made from is there.
            before = [*made, *list(self.objects.values())[-1:]] if manifest["kind"] == "NodePool" else made
            own = pulumi.ResourceOptions(parent=self, depends_on=before)
            self.objects[key] = Manifest(f"{name}-{key}", manifest, own)
        self.register_outputs({"name": args.name, "nodes": pool.most_nodes, "gpus": pool.gpus})

    def _capacity(self, name: str, pool: GpuPool, cluster: NodeCluster) -> list[Any]:
        """Make placement groups and reservations."""
        reserves = isinstance(pool.capacity, Reservation) and pool.capacity.id is None
        made: list[Any] = []
        for group in node_groups(name, pool) if pool.is_placed or reserves else []:
            tags = aws_tags(name, pool, group, cluster)
            place = self._placement_group(group, cluster, tags) if pool.is_placed else None
            made += [place] if place else []
            if reserves:
                made.append(self._reservation(pool, group, tags, place))
        return made

    def _placement_group(self, group: NodeGroup, cluster: NodeCluster, tags: dict[str, str]) -> Any:
        return sdk("pulumi_aws").ec2.PlacementGroup(
            f"{self._name}-{group.name}-placement",
            name=placement_group_name(cluster, group),
            strategy="cluster",
            tags=tags,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _reservation(self, pool: GpuPool, group: NodeGroup, tags: dict[str, str], place: Any) -> Any:
        ends = pool.capacity.ends if isinstance(pool.capacity, Reservation) else None
        return sdk("pulumi_aws").ec2.CapacityReservation(
            f"{self._name}-{group.name}-reservation",
            instance_type=pool.instance_type,
            instance_platform="Linux/UNIX",
            instance_count=group.nodes,
            availability_zone=pool.zone,
            # Only the pool's own node classes may use it.
            instance_match_criteria="targeted",
            end_date_type="limited" if ends else "unlimited",
            end_date=ends,
            placement_group_arn=place.arn if place else None,
            tags=tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
