"""The longest context that a ``config.json`` stands for: rope scaling may stretch the positions that it was trained on.

As vLLM derives it (``_get_and_verify_max_len`` in ``vllm/config/model.py``).
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_lws.planning.problems import shown
from pulumi_lws.planning.quantization import UnreadableConfigError

_STRETCHED_ALREADY = frozenset({"llama3", "longrope", "su"})
"""Ways whose configurations give the stretched number of positions."""

_FROM_ORIGINAL = "yarn"
"""The way that starts from the positions before stretching, whatever the configuration gives beside them."""


def longest_context(config: Mapping[str, Any], positions: int) -> int:
    """Return the longest context in tokens.

    Args:
        config: Content of the ``config.json``, that of the language model on top.
        positions: Its ``max_position_embeddings``.

    Raises:
        UnreadableConfigError: A number of the rope scaling is none.
    """
    factor: float = 1
    for scaling in _scalings(config):
        way = scaling.get("rope_type", scaling.get("type"))
        if way in _STRETCHED_ALREADY:
            continue
        factor = _number(scaling, "factor", factor)
        if way == _FROM_ORIGINAL:
            positions = int(_number(scaling, "original_max_position_embeddings", positions))
    return int(positions * factor)


def _scalings(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the rope scaling, of each kind of layers where they differ."""
    # Transformers 5 has the first name, and in it one mapping for each kind of layers where they differ.
    scaling = config.get("rope_parameters") or config.get("rope_scaling")
    if isinstance(scaling, Mapping):
        yield scaling
        yield from (part for part in scaling.values() if isinstance(part, Mapping))


def _number(scaling: Mapping[str, Any], name: str, default: float) -> float:
    value = scaling.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 1:
        raise UnreadableConfigError(f"whose rope scaling has the {name} {shown(value)}", "a number from 1")
    return value
