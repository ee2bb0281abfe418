"""The state that an update ends in, without what differs from run to run: two can be compared."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import httpx

from lab.project import Project

_SECRET = "4dabf18193072939515e22adb298388d"  # noqa: S105 - the key by which Pulumi marks any secret
_OF_THE_SERVER = {"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"}
"""Metadata that the API server counts up, or tells who wrote what by; the provider makes up a name at each creation."""

_OF_A_CLUSTER = {
    ("ConfigMap", "kube-root-ca.crt"),
    ("ConfigMap", "extension-apiserver-authentication"),
    ("Service", "kubernetes"),
}
"""What Kubernetes makes by itself: each cluster has its own certificate and address."""

_FIXED = ("type", "inputs", "parent", "protect", "retainOnDelete")

EndState = dict[str, Any]
"""What there is, by what it is called."""


def end_state(project: Project, api: httpx.Client) -> EndState:
    """Return what the engine knows of a stack, and every object of the kinds in it, whoever made it.

    Args:
        project: The project of the stack.
        api: A connection to the API server that it is deployed to.
    """
    deployment = json.loads(project.succeeds("stack", "export"))["deployment"]
    resources = deployment.get("resources", [])
    known: EndState = {"pending operations": deployment.get("pending_operations", [])}
    for resource in resources:
        # One resource has two entries where the old one of a replacement is still to be deleted.
        key = f"resource {resource['urn']}{' (to be deleted)' * resource.get('delete', False)}"
        kept = _masked({field: resource[field] for field in _FIXED if field in resource})
        known[key] = kept | {"dependencies": sorted(resource.get("dependencies", []))}
    inputs = [one["inputs"] for one in resources if one["custom"] and one["type"].startswith("kubernetes:")]
    return known | objects(api, {(one["apiVersion"], one["kind"]) for one in inputs})


def objects(api: httpx.Client, kinds: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return every object of some kinds, as far as they are served."""
    found = {}
    for api_version, kind in sorted(kinds):
        for item in _items(api, api_version, kind):
            metadata = item["metadata"]
            if (kind, metadata["name"]) in _OF_A_CLUSTER:
                continue
            place = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
            found[f"{kind} {place}"] = {"apiVersion": api_version, "kind": kind, **_stable(item)}
    return found


def differences(first: EndState, second: EndState) -> list[str]:
    """Return where the second end state differs from the first, a line for each place."""
    return list(_differences("", first, second))


def _differences(path: str, first: Any, second: Any) -> Iterator[str]:
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted(first.keys() | second.keys()):
            yield from _differences(f"{path} {key}".strip(), first.get(key), second.get(key))
    elif first is None and second is not None:
        yield f"{path}: more"
    elif first is not None and second is None:
        yield f"{path}: missing"
    elif first != second:
        yield f"{path}: {first} became {second}"


def items(api: httpx.Client, path: str) -> list[dict[str, Any]]:
    """Return the objects, or whatever a list holds, at a path; none where nothing is served there."""
    answer = api.get(path)
    if answer.status_code == httpx.codes.NOT_FOUND:
        return []
    document = answer.raise_for_status().json()
    found: list[dict[str, Any]] = document["items" if "items" in document else "resources"]
    return found


def _items(api: httpx.Client, api_version: str, kind: str) -> list[dict[str, Any]]:
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    plurals = [one["name"] for one in items(api, root) if one["kind"] == kind and "/" not in one["name"]]
    return [item for plural in plurals for item in items(api, f"{root}/{plural}")]


def _stable(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without what the API server and controllers make up."""
    metadata = item["metadata"]
    kept = {field: value for field, value in metadata.items() if field not in _OF_THE_SERVER}
    rest = {field: value for field, value in item.items() if field not in ("metadata", "status")}
    for secret in ("data", "stringData") if "type" in item else ():
        rest[secret] = sorted(item.get(secret, {}))
    # A Service gets any free address, and some objects carry their own identity in labels and names.
    if "clusterIP" in item.get("spec", {}):
        rest["spec"] = {field: value for field, value in item["spec"].items() if not field.startswith("clusterIP")}
    text = json.dumps({"metadata": kept, **rest})
    stable: dict[str, Any] = json.loads(text.replace(metadata["uid"], "its-uid"))
    return stable


def _masked(value: Any) -> Any:
    """Return a value of the state without the texts of secrets, which are encrypted anew each time."""
    if isinstance(value, dict):
        return "secret" if _SECRET in value else {key: _masked(part) for key, part in value.items()}
    return [_masked(part) for part in value] if isinstance(value, list) else value
