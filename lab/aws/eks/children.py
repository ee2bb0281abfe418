"""Children of components: resources of other packages, by their types alone, so that no SDK needs to be loaded."""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi.runtime import register_resource_module
from pulumi.runtime.rpc import ResourceModule
from semver import Version

from lab.aws import tables

Inputs = Mapping[str, Any]


class Child(pulumi.CustomResource):
    """A resource of a type of ``aws``; its properties have the names of the wire.

    Args:
        token: The type.
        name: Its name in the program.
        inputs: Its properties; those that are None are left out.
        options: Its options.
    """

    def __init__(self, token: str, name: str, inputs: Inputs, options: pulumi.ResourceOptions) -> None:
        outputs = dict.fromkeys(tables.table(token)["outputs"])
        version = pulumi.ResourceOptions(version=tables.version(tables.package_of(token)))
        super().__init__(token, name, {**outputs, **inputs}, pulumi.ResourceOptions.merge(version, options))

    def output(self, name: str) -> pulumi.Output[Any]:
        """A property by its name on the wire."""
        output: pulumi.Output[Any] = self.__dict__[name]
        return output


class KubernetesProvider(pulumi.ProviderResource):
    """A provider of ``kubernetes``."""

    def __init__(self, name: str, inputs: Inputs, options: pulumi.ResourceOptions) -> None:
        version = pulumi.ResourceOptions(version=tables.version("pulumi-kubernetes"))
        super().__init__("kubernetes", name, dict(inputs), pulumi.ResourceOptions.merge(version, options))


class _Known(ResourceModule):
    """Brings resources of a module back from references to them."""

    def __init__(self, version: str) -> None:
        self._version = Version.parse(version)

    def version(self) -> Version:
        return self._version

    def construct(self, name: str, typ: str, urn: str) -> pulumi.Resource:
        return Child(typ, name, {}, pulumi.ResourceOptions(urn=urn))


def register_references() -> None:
    """Let inputs refer to resources of the modules that the components take."""
    for module in ("ec2/securityGroup", "ec2/securityGroupRule", "eks/cluster", "iam/instanceProfile", "iam/role"):
        register_resource_module("aws", module, _Known(tables.version("pulumi-aws")))
