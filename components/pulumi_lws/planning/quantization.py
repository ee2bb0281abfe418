"""In which number types a checkpoint stores its weights, as the ``quantization_config`` of its ``config.json`` says."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pulumi_lws.facts.architecture import WeightType
from pulumi_lws.planning.problems import shown

PlainType = Literal["float32", "bfloat16", "float16"]
"""Type of weights that are not quantized."""


class UnreadableConfigError(Exception):
    """A configuration from which no sizes follow.

    Attributes:
        found: What stands there, to be read after the name of the file.
        allowed: What may stand there.
    """

    def __init__(self, found: str, allowed: str) -> None:
        super().__init__(found)
        self.found = found
        self.allowed = allowed


@dataclass(frozen=True)
class Quantization:
    """The number types of a checkpoint.

    Attributes:
        plain: Embeddings, routers, norms.
        attention: Matrices of attention.
        feed_forward: Dense layers and shared experts.
        experts: Routed experts.
        block: Edge of the square block of weights that shares a scale; 0 without blocks.
    """

    plain: WeightType = "bfloat16"
    attention: WeightType = "bfloat16"
    feed_forward: WeightType = "bfloat16"
    experts: WeightType = "bfloat16"
    block: int = 0


# The methods that say the type by their name.
_METHODS: Mapping[str, WeightType] = {"fp8": "float8", "fbgemm_fp8": "float8", "mxfp4": "mxfp4"}
# Integer methods say the bits (AWQ, GPTQ).
_INTEGER_METHODS = {"awq", "gptq"}
# ModelOpt names an algorithm, unless it describes groups as compressed-tensors does.
_ALGORITHMS: Mapping[str, WeightType] = {"FP8": "float8", "NVFP4": "nvfp4"}
_INTEGERS: Mapping[Any, WeightType] = {4: "int4", 8: "int8"}
_KNOWN = ", ".join([*_METHODS, *sorted(_INTEGER_METHODS), "compressed-tensors", "modelopt"])

# Lists of what stays as it is name modules, by path, with wildcards, or as a regular expression after "re:".
_KEEPS_ATTENTION = re.compile(r"self_attn(\W*$|\.o_proj)")
_KEEPS_FEED_FORWARD = re.compile(r"shared_experts(\W*$|\.down_proj)")
_LISTS_OF_KEPT = ("modules_to_not_convert", "ignore", "exclude_modules")


def quantization_of(config: Mapping[str, Any]) -> Quantization:
    """Return the number types of a checkpoint.

    Args:
        config: Content of the ``config.json``, that of the language model on top.

    Raises:
        UnreadableConfigError: The quantization is none that we know.
    """
    named = str(config.get("dtype") or config.get("torch_dtype"))
    plain: PlainType = next((known for known in get_args(PlainType) if known == named), "bfloat16")
    quantization = config.get("quantization_config")
    if quantization is None:
        return Quantization(plain, plain, plain, plain)
    if not isinstance(quantization, Mapping):
        raise UnreadableConfigError(f"whose quantization_config is {shown(quantization)}", "an object")
    weights = _weights(quantization)
    quantized = _type(quantization, weights)
    # MXFP4 checkpoints (gpt-oss) quantize their experts only.
    only_experts = quantization.get("quant_method") == "mxfp4"
    kept = [str(entry) for key in _LISTS_OF_KEPT for entry in _listed(quantization.get(key))]
    return Quantization(
        plain=plain,
        attention=plain if only_experts or _any(_KEEPS_ATTENTION, kept) else quantized,
        feed_forward=plain if only_experts or _any(_KEEPS_FEED_FORWARD, kept) else quantized,
        experts=quantized,
        block=_block(quantization.get("weight_block_size") or weights.get("block_structure")),
    )


def _type(quantization: Mapping[str, Any], weights: Mapping[str, Any]) -> WeightType:
    method = str(quantization.get("quant_method"))
    found: WeightType | None
    if weights:
        bits = weights.get("num_bits")
        floats: Mapping[Any, WeightType] = {8: "float8", 4: "nvfp4" if weights.get("group_size") == 16 else "mxfp4"}
        found = (floats if weights.get("type") == "float" else _INTEGERS).get(bits)
    elif method.partition("_")[0] in _INTEGER_METHODS:
        found = _INTEGERS.get(quantization.get("bits"))
    else:
        found = _METHODS.get(method) or _ALGORITHMS.get(str(quantization.get("quant_algo")))
    if found is None:
        raise UnreadableConfigError(f"whose quantization {method} is of a kind that we cannot size", _KNOWN)
    return found


def _weights(quantization: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the first group says of its weights (compressed-tensors, ModelOpt)."""
    groups = quantization.get("config_groups")
    group = next(iter(groups.values()), None) if isinstance(groups, Mapping) else None
    weights = group.get("weights") if isinstance(group, Mapping) else None
    return weights if isinstance(weights, Mapping) else {}


def _block(edges: Any) -> int:
    return max((edge for edge in _listed(edges) if type(edge) is int and 0 < edge < 2**31), default=0)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _any(pattern: re.Pattern[str], entries: Iterable[str]) -> bool:
    return any(pattern.search(entry) for entry in entries)
