"""A team as a Pulumi component."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from pulumi_lws.component import KUBERNETES_SDK_VERSION, Manifest, declared, raise_problems, type_token
from pulumi_lws.serving.settings import DeploymentArgs
from pulumi_lws.tenancy.checks import team_problems
from pulumi_lws.tenancy.manifests import namespace_of, team_objects
from pulumi_lws.tenancy.settings import Team
from pulumi_lws.tenancy.workloads import TeamWorkload, of_deployment


@dataclass(frozen=True)
class TeamNamespaceArgs:
    """What a :class:`TeamNamespace` is made from.

    Attributes:
        name: Name of the team.
        team: What was declared; a mapping is validated like the model.
        deployments: Its deployments of models by name; quota, network and level of pods follow from them.
        beside: What else runs in it, as the functions of ``pulumi_lws.tenancy.workloads`` describe it; they follow from
            it, too.
    """

    name: str
    team: Team | Mapping[str, Any] = field(default_factory=Team)
    deployments: Mapping[str, DeploymentArgs] = field(default_factory=dict)
    beside: Sequence[TeamWorkload] = ()


class TeamNamespace(pulumi.ComponentResource):
    """The namespace of a team: its quota, what passes its network, and who has which rights in it.

    Args:
        name: Pulumi name of the component.
        args: What to make.
        opts: Give the Kubernetes provider in ``providers``.

    Raises:
        DeclarationError: Something of the team would not run in it.
    """

    namespace: pulumi.Resource
    """The namespace."""
    objects: Mapping[str, pulumi.Resource]
    """Everything else in it; let deployments depend on it, so that their first pods find quota and defaults."""

    def __init__(self, name: str, args: TeamNamespaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        subject = f"Team {args.name}"
        team = declared(Team, args.team, subject)
        workloads = (*map(of_deployment, args.deployments.values()), *args.beside)
        raise_problems(team_problems({args.name: team}, {args.name: workloads}), subject)
        inputs = {"name": args.name, "team": team.model_dump(by_alias=True, exclude_none=True)}
        super().__init__("lws:index:TeamNamespace", name, inputs, opts)
        manifests = team_objects(args.name, team, workloads)
        own = pulumi.ResourceOptions(parent=self)
        kind = Patch if team.adopt else Manifest
        self.namespace = kind(f"{name}-namespace", manifests.pop("namespace"), own)
        inside = pulumi.ResourceOptions(parent=self, depends_on=[self.namespace])
        self.objects = {
            key: (Patch if key == "default-account" else Manifest)(f"{name}-{key}", manifest, inside)
            for key, manifest in manifests.items()
        }
        self.register_outputs({"namespace": namespace_of(args.name, team)})


class Patch(pulumi.CustomResource):
    """Fields of an object that somebody else makes: they are added to it, and taken back, but it stays."""

    def __init__(self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(
            f"{type_token(manifest)}Patch",
            name,
            dict(manifest),
            pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=KUBERNETES_SDK_VERSION), opts),
        )
