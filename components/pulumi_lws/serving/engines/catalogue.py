"""The engines by what declares them."""

from collections.abc import Callable, Mapping
from typing import Any

from pulumi_lws.serving.engines.custom import Custom
from pulumi_lws.serving.engines.engine import InferenceEngine
from pulumi_lws.serving.engines.settings import CustomEngine, Engine, SglangEngine, VllmEngine
from pulumi_lws.serving.engines.sglang import Sglang
from pulumi_lws.serving.engines.vllm import Vllm

_ENGINES: Mapping[type[Engine], Callable[[Any], InferenceEngine]] = {
    VllmEngine: Vllm,
    SglangEngine: Sglang,
    CustomEngine: Custom,
}


def engine_of(settings: Engine) -> InferenceEngine:
    """Return the engine that settings declare."""
    return _ENGINES[type(settings)](settings)
