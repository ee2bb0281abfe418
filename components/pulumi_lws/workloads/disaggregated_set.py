"""The DisaggregatedSet API, whole and typed: several roles of one model, rolled out together.

Shape, names and defaults are those of the API server. What a role runs is a LeaderWorkerSet, so its spec is the one of
``workloads/settings.py`` with two differences that the controller makes. Source: ``api/disaggregatedset/v1``,
``pkg/webhooks/disaggregatedset`` and ``pkg/controllers/disaggregatedset`` of LWS 0.10, and its CRD.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pulumi_lws.declarations import NULLS_ABSENT, DnsLabel, PositiveCount, UpstreamDeclaration
from pulumi_lws.planning.problems import invalid
from pulumi_lws.workloads.settings import LeaderWorkerSetSpec, RollingUpdate, RolloutStrategy, WorkloadArgs

MINIMUM_ROLES = 2
MAXIMUM_ROLES = 10
"""Fewest and most roles (bounds of the CRD)."""

MAXIMUM_SLICES = 100
"""Most copies of all roles (a bound of the CRD)."""


class RoleScaling(UpstreamDeclaration):
    """Who decides how many groups a role has (``roles[].scaling``). Since LWS 0.10."""

    mode: Literal["Static", "External"] = "Static"
    """``Static``: ``spec.replicas`` does. ``External``: the DisaggregatedSetRoleScaler ``<name>-<role>`` does, which
    the controller makes and an autoscaler drives; ``spec.replicas`` is ignored. Default Static."""


class RoleMetadata(UpstreamDeclaration):
    """Metadata that the LeaderWorkerSets of a role get. A change reaches them with the next change of a template."""

    name: str | None = None
    """Taken and ignored: the controller names them."""
    namespace: str | None = None
    """Taken and ignored: they live where their DisaggregatedSet lives."""
    labels: Annotated[Mapping[str, str], NULLS_ABSENT] = {}
    """Labels, such as the name of a Kueue queue. Default none."""
    annotations: Annotated[Mapping[str, str], NULLS_ABSENT] = {}
    """Annotations, such as an exclusive topology. Default none."""
    finalizers: tuple[str, ...] = ()
    """Taken and ignored."""


class RoleRolloutStrategy(RolloutStrategy):
    """How a change of any template reaches the groups of a role. Read at each step, so a change counts at once."""

    rolling_update_configuration: RollingUpdate = RollingUpdate(max_unavailable=0, max_surge=1)
    """Its bounds; ``partition`` must stay 0. Default: one group on top, none out, unlike in a LeaderWorkerSet. Once it
    is declared, a field left out is the one of a LeaderWorkerSet: one group out, none on top."""


class RoleSpec(LeaderWorkerSetSpec):
    """The spec of a role's LeaderWorkerSets.

    A change of ``leaderWorkerTemplate`` rolls all roles. A change of ``networkConfig`` or ``startupPolicy`` reaches
    only groups made after the next change of a template, because the controller never patches either of them.
    """

    rollout_strategy: RoleRolloutStrategy = RoleRolloutStrategy()
    """How changes are rolled out. Default: one group at a time, on top of the old ones."""


class Role(UpstreamDeclaration):
    """One role, such as prefill or decode (``roles[]``)."""

    name: Annotated[
        str, Field(min_length=1, max_length=63, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", examples=["prefill"])
    ]
    """Its name: lower-case letters, digits and ``-``, 1 to 63 characters."""
    scaling: RoleScaling | None = None
    """Who decides how many groups there are. Default: ``spec.replicas``. Since LWS 0.10."""
    metadata: RoleMetadata = RoleMetadata()
    """Labels and annotations of its LeaderWorkerSets. Default none."""
    spec: RoleSpec
    """What it runs."""

    @property
    def is_external(self) -> bool:
        """Whether an autoscaler decides how many groups there are."""
        return self.scaling is not None and self.scaling.mode == "External"


class PlacementPolicy(UpstreamDeclaration):
    """Where slices may stand (``placementPolicy``). A change reaches groups made after the next change of a template.

    Since LWS 0.10.
    """

    type: Literal["None", "ExclusiveSlice", "ExclusiveTopology"] = "None"
    """``ExclusiveSlice``: all roles of a slice in one topology domain, and no other slice of this set in it.
    ``ExclusiveTopology``: and no slice of any other set of the namespace either. Default None."""
    topology: str | None = None
    """Key of the node label whose values are the domains. Required unless the type is ``None``."""


def _several(roles: Any) -> Any:
    # Not by bounds of the field: pydantic would count only the roles that it could read.
    if isinstance(roles, list | tuple) and not MINIMUM_ROLES <= len(roles) <= MAXIMUM_ROLES:
        fix = "Declare a LeaderWorkerSet for a model with a single role."
        raise invalid(f"{MINIMUM_ROLES} to {MAXIMUM_ROLES} roles", fix)
    return roles


def _named_once(roles: tuple[Role, ...]) -> tuple[Role, ...]:
    twice = [name for name, count in Counter(role.name for role in roles).items() if count > 1]
    if twice:
        raise invalid("roles with names of their own", f"Rename all but one of those called {' and '.join(twice)}.")
    return roles


class DisaggregatedSetSpec(UpstreamDeclaration):
    """The spec of a DisaggregatedSet.

    The controller knows a revision by the roles' names and templates, in their order. So a new order, one role more or
    less, and a change of a single template each roll every group of every role.
    """

    slices: Annotated[PositiveCount, Field(le=MAXIMUM_SLICES)] = 1
    """Copies of all roles, 1 to 100, each rolled out by itself. Default 1. Since LWS 0.10."""
    placement_policy: PlacementPolicy | None = None
    """Where slices may stand. Default: anywhere. Since LWS 0.10."""
    roles: Annotated[tuple[Role, ...], BeforeValidator(_several), AfterValidator(_named_once)]
    """The roles, 2 to 10, each with a name of its own."""


PortNumber = Annotated[PositiveCount, Field(le=65535)]
"""A port, 1 to 65535."""


class DisaggregatedSetArgs(WorkloadArgs):
    """A DisaggregatedSet: roles that serve one model together, such as prefill and decode, and are rolled together."""

    spec: DisaggregatedSetSpec
    """The spec."""
    ports: Mapping[str, Mapping[DnsLabel, PortNumber]] = {}
    """Ports on which the leaders of a role serve, by role and by name. Each role that has any gets a Service
    ``<name>-<role>-leader`` over all its slices and revisions. Default none."""

    @model_validator(mode="after")
    def _ports_belong_to_roles(self) -> "DisaggregatedSetArgs":
        names = [role.name for role in self.spec.roles]
        for name in self.ports:
            if name not in names:
                raise invalid(", ".join(names), "Name a role of this set.", field="ports", found=name)
        return self
