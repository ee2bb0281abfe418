"""Names that a deployment is declared with: images, models, variables and interfaces."""

import re
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from pulumi_lws.planning.problems import invalid

_HOST = r"[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*(:[0-9]{1,5})?"
_REPOSITORY = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"({_HOST}/)?{_REPOSITORY}(/{_REPOSITORY})*"
    r"(?P<tag>:[a-zA-Z0-9_][-a-zA-Z0-9_.]{0,127})?(?P<digest>@sha256:[0-9a-f]{64})?"
)
"""A reference to an image, as container runtimes read it: host, repository, tag and digest."""

_LONGEST_IMAGE = 500
"""Characters of the longest image that is looked at: runtimes take 255 for host and repository."""


def _pinned(image: str) -> str:
    found = _IMAGE.fullmatch(image) if len(image) <= _LONGEST_IMAGE else None
    if found is None:
        raise invalid(
            "host, repository in lower case, and tag or digest, such as registry.example.com/team/vllm:0.26.0",
            "Write it as docker pull takes it.",
        )
    if not found["digest"] and found["tag"] in {None, ":latest"}:
        raise invalid(
            "an image with a tag other than latest, or with a digest",
            "Pin the image: a moving one gives leader and workers different engines.",
        )
    return image


PinnedImage = Annotated[str, AfterValidator(_pinned)]
"""A container image pinned by tag or digest."""

_MODEL_NAME = r"^[^\s\x00-\x1f-][^\s\x00-\x1f]*$"


def _model_name(name: str) -> str:
    if not re.fullmatch(_MODEL_NAME, name):
        raise invalid(
            "a name without blanks that does not start with '-', which engines take for a flag",
            "Write the id that the hub has, or a path.",
        )
    return name


ModelName = Annotated[
    str,
    AfterValidator(_model_name),
    WithJsonSchema({"type": "string", "minLength": 1, "pattern": _MODEL_NAME, "examples": ["zai-org/GLM-5-FP8"]}),
]
"""A model: a Hugging Face id, or a path inside the container."""

_ENVIRONMENT_NAME = r"^[-._a-zA-Z][-._a-zA-Z0-9]{0,252}$"
_INTERFACE_NAME = r"^[a-zA-Z0-9_.-]{1,15}$"


def _environment_name(name: str) -> str:
    if not re.fullmatch(_ENVIRONMENT_NAME, name):
        raise invalid("letters, digits, '_', '-' and '.', not starting with a digit", "Choose a name of that form.")
    return name


def _interface_name(name: str) -> str:
    if not re.fullmatch(_INTERFACE_NAME, name):
        raise invalid(
            "an interface such as enp71s0, of at most 15 characters", "Name the node's own, as ip link shows it."
        )
    return name


EnvironmentName = Annotated[
    str,
    AfterValidator(_environment_name),
    WithJsonSchema({"type": "string", "pattern": _ENVIRONMENT_NAME, "examples": ["NCCL_DEBUG"]}),
]
"""Name of an environment variable, as every version of Kubernetes takes it."""

InterfaceName = Annotated[
    str,
    AfterValidator(_interface_name),
    WithJsonSchema({"type": "string", "pattern": _INTERFACE_NAME, "examples": ["enp71s0"]}),
]
"""Name of a network interface of Linux."""
