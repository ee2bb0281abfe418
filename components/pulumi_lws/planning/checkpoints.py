"""What a Hugging Face ``config.json`` says of a model: its shapes, its parameters and the bytes of its checkpoint.

Keys are those of transformers' configurations, such as ``LlamaConfig`` or ``GlmMoeDsaConfig``. Parameters are counted
from the shapes of the matrices; norms and biases are less than a thousandth and left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from pulumi_lws.facts.architecture import BYTES_OF, ModelArchitecture
from pulumi_lws.planning.contexts import longest_context
from pulumi_lws.planning.problems import shown
from pulumi_lws.planning.quantization import Quantization, UnreadableConfigError, quantization_of
from pulumi_lws.planning.validation import problems_of

_SHAPES = "a config.json with the shapes of a language model"

_KNOWN = (
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v32",
    "glm4_moe",
    "glm_moe_dsa",
    "gpt_oss",
    "kimi_k2",
    "llama",
    "minimax_m2",
    "mistral",
    "mixtral",
    "qwen2",
    "qwen3",
    "qwen3_moe",
    "qwen3_next",
)
"""Values of ``model_type`` whose layers are counted here. Others may use the same keys for other shapes, as Llama 4 and
Nemotron-H do: their sizes would be wrong by a multiple."""


def read_config(config: Mapping[str, Any], *, source: str = "") -> ModelArchitecture:
    """Return the architecture that a ``config.json`` describes.

    Args:
        config: Its content.
        source: Where it comes from.

    Raises:
        UnreadableConfigError: A field is missing or no number, or the kind of model or quantization is not known.
    """
    # Models that also see or hear keep the language model's configuration below a key of its own.
    nested = config.get("text_config")
    config = {**config, **nested} if isinstance(nested, Mapping) else config
    if config.get("model_type") not in _KNOWN:
        raise UnreadableConfigError(f"whose model_type is {shown(config.get('model_type'))}", ", ".join(_KNOWN))
    numbers, quantization = _Numbers(config), quantization_of(config)
    shape = _shape(numbers)
    predicting = numbers.optional("num_nextn_predict_layers")
    sparse = shape["layers"] - shape["dense_layers"] if shape["experts"] else 0
    dense = shape["layers"] - sparse
    embeddings = (
        shape["vocabulary_size"] * shape["hidden_size"] * (1 if config.get("tie_word_embeddings") is True else 2)
    )
    layers = _matrices(numbers, shape, dense, sparse, shape["experts"])
    active = _matrices(numbers, shape, dense, sparse, shape["experts_per_token"])
    predictors = _matrices(numbers, shape, 0, predicting, shape["experts"])
    plain = embeddings + predicting * 2 * shape["hidden_size"] ** 2
    weight_bytes = layers.bytes(quantization) + predictors.bytes(quantization) + plain * BYTES_OF[quantization.plain]
    try:
        return ModelArchitecture(
            **shape,
            parameters=layers.total + embeddings,
            active_parameters=active.total + embeddings,
            weight_bytes=int(weight_bytes),
            native_dtype=quantization.experts if shape["experts"] else quantization.feed_forward,
            quantization_block=quantization.block,
            prediction_layers=predicting,
            source=source,
        )
    except ValidationError as error:
        first = problems_of(error, ModelArchitecture)[0]
        raise UnreadableConfigError(f"whose {first.path} is {first.found}", first.allowed) from None


@dataclass(frozen=True)
class _Numbers:
    """The whole numbers of a configuration. A null counts as absent, as transformers takes it."""

    config: Mapping[str, Any]

    def required(self, *names: str) -> int:
        """Return the first that stands there."""
        value = self._first(names)
        if value is None:
            raise UnreadableConfigError(f"without {' or '.join(names)}", _SHAPES)
        return value

    def optional(self, *names: str, default: int = 0) -> int:
        """Return the first that stands there, else the default."""
        value = self._first(names)
        return default if value is None else value

    def kinds(self, name: str) -> Sequence[Any]:
        """Return a list with one entry per layer; empty where there is none."""
        value = self.config.get(name)
        return value if isinstance(value, list) else ()

    def _first(self, names: Sequence[str]) -> int | None:
        for name in names:
            value = self.config.get(name)
            if value is None:
                continue
            if type(value) is not int or not 0 <= value < 2**31:
                raise UnreadableConfigError(f"whose {name} is {shown(value)}", "a whole number from 0")
            return value
        return None


def _shape(numbers: _Numbers) -> dict[str, int]:
    layers, hidden = numbers.required("num_hidden_layers"), numbers.required("hidden_size")
    heads = numbers.required("num_attention_heads")
    latent = numbers.optional("kv_lora_rank")
    rope = numbers.optional("qk_rope_head_dim") if latent else 0
    experts = numbers.optional("num_local_experts", "n_routed_experts", "num_experts")
    kinds = numbers.kinds("layer_types")[:layers]
    recurrent = kinds.count("linear_attention") + kinds.count("mamba")
    if not kinds and (interval := numbers.optional("full_attention_interval")):
        recurrent = layers - layers // interval
    sliding = kinds.count("sliding_attention")
    indexer = numbers.optional("index_head_dim")
    dense_layers = min(_dense_layers(numbers, layers), layers) if experts else 0
    return {
        "layers": layers,
        "hidden_size": hidden,
        "vocabulary_size": numbers.required("vocab_size"),
        "max_positions": longest_context(numbers.config, numbers.required("max_position_embeddings")),
        "attention_heads": heads,
        "kv_heads": numbers.optional("num_key_value_heads", default=heads),
        "head_size": numbers.required("qk_nope_head_dim") + rope
        if latent
        else numbers.optional("head_dim", default=hidden // max(heads, 1)),
        "latent_size": latent,
        "rope_size": rope,
        # FP8 values, and a scale of four bytes for each 128 of them.
        "indexer_bytes": indexer + 4 * -(-indexer // 128),
        "recurrent_layers": recurrent,
        "sliding_window_layers": sliding,
        "sliding_window": numbers.required("sliding_window") if sliding else 0,
        "dense_layers": dense_layers,
        "dense_intermediate_size": numbers.required("intermediate_size") if dense_layers or not experts else 0,
        "experts": experts,
        "experts_per_token": numbers.required("num_experts_per_tok", "experts_per_token") if experts else 0,
        "shared_experts": numbers.optional("n_shared_experts") if experts else 0,
        "expert_intermediate_size": numbers.required("moe_intermediate_size", "intermediate_size") if experts else 0,
    }


def _dense_layers(numbers: _Numbers, layers: int) -> int:
    """Return how many layers of a mixture of experts have none."""
    if listed := numbers.kinds("mlp_layer_types").count("dense") or len(numbers.kinds("mlp_only_layers")):
        return listed
    step = max(numbers.optional("decoder_sparse_step", default=1), 1)
    return numbers.optional("first_k_dense_replace", default=layers - layers // step)


@dataclass(frozen=True)
class _Matrices:
    """Parameters of some layers, by what quantization tells apart."""

    experts: int
    attention: int
    feed_forward: int
    routers: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.experts + self.attention + self.feed_forward + self.routers

    def bytes(self, quantization: Quantization) -> float:
        """Return how many bytes they have."""
        return (
            self.experts * BYTES_OF[quantization.experts]
            + self.attention * BYTES_OF[quantization.attention]
            + self.feed_forward * BYTES_OF[quantization.feed_forward]
            + self.routers * BYTES_OF[quantization.plain]
        )


def _matrices(numbers: _Numbers, shape: Mapping[str, int], dense: int, sparse: int, experts: int) -> _Matrices:
    """Count the parameters of ``dense`` layers and ``sparse`` ones, the latter with so many routed experts each."""
    hidden = shape["hidden_size"]
    expert = 3 * hidden * shape["expert_intermediate_size"]
    shared = expert * shape["shared_experts"] + 3 * hidden * numbers.optional("shared_expert_intermediate_size")
    return _Matrices(
        experts=sparse * experts * expert,
        attention=(dense + sparse) * _attention(numbers, shape),
        feed_forward=dense * 3 * hidden * shape["dense_intermediate_size"] + sparse * shared,
        routers=sparse * hidden * shape["experts"],
    )


def _attention(numbers: _Numbers, shape: Mapping[str, int]) -> int:
    """Count the matrices of one layer's attention."""
    hidden, heads, head = shape["hidden_size"], shape["attention_heads"], shape["head_size"]
    if not shape["latent_size"]:
        return 2 * hidden * heads * head + 2 * hidden * shape["kv_heads"] * head
    latent, rope, value = shape["latent_size"], shape["rope_size"], numbers.required("v_head_dim")
    query = numbers.optional("q_lora_rank")
    queries = query * (hidden + heads * head) if query else hidden * heads * head
    keys_and_values = hidden * (latent + rope) + latent * heads * (head - rope + value)
    indexer_heads, indexer_head = numbers.optional("index_n_heads"), numbers.optional("index_head_dim")
    indexer = indexer_head * (query * indexer_heads + hidden) + hidden * indexer_heads
    return queries + keys_and_values + heads * value * hidden + indexer
