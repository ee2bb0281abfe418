"""Caches as Pulumi components."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_lws.caches.node_models import NodeModelArgs, node_model_objects
from pulumi_lws.caches.pre_pull import ImagePrePullArgs, pre_pull_objects
from pulumi_lws.caches.shared_volumes import SharedVolumeArgs, copy_jobs, copy_minutes, volume_objects
from pulumi_lws.component import Manifest, declared


class ImagePrePull(pulumi.ComponentResource):
    """Pulls the images of a pool's deployments onto its nodes as soon as they stand.

    Args:
        name: Pulumi name of the component.
        args: Which images, on which pools; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``, and the namespace in ``depends_on``. Deployments need not
            wait for it.
    """

    def __init__(
        self, name: str, args: ImagePrePullArgs | Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        args = declared(ImagePrePullArgs, args, f"ImagePrePull {name}")
        super().__init__("lws:index:ImagePrePull", name, _inputs(args), opts)
        made: list[pulumi.Resource] = []
        for key, manifest in pre_pull_objects(args).items():
            # The first is the priority, without which no pod is made.
            made.append(Manifest(f"{name}-{key}", manifest, _child(self, made[:1])))
        self.register_outputs({"pools": list(args.images)})


class NodeModelCache(pulumi.ComponentResource):
    """Keeps the weights of a model on the disks of every node of static pools.

    Args:
        name: Pulumi name of the component.
        args: Which weights, on which pools; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``, and namespace and pools in ``depends_on``. Pods of
            deployments wait by themselves until the weights are whole.
    """

    def __init__(
        self, name: str, args: NodeModelArgs | Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        args = declared(NodeModelArgs, args, f"NodeModelCache {name}")
        super().__init__("lws:index:NodeModelCache", name, _inputs(args), opts)
        for key, manifest in node_model_objects(args).items():
            Manifest(f"{name}-{key}", manifest, _child(self))
        self.register_outputs({"path": args.path})


class SharedModelVolume(pulumi.ComponentResource):
    """A shared volume with the weights of models: its claim, and Jobs that copy onto it.

    Args:
        name: Pulumi name of the component.
        args: The volume; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``, and the namespace, the add-on with the CSI driver and the
            role of the service accounts in ``depends_on``. What depends on the component waits for its copies.
    """

    claim: pulumi.Output[str]
    """Name of the claim."""

    def __init__(
        self, name: str, args: SharedVolumeArgs | Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        args = declared(SharedVolumeArgs, args, f"SharedModelVolume {name}")
        super().__init__("lws:index:SharedModelVolume", name, _inputs(args), opts)
        made: list[pulumi.Resource] = []
        for key, manifest in volume_objects(args).items():
            made.append(Manifest(f"{name}-{key}", manifest, _child(self, made[-1:])))
        for key, job in copy_jobs(args).items():
            # The Job ends itself in time, and says why; Pulumi gives up only after it.
            minutes = f"{copy_minutes(args.volume.copies[key]) + 5}m"
            timeouts = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create=minutes, update=minutes))
            Manifest(f"{name}-copy-{key}", job, pulumi.ResourceOptions.merge(_child(self, made), timeouts))
        self.claim = pulumi.Output.from_input(args.name)
        self.register_outputs({"claim": self.claim})


def _inputs(args: ImagePrePullArgs | NodeModelArgs | SharedVolumeArgs) -> dict[str, Any]:
    return args.model_dump(by_alias=True, exclude_none=True)


def _child(parent: pulumi.Resource, before: list[pulumi.Resource] | None = None) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(parent=parent, depends_on=before or [])
