"""The upstream workload APIs as Pulumi components."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_lws.component import Manifest, declared, raise_problems
from pulumi_lws.rules.judging import judge
from pulumi_lws.workloads import manifests
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs


class LeaderWorkerSet(pulumi.ComponentResource):
    """A LeaderWorkerSet: groups of one leader and its workers, made, restarted and rolled as one.

    Args:
        name: Pulumi name of the component.
        args: What to make; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``, and what installs the CRD in ``depends_on``.

    Raises:
        DeclarationError: The API server would refuse the declaration.
    """

    def __init__(
        self,
        name: str,
        args: LeaderWorkerSetArgs | Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        subject = f"LeaderWorkerSet {name}"
        args = declared(LeaderWorkerSetArgs, args, subject)
        manifest = manifests.leader_worker_set(args)
        raise_problems(judge(manifest, args.target), subject)
        super().__init__("lws:index:LeaderWorkerSet", name, args.model_dump(by_alias=True, exclude_none=True), opts)
        minutes = f"{args.wait_minutes}m" if manifests.waits(args) else None
        self.object = Manifest(
            name,
            manifest,
            pulumi.ResourceOptions(
                parent=self,
                custom_timeouts=pulumi.CustomTimeouts(create=minutes, update=minutes),
                ignore_changes=["spec.replicas"] if args.scaled_elsewhere else None,
            ),
        )
        self.register_outputs({"name": args.name, "namespace": args.namespace})
