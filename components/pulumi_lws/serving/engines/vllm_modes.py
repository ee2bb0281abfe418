"""How one copy of a model is started on its pods by vLLM, and by which version."""

import re
from enum import StrEnum

from pulumi_lws.facts.vllm_flags import Version, version_of
from pulumi_lws.serving.engines.engine import Launch
from pulumi_lws.serving.engines.settings import SglangEngine, VllmEngine

# Behind the version a builder says whatever they like; a date is no version.
_TAG = re.compile(r":v?(?P<version>\d{1,2}\.\d{1,3}(\.\d{1,3})?)(?![\d.])[^/@]*(@[^/]*)?$")


class Mode(StrEnum):
    """How one copy is started on its pods."""

    SINGLE = "in one pod"
    """One pod; vLLM balances data-parallel ranks itself."""
    NODES = "over pods without Ray"
    """Ranks of one engine on several pods, which vLLM's multi-process backend starts."""
    RAY = "over pods with Ray"
    """Ranks of one engine on several pods, which Ray starts."""
    HYBRID = "data parallel, several ranks in each pod"
    """Every pod serves, and balances over its own ranks."""
    EXTERNAL = "data parallel, one rank in each pod"
    """Every pod serves one rank; something else balances."""


def mode_of(settings: VllmEngine, launch: Launch) -> Mode:
    """Return how a launch is started."""
    if launch.shape.size == 1:
        return Mode.SINGLE
    if launch.parallelism.data > 1:
        return Mode.HYBRID if launch.shape.data_per_pod(launch.parallelism) > 1 else Mode.EXTERNAL
    return Mode.RAY if settings.backend == "ray" else Mode.NODES


def version_in(settings: VllmEngine | SglangEngine, image: str) -> Version | None:
    """Return the version of the engine: the declared one, or the one in the image's tag; None where neither says it."""
    if settings.version is not None:
        return version_of(settings.version)
    found = _TAG.search(image)
    return version_of(found["version"]) if found else None
