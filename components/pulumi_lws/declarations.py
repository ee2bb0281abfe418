"""The base of everything that a user declares, and the field types that declarations share."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.alias_generators import to_camel

from pulumi_lws.planning.problems import invalid


class Declaration(BaseModel):
    """A declaration: camelCase in stack files, snake_case in Python, closed, immutable.

    Unknown fields are refused, so that a misspelt one is never silently ignored.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )


class UpstreamDeclaration(Declaration):
    """A part of a Kubernetes object, shaped as its API has it. A null counts as absent, as the API server takes it."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            known = {name for field, info in cls.model_fields.items() for name in (field, info.alias)}
            return {key: field for key, field in value.items() if field is not None or key not in known}
        return value


def _without_null_values(values: Any) -> Any:
    return {key: value for key, value in values.items() if value is not None} if isinstance(values, Mapping) else values


NULLS_ABSENT = BeforeValidator(_without_null_values)
"""For labels and annotations of an upstream object: one that is null counts as absent, as the API server takes it."""


def _whole_float(value: Any) -> Any:
    """Read 2.0 as 2: JSON has one kind of number, and engines send whole numbers as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole_float), Field(strict=True, ge=-(2**31), le=2**31 - 1)]
"""A whole number of 32 bits; ``true`` and ``"2"`` are refused, since YAML makes them by accident."""

Count = Annotated[Whole, Field(ge=0)]
"""A whole number from 0."""

PositiveCount = Annotated[Whole, Field(ge=1)]
"""A whole number from 1."""


def whole_number(text: str) -> int | None:
    """Read a whole number from 0; None for anything else, such as ``²``, which Python calls a digit and cannot read."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


LargeCount = Annotated[int, BeforeValidator(_whole_float), Field(strict=True, ge=0, le=2**53)]
"""A whole number from 0, as large as JSON keeps exact: bytes and parameters."""


def _dns_label(name: str) -> str:
    label = name.replace("-", "a")
    if not (name.isascii() and label.isalnum() and name == name.lower() and name[0].isalpha() and name[-1] != "-"):
        raise invalid(
            "lower-case letters, digits and '-', starting with a letter, not ending with '-'",
            "Choose a name of that form: DNS and selectors are made from it.",
        )
    return name


DnsLabel = Annotated[
    str,
    Field(min_length=1, max_length=63),
    AfterValidator(_dns_label),
    WithJsonSchema(
        {"type": "string", "maxLength": 63, "pattern": "^[a-z]([-a-z0-9]*[a-z0-9])?$", "examples": ["my-name"]}
    ),
]
"""A DNS-1035 label: what Kubernetes takes for Services and LWS for LeaderWorkerSets."""

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
"""Pattern of a DNS-1123 subdomain, without its length."""


def _namespace_name(name: str) -> str:
    if len(name) > 63 or not re.fullmatch(_LABEL, name):
        raise invalid(
            "at most 63 lower-case letters, digits and '-', starting and ending with a letter or digit",
            "Choose a name of that form.",
        )
    return name


def _object_name(name: str) -> str:
    if len(name) > 253 or not re.fullmatch(SUBDOMAIN, name):
        raise invalid(
            "at most 253 lower-case letters, digits, '-' and '.', each part starting and ending with a letter or digit",
            "Write the name as kubectl shows it.",
        )
    return name


NamespaceName = Annotated[
    str,
    AfterValidator(_namespace_name),
    WithJsonSchema({"type": "string", "maxLength": 63, "pattern": f"^{_LABEL}$", "examples": ["models"]}),
]
"""A DNS-1123 label: what Kubernetes takes for namespaces."""

ObjectName = Annotated[
    str,
    AfterValidator(_object_name),
    WithJsonSchema({"type": "string", "maxLength": 253, "pattern": f"^{SUBDOMAIN}$", "examples": ["my-name"]}),
]
"""A DNS-1123 subdomain: what Kubernetes takes for Secrets, claims, ServiceAccounts and Gateways."""


def _word(text: str) -> str:
    if "\0" in text:
        raise invalid(
            "text without a NUL character, at which programs end a word", "Remove it.", found="a NUL character"
        )
    return text


Word = Annotated[str, AfterValidator(_word)]
"""An argument, or the value of a variable."""


def _version(text: str) -> str:
    if not re.fullmatch(r"v?[0-9]{1,9}\.[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise invalid("a version such as 0.10 or v1.35.4", "Write major and minor version.")
    return text


VersionText = Annotated[str, AfterValidator(_version)]
"""A version: major and minor, a patch level if you like."""


def is_label_key(key: Any) -> bool:
    """Tell whether a node can have a label of that key: an optional DNS prefix and a name of at most 63 characters."""
    if not isinstance(key, str):
        return False
    prefix, separator, name = key.rpartition("/")
    if separator and not (len(prefix) <= 253 and re.fullmatch(SUBDOMAIN, prefix)):
        return False
    body = name.replace("-", "a").replace("_", "a").replace(".", "a")
    return 0 < len(name) <= 63 and body.isascii() and body.isalnum() and name[0].isalnum() and name[-1].isalnum()


def _label_key(key: str) -> str:
    if not is_label_key(key):
        raise invalid(
            "a key such as team or topology.kubernetes.io/zone: an optional DNS name with '/', then at most 63 letters,"
            " digits, '-', '_' and '.'",
            "Choose a key of that form.",
        )
    return key


LabelKey = Annotated[str, AfterValidator(_label_key)]
"""Key of a Kubernetes label: an optional DNS prefix and a name of at most 63 characters."""
