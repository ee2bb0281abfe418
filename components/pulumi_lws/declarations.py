"""The base of everything that a user declares, and the field types that declarations share."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
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


Count = Annotated[int, Field(strict=True, ge=0)]
"""A whole number from 0; ``true`` and ``"2"`` are refused, since YAML makes them by accident."""

PositiveCount = Annotated[int, Field(strict=True, ge=1)]
"""A whole number from 1."""


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


def _label_key(key: str) -> str:
    prefix, separator, name = key.rpartition("/")
    body = name.replace("-", "a").replace("_", "a").replace(".", "a")
    well_formed = 0 < len(name) <= 63 and body.isascii() and body.isalnum() and name[0].isalnum() and name[-1].isalnum()
    if not well_formed or (separator and not prefix):
        raise invalid(
            "a label key such as pulumi-lws/island or topology.kubernetes.io/zone",
            "Write the key of a node label, not its value.",
        )
    return key


LabelKey = Annotated[str, AfterValidator(_label_key)]
"""Key of a Kubernetes label: an optional DNS prefix and a name of at most 63 characters."""
