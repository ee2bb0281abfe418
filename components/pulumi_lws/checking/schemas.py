"""The published schemas of Kubernetes, from the package ``kubernetes-validate``.

That package brings the data; judging is ``jsonschema-rs``, which is fast enough for thousands of pods and starts in a
tenth of the time. Both are loaded when they are first needed.
"""

import base64
import difflib
import functools
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema_rs

from pulumi_lws.checking.located import extend_path
from pulumi_lws.planning.problems import Problem, shown
from pulumi_lws.rules.rule import Version

POD_SPEC = "io.k8s.api.core.v1.PodSpec"
CLAIM = "io.k8s.api.core.v1.PersistentVolumeClaim"
METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

MOST_PROBLEMS = 100
"""So many problems of one object's schema are said; who sees them has enough to do."""

_EVERYTHING = "https://kubernetes.io/api/_definitions.json"
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_DELETE_OPTIONS = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
_BOUNDS = {f"int{bits}": {"minimum": -(2 ** (bits - 1)), "maximum": 2 ** (bits - 1) - 1} for bits in (32, 64)}
# The published schemas say less of these types than the API server asks for.
_SHARPENED: Mapping[str, Mapping[str, Any]] = {
    _QUANTITY: {
        "type": ["string", "number", "null"],
        # The pattern that CRDs have for quantities.
        "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
        r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
    },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": ["integer", "string", "null"], **_BOUNDS["int32"]},
}
_LIST_KEYS = "x-kubernetes-list-map-keys"
_DEFAULT_KEYS = {"protocol": "TCP"}
"""Keys of items that the server fills in."""
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
}
_FORMATS = {"byte": "text in base64", "date-time": "a time such as 2026-01-31T12:00:00Z"}


class Schemas:
    """The schemas of one version of Kubernetes.

    Attributes:
        version: The version.
        in_custom: Whether they judge parts of custom resources, where the server is stricter: lists hold to their keys
            and have no null in them, quantities are whole numbers or text.
        fractions: Whether a quantity may be a fraction there all the same, since a webhook rewrites it first.
    """

    def __init__(self, version: Version, *, in_custom: bool = False, fractions: bool = False) -> None:
        self.version = version
        self.in_custom = in_custom
        path = published_versions()[version] / "_definitions.json"
        everything = json.loads(path.read_bytes(), object_hook=_strict if in_custom else _with_bounds)
        self._definitions: dict[str, Any] = everything["$defs"]
        self._definitions |= _SHARPENED
        if in_custom and not fractions:
            whole = {"type": ["integer", "string", "null"], **_BOUNDS["int64"]}
            self._definitions[_QUANTITY] = {**_SHARPENED[_QUANTITY], **whole}
        self._registry = jsonschema_rs.Registry([(_EVERYTHING, everything)])
        self._kinds = dict(self._kinds_defined())
        # Options of a deletion may name any group and version there is.
        versions = self._definitions[_DELETE_OPTIONS]["properties"]["apiVersion"]["enum"]
        self._groups = {version.rpartition("/")[0] for version in versions}

    def definition_of(self, api_version: str, kind: str) -> str | None:
        """Return the name of a kind's definition; None where Kubernetes does not have it."""
        return self._kinds.get((api_version, kind))

    def owns(self, api_version: str) -> bool:
        """Tell whether an API group belongs to Kubernetes itself."""
        return api_version.rpartition("/")[0] in self._groups

    def similar(self, api_version: str, kind: str) -> list[str]:
        """Return what somebody may have meant who wrote a kind that there is not, as ``apps/v1 Deployment``."""
        kinds = {name for _, name in self._kinds}
        close = [kind] if kind in kinds else difflib.get_close_matches(kind, kinds)
        wanted = [(version != api_version, f"{version} {name}") for version, name in self._kinds if name in close]
        return [name for _, name in sorted(wanted)]

    def problems(self, value: Any, definition: str, path: str = "") -> list[Problem]:
        """Return what the server would refuse of a value that stands at ``path``."""
        errors = self._validator(definition).iter_errors(value)
        found = (problem for error in errors for problem in self._problems_of(error, path))
        return list(islice(found, MOST_PROBLEMS))

    def _kinds_defined(self) -> Iterator[tuple[tuple[str, str], str]]:
        for name, definition in self._definitions.items():
            fields = definition.get("properties", {})
            versions, kinds = (fields.get(field, {}).get("enum", ()) for field in ("apiVersion", "kind"))
            if len(versions) == len(kinds) == 1:
                yield (versions[0], kinds[0]), name

    @functools.cache  # noqa: B019 - there are few versions, and they live as long as the program
    def _validator(self, definition: str) -> Any:
        return jsonschema_rs.validator_for(
            {"$ref": f"{_EVERYTHING}#/$defs/{definition}"},
            registry=self._registry,
            validate_formats=True,
            formats={"byte": _is_base64},
            keywords={_LIST_KEYS: _DistinctItems} if self.in_custom else None,
        )

    def _problems_of(self, error: Any, base: str) -> Iterator[Problem]:
        path = functools.reduce(extend_path, error.instance_path, base)
        last = str(error.instance_path[-1]) if error.instance_path else path
        found, kind = shown(error.instance), error.kind
        match kind.name:
            case "required":
                field = kind.property
                about = self._schema_around(error).get("properties", {}).get(field, {}).get("description", "a value")
                yield Problem(extend_path(path, field), "nothing", _first_sentence(about), f"Add {field}.")
            case "additionalProperties":
                fields = self._schema_around(error).get("properties", {})
                owner = str(error.schema_path[1]).rpartition(".")[2]
                for field in kind.unexpected:
                    yield _unknown_field(extend_path(path, field), error.instance[field], field, fields, owner)
            case "type":
                allowed = " or ".join(_TYPES[name] for name in kind.types if name != "null")
                yield Problem(path, found, allowed, f"Change {last}.")
            case "enum":
                allowed = ", ".join(str(option) for option in kind.options if option is not None)
                yield Problem(path, found, allowed, f"Choose one of them for {last}.")
            case "minimum" | "maximum":
                around = self._schema_around(error)
                yield Problem(path, found, f"{around['minimum']} to {around['maximum']}", f"Change {last}.")
            case "x-kubernetes-list-map-keys":
                index, wording = kind.message.split(" ", 1)
                path = extend_path(path, int(index))
                yield Problem(path, f"another item with {wording}", f"one item with {wording}", "Remove one of them.")
            case "not":
                yield Problem(path, "nothing", "an item", "Remove it, or write what it should be.")
            case "pattern":
                yield Problem(path, found, "a quantity such as 500m, 8 or 16Gi", f"Change {last}.")
            case "format":
                yield Problem(path, found, _FORMATS.get(kind.format, kind.format), f"Change {last}.")
            case _:
                yield Problem(path, found, "what the schema of Kubernetes has", f"Change {last}.")

    def _schema_around(self, error: Any) -> Mapping[str, Any]:
        """Return the schema that has the keyword which an error broke."""
        schema: Any = {"$defs": self._definitions}
        for part in error.schema_path[:-1]:
            schema = schema[part]
        return schema if isinstance(schema, Mapping) else {}


def nearest(version: Version) -> Version:
    """Return the newest version with schemas that is not newer than ``version``; the oldest where none is older."""
    versions = sorted(published_versions())
    return max((known for known in versions if known <= version), default=versions[0])


def schemas_for(version: Version, *, in_custom: bool = False, fractions: bool = False) -> Schemas:
    """Return the schemas of a version of Kubernetes, or of the nearest older one; each set is loaded once."""
    return _schemas(nearest(version), in_custom, fractions)


@functools.cache
def _schemas(version: Version, in_custom: bool, fractions: bool) -> Schemas:
    return Schemas(version, in_custom=in_custom, fractions=fractions)


class _DistinctItems:
    """Judges ``x-kubernetes-list-map-keys``: no two items of a list have the same values of these keys."""

    def __init__(self, _schema: Any, keys: Sequence[str], _path: Any) -> None:
        self._keys = keys

    def validate(self, items: Any) -> None:
        """Raise for the first item that repeats an earlier one, with its index; other types are not judged here."""
        seen: set[str] = set()
        for index, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict):
                identity = " and ".join(f"{key} {item.get(key, _DEFAULT_KEYS.get(key))}" for key in self._keys)
                if identity in seen:
                    raise ValueError(f"{index} {identity}")
                seen.add(identity)


@functools.cache
def published_versions() -> dict[Version, Path]:
    """Return the folder of strict schemas of each version. Finding a package does not load it."""
    package = importlib.util.find_spec("kubernetes_validate")
    locations = package.submodule_search_locations if package else None
    found = {}
    for folder in (Path(location) / "kubernetes-json-schema" for location in locations or ()):
        for path in folder.glob("v*-local-strict"):
            if match := re.match(r"v(\d+)\.(\d+)\.", path.name):
                found[int(match[1]), int(match[2])] = path
    return found


def _with_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    """Add the bounds of a number, which its format implies; formats of numbers are not judged otherwise."""
    form = schema.get("format")
    return schema | _BOUNDS[form] if isinstance(form, str) and form in _BOUNDS else schema


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Add bounds, and refuse null as an item of a list."""
    schema = _with_bounds(schema)
    if "items" in schema and "array" in schema.get("type", ()):
        return schema | {"items": {"allOf": [schema["items"], {"not": {"type": "null"}}]}}
    return schema


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except ValueError:
        return False
    return True


def _unknown_field(path: str, value: Any, field: str, fields: Mapping[str, Any], owner: str) -> Problem:
    close = difflib.get_close_matches(field, fields, n=1)
    fix = f"Write {close[0]} instead." if close else f"Remove {field}."
    allowed = ", ".join(fields) if len(fields) <= 12 else f"a field of {owner}"
    return Problem(path, f"an unknown field with the value {shown(value)}", allowed, fix)


def _first_sentence(description: str) -> str:
    return description.partition(". ")[0].partition("\n")[0].rstrip(".")
