"""Queues as a Pulumi component."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_lws.component import Manifest, declared, raise_problems
from pulumi_lws.queues.checks import declaration_problems
from pulumi_lws.queues.manifests import queue_objects
from pulumi_lws.queues.settings import KueueQueuesArgs


class KueueQueues(pulumi.ComponentResource):
    """Kueue's flavors, cohorts, queues and priorities before the pools of a platform.

    Args:
        name: Pulumi name of the component.
        args: What to make; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``; Kueue and the namespaces in ``depends_on``. Deployments
            that join depend on this, so that they go before it.

    Raises:
        DeclarationError: Kueue would refuse the queues, or never admit anything.
    """

    def __init__(
        self, name: str, args: KueueQueuesArgs | Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        subject = f"KueueQueues {name}"
        args = declared(KueueQueuesArgs, args, subject)
        raise_problems(declaration_problems(args, args.pools), subject)
        super().__init__("lws:index:KueueQueues", name, args.model_dump(by_alias=True, exclude_none=True), opts)
        self.objects: dict[str, Manifest] = {}
        kind, before = "", list[Manifest]()
        for key, manifest in queue_objects(args, args.pools).items():
            if manifest["kind"] != kind:
                kind, before = manifest["kind"], list(self.objects.values())
            own = pulumi.ResourceOptions(
                parent=self,
                depends_on=before,
                # A local queue never changes its cluster queue.
                replacement_trigger=manifest.get("spec", {}).get("clusterQueue"),
                delete_before_replace=True,
            )
            self.objects[key] = Manifest(f"{name}-{key}", manifest, own)
        self.register_outputs({"namespaces": args.namespaces})
