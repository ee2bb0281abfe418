"""What is installed of an add-on: chart, version, place and values, decided from the declaration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, Site
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.settings import AddOn, AddOns, Credentials
from pulumi_lws.facts.versions import PINS


@dataclass(frozen=True)
class Installation:
    """An add-on as it is installed.

    Attributes:
        facts: The add-on.
        version: Its version.
        namespace: Its namespace; empty where it has no objects in one.
        chart: Reference of the chart: an address in a registry, a path, or a name in ``repository``.
        repository: Address of the repository; None for a registry or a folder.
        manifests: One YAML file that is applied instead of the chart; None for the chart.
        values: Values of the chart.
        confirmed: Version to which a refused upgrade may go; None where nothing was confirmed.
        credentials: How that registry or repository is entered; None without.
    """

    facts: AddOnFacts
    version: str
    namespace: str
    chart: str
    repository: str | None = None
    manifests: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    confirmed: str | None = None
    credentials: Credentials | None = None

    @property
    def inputs(self) -> dict[str, Any]:
        """What the state keeps of it, by which the next update compares."""
        return {
            "addOn": self.facts.name,
            "version": self.version,
            "namespace": self.namespace,
            "source": self.manifests or "/".join(filter(None, (self.repository, self.chart))),
            "values": dict(self.values),
        }


def installation(facts: AddOnFacts, declared: AddOn, add_ons: AddOns, site: Site) -> Installation:
    """Decide how an add-on is installed."""
    version = declared.version or PINS[facts.pin].version
    location = declared.charts or add_ons.charts or facts.source
    is_repository = location.startswith(("https://", "http://"))
    values = merged(facts.values(declared, site), site.manager_values.get(facts.name, {}))
    return Installation(
        facts=facts,
        version=version,
        namespace=declared.namespace or facts.namespace,
        chart=facts.chart if is_repository else f"{location}/{facts.chart}",
        repository=location if is_repository else None,
        manifests=declared.manifests or _manifests(facts, version, location),
        values=merged(values, declared.values),
        confirmed=declared.confirm_upgrade_to,
        # Nobody else's registry gets to see them.
        credentials=add_ons.credentials if location == add_ons.charts else None,
    )


def namespaces_of(add_ons: AddOns) -> set[str]:
    """Return the namespaces that the add-ons make."""
    chosen = (declared.namespace or ADD_ONS[name].namespace for name, declared in add_ons.installed())
    return {namespace for namespace in chosen if namespace and not namespace.startswith("kube-")}


def _manifests(facts: AddOnFacts, version: str, location: str) -> str | None:
    """Return the one YAML file of an add-on without a chart; a folder of charts has it, too."""
    if not facts.manifests:
        return None
    is_folder = "://" not in location
    number = version.removeprefix("v")
    return f"{location}/{facts.release}.yaml" if is_folder else facts.manifests.format(version=number)


def merged(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Merge values field by field; null takes a field away, as in Helm, and a list takes the place of a list."""
    result = dict(ours)
    for key, value in theirs.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        else:
            result[key] = merged({}, value) if isinstance(value, Mapping) else value
    return result
