"""Reading the roles of a DisaggregatedSet. What they share with a LeaderWorkerSet is read by ``groups``."""

from dataclasses import dataclass
from typing import Any, Final

from pulumi_lws.rules.groups import Groups, groups_of, items
from pulumi_lws.rules.rule import RegisteredObject
from pulumi_lws.rules.values import UNKNOWN, Unknown, value_at, whole_number

BY_WEBHOOK: Final = (
    "Refused by the webhook of DisaggregatedSets, which Helm installs only with enableDisaggregatedSet=true; without it"
)
"""How the reason of a rule begins whose breach the API server may take."""


@dataclass(frozen=True)
class Role:
    """One role.

    Attributes:
        manifest: The role.
        path: Where it stands.
        groups: Its groups.
    """

    manifest: Any
    path: str
    groups: Groups

    def path_to(self, *fields: str) -> str:
        """Return the path of a field; its own where nothing of it is known yet."""
        return self.path if self.manifest is UNKNOWN else ".".join((self.path, *fields))

    @property
    def name(self) -> Any:
        """Its name."""
        return value_at(self.manifest, "name")

    @property
    def mode(self) -> Any:
        """Who decides how many groups there are: ``Static`` or ``External``."""
        return value_at(self.manifest, "scaling", "mode", default="Static")


def roles_of(subject: RegisteredObject) -> list[Role]:
    """Return the roles of a DisaggregatedSet."""
    found = items(value_at(subject.properties, "spec", "roles"), "spec.roles")
    return [Role(role, path, groups) for (path, role), groups in zip(found, groups_of(subject), strict=True)]


def external_roles(subject: RegisteredObject) -> list[Role]:
    """Return the roles whose number of groups an autoscaler decides."""
    return [role for role in roles_of(subject) if role.mode == "External"]


def slices_of(subject: RegisteredObject) -> int | Unknown:
    """Return the number of copies of all roles."""
    return whole_number(value_at(subject.properties, "spec", "slices"), default=1)


def placement_of(subject: RegisteredObject) -> Any:
    """Return the type of the placement policy; None where slices may stand anywhere."""
    policy = value_at(subject.properties, "spec", "placementPolicy", "type")
    return policy if policy is UNKNOWN or policy in ("ExclusiveSlice", "ExclusiveTopology") else None
