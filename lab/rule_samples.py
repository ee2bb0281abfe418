"""The samples of the rules: objects as files, with what a rule says of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab.folders import PROJECT
from pulumi_lws.rules.rule import RegisteredObject, Rule, Target
from pulumi_lws.rules.values import UNKNOWN

SAMPLES = PROJECT / "tests" / "rules" / "samples"
KINDS = ("allowed", "denied", "bound", "unseen", "foreign")
"""What the samples of a rule must show: taken, refused, just at the bound, not known yet, and of a strange shape."""

_RELEASE = "helm.sh/Release"
"""A resource of the Kubernetes provider that is no object of Kubernetes."""


@dataclass(frozen=True)
class Sample:
    """An object that a rule judges.

    Attributes:
        path: Its file, ``<rule>/<kind>[-<what it shows>].yaml``.
        subject: The object.
        others: The other objects of the same program.
        target: The cluster that they are meant for; the newest where the file names none.
        values: Values of the rule's parameters; the defaults where the file names none.
        problems: What the rule says of the object.
    """

    path: Path
    subject: RegisteredObject
    others: tuple[RegisteredObject, ...]
    target: Target
    values: Mapping[str, Any]
    problems: tuple[str, ...]

    @property
    def name(self) -> str:
        """Rule and file."""
        return str(self.path.relative_to(SAMPLES))

    @property
    def rule(self) -> str:
        """Name of the rule."""
        return self.path.parent.name

    @property
    def kind(self) -> str:
        """One of ``KINDS``."""
        return self.path.stem.partition("-")[0]

    @property
    def together(self) -> tuple[RegisteredObject, ...]:
        """The objects of the program, the judged one first."""
        return self.subject, *self.others

    @property
    def manifests(self) -> list[dict[str, Any]]:
        """The objects of the program as YAML has them; none where it cannot hold one of them."""
        together = self.together
        if not all(each.kind and each.kind != _RELEASE and _is_known(each.properties) for each in together):
            return []
        return [_manifest(each) for each in together]


class _Loader(yaml.SafeLoader):
    """Reads ``!unknown`` as a value that is not known before the update."""


_Loader.add_constructor("!unknown", lambda _loader, _node: UNKNOWN)


def samples(rule: Rule | None = None, *kinds: str) -> list[Sample]:
    """Return the samples of a rule, or of all of them; of these kinds, or of all."""
    found = (load(path) for path in sorted(SAMPLES.glob(f"{rule.name if rule else '*'}/*.yaml")))
    return [sample for sample in found if not kinds or sample.kind in kinds]


def load(path: Path) -> Sample:
    """Read the file of a sample."""
    raw: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a safe loader with one tag more
    return Sample(
        path=path,
        subject=_registered(raw["subject"]),
        others=tuple(map(_registered, raw.get("others", ()))),
        target=_target(raw.get("target", {})),
        values=raw.get("values") or {},
        problems=tuple(raw["problems"]),
    )


def _manifest(subject: RegisteredObject) -> dict[str, Any]:
    version, kind = subject.type.split(":")[1:]
    return {"apiVersion": version.removeprefix("core/"), "kind": kind, **subject.properties}


def _is_known(value: Any) -> bool:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return value is not UNKNOWN and all(map(_is_known, parts))


def _registered(raw: Mapping[str, Any]) -> RegisteredObject:
    return RegisteredObject(**{**raw, "parent_types": tuple(raw.get("parent_types", ()))})


def _target(raw: Mapping[str, Any]) -> Target:
    versions = {name: tuple(map(int, str(raw[name]).split("."))) for name in ("lws", "kubernetes") if name in raw}
    return Target(**versions, gangs=frozenset(raw.get("gangs", ())))  # type: ignore[arg-type]  # two numbers each
