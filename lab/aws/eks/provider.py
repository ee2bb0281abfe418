# ruff: noqa: N802 - the protocol names the methods
"""Answers the engine's calls for the package ``eks``: constructs its components."""

from typing import Any

import grpc
import pulumi
from pulumi import provider as sdk
from pulumi.errors import InputPropertyErrorDetails
from pulumi.provider.server import ProviderServicer
from pulumi.runtime import register_resource_module
from pulumi.runtime.proto import provider_pb2
from pulumi.runtime.rpc import ResourceModule
from semver import Version

from lab.aws import checking, tables
from lab.aws.cluster_access import ClusterAccess
from lab.aws.eks.addons import Addon, VpcCniAddon
from lab.aws.eks.children import register_references
from lab.aws.eks.cluster import Cluster
from lab.aws.eks.node_group import ManagedNodeGroup
from lab.aws.tables import UnknownTokenError
from lab.aws.wire import received

_SUPPORTED = ("Addon", "Cluster", "ManagedNodeGroup", "VpcCniAddon")


class EksProvider(ProviderServicer):
    """The provider.

    Args:
        access: How clusters are reached.
        engine: Address of the engine.
    """

    def __init__(self, access: ClusterAccess, engine: str) -> None:
        super().__init__(_Components(access), [], engine)
        register_references()
        register_resource_module("eks", "index", _Clusters())

    async def Construct(
        self, request: provider_pb2.ConstructRequest, context: "grpc.aio.ServicerContext[Any, Any]"
    ) -> provider_pb2.ConstructResponse:
        """Construct a component whose inputs the SDK's table allows."""
        try:
            findings = checking.check(tables.table(request.type), received(request.inputs))
        except UnknownTokenError as error:
            await context.abort(grpc.StatusCode.NOT_FOUND, str(error))
        if findings:
            details = [InputPropertyErrorDetails(property_path=path, reason=reason) for path, reason in findings]
            message = f"The inputs of {request.name} are not valid."
            await context.abort_with_status(self.create_grpc_invalid_properties_status(message, details))
        constructed: provider_pb2.ConstructResponse = await super().Construct(request, context)
        return constructed


class _Components(sdk.Provider):
    def __init__(self, access: ClusterAccess) -> None:
        super().__init__(tables.version("pulumi-eks"))
        self._access = access

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> sdk.ConstructResult:
        """Make a component with its children."""
        kind, chosen = resource_type.rpartition(":")[2], options or pulumi.ResourceOptions()
        made: Cluster | ManagedNodeGroup | Addon | VpcCniAddon
        if kind == "Cluster":
            made = Cluster(name, inputs, chosen, self._access)
        elif kind == "ManagedNodeGroup":
            made = ManagedNodeGroup(name, inputs, chosen)
        elif kind == "Addon":
            made = Addon(name, inputs, chosen)
        elif kind == "VpcCniAddon":
            made = VpcCniAddon(name, inputs, chosen)
        else:
            message = f"This stand-in does not have {resource_type}, only {', '.join(_SUPPORTED)}."
            raise pulumi.RunError(message)
        return sdk.ConstructResult(made.urn, made.outputs)


class _KnownCluster(pulumi.ComponentResource):
    """A cluster that an input refers to."""

    core: pulumi.Output[Any]

    def __init__(self, name: str, urn: str) -> None:
        super().__init__("eks:index:Cluster", name, {"core": None}, pulumi.ResourceOptions(urn=urn))


class _Clusters(ResourceModule):
    """Brings clusters back from references to them."""

    def version(self) -> Version:
        return Version.parse(tables.version("pulumi-eks"))

    def construct(self, name: str, typ: str, urn: str) -> pulumi.Resource:  # noqa: ARG002 - the base class names it
        return _KnownCluster(name, urn)
