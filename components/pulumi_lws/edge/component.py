"""A gateway in front of models as a Pulumi component."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_lws.component import Manifest, declared, raise_problems
from pulumi_lws.edge.checks import gateway_problems
from pulumi_lws.edge.manifests import edge_objects, urls
from pulumi_lws.edge.settings import InferenceGatewayArgs


class InferenceGateway(pulumi.ComponentResource):
    """The door to deployments of models: Envoy Gateway with TLS, authentication and limits, open for inference only.

    Args:
        name: Pulumi name of the component.
        args: What to make; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``; Envoy Gateway, the namespaces and the Secrets of keys and
            certificates in ``depends_on``.

    Raises:
        DeclarationError: The gateway would let in too much, or too little.
    """

    urls: Mapping[str, list[str]]
    """Addresses of the OpenAI API by route."""

    def __init__(
        self, name: str, args: InferenceGatewayArgs | Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        subject = f"InferenceGateway {name}"
        args = declared(InferenceGatewayArgs, args, subject)
        raise_problems(gateway_problems(args), subject)
        super().__init__("lws:index:InferenceGateway", name, args.model_dump(by_alias=True, exclude_none=True), opts)
        self.objects: dict[str, Manifest] = {}
        kind, before = "", list[Manifest]()
        for key, manifest in edge_objects(args).items():
            # Nothing is open before who may come in is said, and it is closed again before that goes.
            if manifest["kind"] != kind:
                kind, before = manifest["kind"], list(self.objects.values())
            own = pulumi.ResourceOptions(parent=self, depends_on=before)
            self.objects[key] = Manifest(f"{name}-{key}", manifest, own)
        self.urls = urls(args)
        self.register_outputs({"urls": self.urls})
