"""The base of everything that a user declares, and the field types that declarations share."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
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


DnsLabel = Annotated[str, Field(min_length=1, max_length=63), AfterValidator(_dns_label)]
"""A DNS-1035 label: what Kubernetes takes for Services and LWS for LeaderWorkerSets."""


def _version(text: str) -> str:
    if not re.fullmatch(r"v?\d+\.\d+(\.\d+)?", text):
        raise invalid("a version such as 0.10 or v1.35.4", "Write major and minor version.")
    return text


VersionText = Annotated[str, AfterValidator(_version)]
"""A version: major and minor, a patch level if you like."""


def major_and_minor(version: str) -> tuple[int, int]:
    """Return the first two numbers of a ``VersionText``."""
    major, minor = version.removeprefix("v").split(".")[:2]
    return int(major), int(minor)


def is_label_key(key: Any) -> bool:
    """Tell whether a node can have a label of that key: an optional DNS prefix and a name of at most 63 characters."""
    if not isinstance(key, str):
        return False
    prefix, separator, name = key.rpartition("/")
    body = name.replace("-", "a").replace("_", "a").replace(".", "a")
    well_formed = 0 < len(name) <= 63 and body.isascii() and body.isalnum() and name[0].isalnum() and name[-1].isalnum()
    return well_formed and (not separator or bool(prefix))


def _label_key(key: str) -> str:
    if not is_label_key(key):
        raise invalid(
            "a label key such as pulumi-lws/island or topology.kubernetes.io/zone",
            "Write the key of a node label, not its value.",
        )
    return key


LabelKey = Annotated[str, AfterValidator(_label_key)]
"""Key of a Kubernetes label: an optional DNS prefix and a name of at most 63 characters."""
