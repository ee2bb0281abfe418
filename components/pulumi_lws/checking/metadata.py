"""What the API server asks of names and labels, whatever the kind."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_lws.checking.located import extend_path
from pulumi_lws.planning.problems import Problem, shown

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_NAME_PART = "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
_RANDOM_ENDING = "x" * 5
"""The server ends a ``generateName`` with five such characters."""

_FORMS: Mapping[str, tuple[re.Pattern[str], int, str]] = {
    "label": (
        re.compile(_LABEL),
        63,
        "at most 63 lower-case letters, digits and '-', starting and ending with a letter or digit",
    ),
    "service": (
        re.compile("[a-z]([-a-z0-9]*[a-z0-9])?"),
        63,
        "at most 63 lower-case letters, digits and '-', starting with a letter, not ending with '-'",
    ),
    "subdomain": (
        re.compile(_SUBDOMAIN),
        253,
        "at most 253 lower-case letters, digits, '-' and '.', starting and ending with a letter or digit",
    ),
    "path": (re.compile(r"(?!\.\.?$)[^/%]+"), 2**20, "text without '/' and '%'"),
}
_FORM_OF_KIND: Mapping[str, str] = {
    "leaderworkerset.x-k8s.io/LeaderWorkerSet": "service",
    "core/Service": "service",
    "core/Namespace": "label",
    "rbac.authorization.k8s.io/Role": "path",
    "rbac.authorization.k8s.io/RoleBinding": "path",
    "rbac.authorization.k8s.io/ClusterRole": "path",
    "rbac.authorization.k8s.io/ClusterRoleBinding": "path",
    "certificates.k8s.io/CertificateSigningRequest": "path",
}


def name_problems(manifest: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    """Find what is wrong with the name and the namespace of an object.

    Args:
        manifest: The object.
        kind: Its kind with its group, such as ``core/Service``.
    """
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    name, prefix, namespace = (metadata.get(field) for field in ("name", "generateName", "namespace"))
    form = _FORM_OF_KIND.get(kind, "subdomain")
    pattern, longest, allowed = _FORMS[form]
    if name is None and not prefix:
        yield Problem("metadata.name", "nothing", allowed, "Add name, or generateName for a name that the server ends.")
    for field, value, whole in (("name", name, name), ("generateName", prefix, _generated(prefix, longest))):
        if isinstance(value, str) and (value or field == "name") and not _fits(whole, pattern, longest):
            yield Problem(f"metadata.{field}", shown(value), allowed, f"Choose a {field} of that form.")
    label, longest, allowed = _FORMS["label"]
    if isinstance(namespace, str) and namespace and not _fits(namespace, label, longest):
        yield Problem("metadata.namespace", shown(namespace), allowed, "Name a namespace.")


def label_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """Find what is wrong with the labels and annotations of an object: keys, values of labels, and what is no text."""
    metadata = manifest.get("metadata")
    for field, judge in (("labels", _label_value), ("annotations", _any_text)):
        values = metadata.get(field) if isinstance(metadata, Mapping) else None
        for key, value in (values if isinstance(values, Mapping) else {}).items():
            path = extend_path(f"metadata.{field}", key)
            yield from _key(path, key if field == "labels" else key.lower())
            yield from judge(path, value)


def _generated(prefix: Any, longest: int) -> Any:
    return prefix[: longest - len(_RANDOM_ENDING)] + _RANDOM_ENDING if isinstance(prefix, str) else prefix


def _fits(text: Any, pattern: re.Pattern[str], longest: int) -> bool:
    return len(text) <= longest and pattern.fullmatch(text) is not None


def _key(path: str, key: str) -> Iterator[Problem]:
    prefix, separator, name = key.rpartition("/")
    well_formed = len(name) <= 63 and re.fullmatch(_NAME_PART, name)
    if not well_formed or (separator and not (len(prefix) <= 253 and re.fullmatch(_SUBDOMAIN, prefix))):
        yield Problem(
            path,
            shown(key),
            "a key such as team or example.com/team: an optional DNS name with '/', then at most 63 letters, digits,"
            " '-', '_' and '.'",
            "Choose a key of that form.",
        )


def _label_value(path: str, value: Any) -> Iterator[Problem]:
    if isinstance(value, str) and value and not (len(value) <= 63 and re.fullmatch(_NAME_PART, value)):
        allowed = "at most 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit"
        yield Problem(path, shown(value), allowed, "Choose a value of that form.")
    else:
        yield from _any_text(path, value)


def _any_text(path: str, value: Any) -> Iterator[Problem]:
    if value is not None and not isinstance(value, str):
        yield Problem(path, shown(value), "text", "Change it to text.")
