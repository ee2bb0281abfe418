"""CustomResourceDefinitions of a lab: upstream ones where a folder with them is given, else permissive stand-ins."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab.cluster.kinds import KINDS, Kind
from lab.errors import LabError

SOURCE = "pulumi-lws/crd-source"
"""Annotation on each CustomResourceDefinition: the release that it comes from, or ``stand-in``."""
STAND_IN = "stand-in"

_RELEASE = re.compile(r"(?P<component>.+)-(?P<version>\d+(?:\.\d+)*)")


@dataclass(frozen=True)
class Release:
    """A folder of upstream definitions, such as ``lws-0.10.0``.

    Attributes:
        component: Project that it belongs to.
        version: Its version.
        folder: Where the files stand.
        whole: Whether all kinds in it are installed, or only those of the table: each large schema costs the API server
            up to a second.
    """

    component: str
    version: str
    folder: Path
    whole: bool = False

    @property
    def name(self) -> str:
        """Component and version."""
        return f"{self.component}-{self.version}"


@dataclass(frozen=True)
class Definitions:
    """The definitions that a lab installs: upstream ones as far as there are any, else stand-ins.

    Attributes:
        releases: Upstream releases; a later one wins over an earlier one.
        left_out: Components whose kinds a program is to install itself.
    """

    releases: tuple[Release, ...] = ()
    left_out: frozenset[str] = frozenset()

    @property
    def sources(self) -> list[str]:
        """Names of the releases, and of what is left out."""
        return [*(release.name for release in self.releases), *(f"no {name}" for name in sorted(self.left_out))]

    def read(self) -> list[dict[str, Any]]:
        """Read all definitions.

        Raises:
            LabError: A file is not YAML.
        """
        found = {kind.name: stand_in(kind) for kind in KINDS if kind.component not in self.left_out}
        for release in self.releases:
            for path in sorted(release.folder.glob("*.yaml")):
                for definition in _read(path, release.name):
                    if release.whole or definition["metadata"]["name"] in found:
                        found[definition["metadata"]["name"]] = definition
        return list(found.values())


def chosen_releases(folder: Path, pinned: Mapping[str, str]) -> list[Release]:
    """One release of each component in ``folder``: the pinned one where it is there, else the newest.

    Args:
        folder: Where ``<component>-<version>/*.yaml`` stand.
        pinned: Version of each component that must be taken where it is there.

    Raises:
        LabError: The folder is missing.
    """
    if not folder.is_dir():
        raise LabError(
            f"LWS_LAB_CRDS names {folder}, which is no folder.",
            "Name a folder that holds <component>-<version>/*.yaml, or unset LWS_LAB_CRDS to use stand-ins.",
        )
    releases = defaultdict(list)
    for path in sorted(folder.iterdir()):
        if path.is_dir() and (match := _RELEASE.fullmatch(path.name)):
            releases[match["component"]].append(Release(match["component"], match["version"], path))
    return [
        max(found, key=lambda release: (release.version == pinned.get(release.component), _order(release.version)))
        for found in releases.values()
    ]


def stand_in(kind: Kind) -> dict[str, Any]:
    """A definition that accepts every object of ``kind`` and has the subresources of the real one."""
    subresources: dict[str, Any] = {"status": {}}
    if kind.replicas_selector:
        subresources["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": kind.replicas_selector,
        }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": kind.name,
            "annotations": {
                SOURCE: STAND_IN,
                # Groups under k8s.io are refused without a word on their approval.
                "api-approved.kubernetes.io": "unapproved, stand-in of a lab",
            },
        },
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
            },
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [
                {
                    "name": kind.version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                    "subresources": subresources,
                }
            ],
        },
    }


def served(definition: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    """What the API server must serve once it took ``definition``: (group, version, plural)."""
    spec = definition["spec"]
    return {
        (spec["group"], version["name"], spec["names"]["plural"]) for version in spec["versions"] if version["served"]
    }


def _read(path: Path, source: str) -> list[dict[str, Any]]:
    try:
        # The loader in C reads the megabytes of pod templates ten times faster.
        documents = list(yaml.load_all(path.read_bytes(), yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise LabError(f"{path} is not YAML.", "Repair it or take it away.", str(error)) from error
    definitions = [document for document in documents if document and document["kind"] == "CustomResourceDefinition"]
    for definition in definitions:
        definition["metadata"].setdefault("annotations", {})[SOURCE] = source
    return definitions


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))
