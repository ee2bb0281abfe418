"""Ray on GPUs as Pulumi components."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pulumi

from pulumi_lws.component import Manifest, declared, raise_problems
from pulumi_lws.ray.checks import check
from pulumi_lws.ray.deciding import decide
from pulumi_lws.ray.manifests import render
from pulumi_lws.ray.settings import RayArgs, RayClusterPoolArgs, RayServiceVllmArgs


class RayWorkload(pulumi.ComponentResource):
    """What a service and a pool on Ray have in common; use one of them.

    Args:
        name: Pulumi name of the component.
        args: What to run; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``, and namespace and KubeRay operator in ``depends_on``, so
            that a service is deleted while the operator can still take its clusters away.

    Raises:
        DeclarationError: KubeRay would refuse it, it would never start, or it does not fit its pool.
    """

    ARGS: ClassVar[type[RayServiceVllmArgs] | type[RayClusterPoolArgs]]

    url: pulumi.Output[str | None]
    """Address inside the cluster: of the OpenAI API, of a pool that of its dashboard. None where a Gateway has it."""

    def __init__(
        self, name: str, args: RayArgs | Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        kind = type(self).__name__
        subject = f"{kind} {name}"
        args = declared(self.ARGS, args, subject)
        raise_problems(check(args), subject)
        super().__init__(f"lws:index:{kind}", name, args.model_dump(by_alias=True, exclude_none=True), opts)
        objects = render(decide(args))
        own = pulumi.ResourceOptions(parent=self)
        before = [Manifest(f"{name}-{key}", manifest, own) for key, manifest in objects.before.items()]
        minutes = f"{objects.update_minutes}m"
        self.cluster = Manifest(
            f"{name}-ray",
            objects.cluster,
            pulumi.ResourceOptions(
                parent=self,
                depends_on=before,
                custom_timeouts=pulumi.CustomTimeouts(create=minutes, update=minutes),
            ),
        )
        for key, manifest in objects.beside.items():
            Manifest(f"{name}-{key}", manifest, own)
        self.url = pulumi.Output.from_input(objects.url)
        self.register_outputs({"url": self.url})


class RayServiceVllm(RayWorkload):
    """A model behind Ray Serve: a RayService, who may reach its pods, and what keeps drains from them."""

    ARGS = RayServiceVllmArgs


class RayClusterPool(RayWorkload):
    """A Ray cluster for programs of one's own: a RayCluster, who may drive it, and what keeps drains from it."""

    ARGS = RayClusterPoolArgs


RAY_KINDS: Mapping[str, type[RayWorkload]] = {"ray-service-vllm": RayServiceVllm, "ray-cluster-pool": RayClusterPool}
"""Components by the ``kind`` of a stack file."""
