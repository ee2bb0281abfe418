"""What the package knows of an add-on: one pattern, which every module of this folder fills."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic.alias_generators import to_camel

from pulumi_lws.addons.settings import AddOn, AddOnName
from pulumi_lws.facts.versions import PINS
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.nodes.settings import GpuPool


@dataclass(frozen=True)
class Site:
    """What an add-on must know of where it is installed.

    Attributes:
        mode: Who makes the nodes; None on a cluster that is only reached.
        is_new: Whether the cluster itself is made here, so that nothing is on it that is not declared.
        pools: The pools of GPU nodes.
        image: Alias of the image of pools that name none.
        installed: The add-ons that are installed together.
        manager_values: Values that other parts of a platform ask of add-ons, such as Kueue's configuration, by the name
            of the add-on.
    """

    mode: Mode | None = None
    is_new: bool = False
    pools: Mapping[str, GpuPool] = field(default_factory=dict)
    image: str = ""
    installed: frozenset[AddOnName] = frozenset()
    manager_values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class UpgradeStep:
    """A release past which an upgrade needs a hand.

    Attributes:
        to: First version of the release; an upgrade from below to it or past it crosses the step.
        breaks: What the upgrade does to what runs, with its source.
        procedure: What to do first, so that nothing is lost.
        mended: First version of each line of releases that no longer breaks it; all after the last of them do not.
    """

    to: tuple[int, ...]
    breaks: str
    procedure: str
    mended: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Password:
    """A Secret with a password that is made up once and then kept.

    Attributes:
        name: Name of the Secret, in the namespace of the add-on.
        key: Its key with the password.
        fixed: Its other keys.
    """

    name: str
    key: str
    fixed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Exclusion:
    """Why an add-on must not be combined with another.

    Attributes:
        values: Path of the values of its chart by which the two get in each other's way.
        why: What goes wrong, after "since".
        instead: What to do other than removing the other, after "or".
    """

    values: tuple[str, ...]
    why: str
    instead: str


@dataclass(frozen=True)
class Oldest:
    """The oldest version of an add-on that does what the package makes.

    Attributes:
        version: That version.
        why: What older ones lack, after "since".
    """

    version: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class AddOnFacts:
    """An add-on.

    Attributes:
        name: Its field in the declaration.
        title: Its name for people.
        purpose: What it is there for, in a few words.
        pin: Its entry in the pin table, whose source ends with the name of the chart.
        release: Name of the release. It is fixed, since names of objects, labels and DNS are made from it.
        namespace: Namespace where upstream installs it; empty where it has no objects in one.
        manifests: Address of its one YAML file, with ``{version}``, where upstream has no chart.
        values: Values of ours, from the declaration and the site.
        before: Objects that its chart leaves to hooks of Helm, which are not run here, from version, namespace and
            values.
        password: A Secret that its chart would make up anew at every update.
        after: Add-ons that come first where they are installed, too.
        needs: Add-ons without which it does not work; on a cluster that exists they may be there already.
        elsewhere: Path of the values by which a user names what it needs where that is not on the cluster.
        excludes: Add-ons that it must not be combined with; each pair stands at one of the two.
        not_on: Modes on which it must not be installed, and why.
        doubtful_on: Modes on which it is installed at one's own risk, and what may go wrong.
        crds: Names of the CRDs that its chart brings.
        controllers: Deployments and DaemonSets of the chart that have pods, as ``kind/name``, with its fixed release.
        images: Values of its chart that say where its images come from, with dots; each names an image or a registry.
        image_region: Region whose ECR its images come from; empty where they come from a public registry.
        oldest: The oldest version that will do.
        steps: Releases past which an upgrade needs a hand.
    """

    name: AddOnName
    title: str
    purpose: str
    pin: str
    release: str
    namespace: str
    manifests: str = ""
    values: Callable[[AddOn, Site], dict[str, Any]] = lambda _declared, _site: {}
    before: Callable[[str, str, Mapping[str, Any]], list[dict[str, Any]]] = lambda _version, _namespace, _values: []
    password: Password | None = None
    after: tuple[AddOnName, ...] = ()
    needs: tuple[AddOnName, ...] = ()
    elsewhere: tuple[str, ...] = ()
    excludes: Mapping[AddOnName, Exclusion] = field(default_factory=dict)
    not_on: Mapping[Mode, str] = field(default_factory=dict)
    doubtful_on: Mapping[Mode, str] = field(default_factory=dict)
    crds: tuple[str, ...] = ()
    controllers: tuple[str, ...] = ()
    images: tuple[str, ...] = ("image.repository",)
    image_region: str = ""
    oldest: Oldest | None = None
    steps: tuple[UpgradeStep, ...] = ()

    @property
    def key(self) -> str:
        """Its field as a stack file spells it."""
        return to_camel(self.name)

    @property
    def chart(self) -> str:
        """Name of the chart."""
        return PINS[self.pin].source.rpartition("/")[2]

    @property
    def source(self) -> str:
        """Where upstream's chart lies: a registry or a repository."""
        return PINS[self.pin].source.rpartition("/")[0]
