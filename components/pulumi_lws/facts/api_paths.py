"""The paths of engines that clients may reach; nothing else of an engine is routed.

vLLM's ``--api-key`` guards ``/v1``, ``/v2`` and ``/inference`` alone, and SGLang's administrative paths need a key only
where one was set. Some of what changes a running engine lies below ``/v1`` itself, such as ``/v1/load_lora_adapter``.
So each path is matched whole, with its method. Both engines have these paths; one that does not serve an API answers
404 itself.

Source: the routers of vLLM 0.33 (``vllm/entrypoints``) and of SGLang 0.5 (``srt/entrypoints/http_server.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ApiName = Literal[
    "chat",
    "completions",
    "responses",
    "messages",
    "count-tokens",
    "embeddings",
    "rerank",
    "score",
    "transcriptions",
    "translations",
    "models",
]
"""One thing that clients may ask of an engine."""


@dataclass(frozen=True)
class Api:
    """A path that clients may reach.

    Attributes:
        path: The whole path.
        reason: Why it may be reached.
        method: HTTP method.
    """

    path: str
    reason: str
    method: Literal["GET", "POST"] = "POST"


APIS: Mapping[ApiName, Api] = {
    "chat": Api("/v1/chat/completions", "conversations, as OpenAI has them"),
    "completions": Api("/v1/completions", "the continuation of a text"),
    "responses": Api(
        "/v1/responses",
        "conversations, as OpenAI has them now; stored ones stay closed: only the copy that answered knows them",
    ),
    "messages": Api("/v1/messages", "conversations, as Anthropic has them"),
    "count-tokens": Api("/v1/messages/count_tokens", "the length of such a conversation; clients ask before they send"),
    "embeddings": Api("/v1/embeddings", "vectors of texts, from models that make them"),
    "rerank": Api("/v1/rerank", "documents in the order of their relevance"),
    "score": Api("/v1/score", "how well texts fit together"),
    "transcriptions": Api("/v1/audio/transcriptions", "text of speech"),
    "translations": Api("/v1/audio/translations", "English text of speech"),
    "models": Api("/v1/models", "names of models, which client libraries ask for first", "GET"),
}
"""Every path that a gateway may route."""

DEFAULT_APIS: tuple[ApiName, ...] = ("chat", "completions", "responses", "messages", "count-tokens", "models")
"""What a model that writes text is asked for."""
