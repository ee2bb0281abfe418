"""What must never be shown: values at places for secrets, and texts that look like tokens."""

import re
from collections.abc import Iterable

HIDDEN = "text (not shown)"
"""What stands for a secret."""

_WORDS = frozenset({"secret", "token", "password", "passwd", "key", "credential"})
_OWN_NAMES_BELOW = frozenset({"deployments", "pools"})
"""Sections whose entries have names of the reader's choice, which say nothing of their values."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

_TOKEN = re.compile(
    r"hf_[A-Za-z0-9]{16,}"
    r"|(?<![\w-])sk-(?:[a-z0-9]+-)*(?=[A-Za-z0-9]{16})[\w-]+"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|gh[opsur]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}"
    r"|nvapi-[\w-]{16,}|xox[abprs]-[\w-]{10,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|client-key-data[\"']?: *[\"']?[A-Za-z0-9+/=]{16,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*",
    re.DOTALL,
)
"""Tokens of Hugging Face, OpenAI, Anthropic, AWS, GitHub, GitLab, NVIDIA and Slack; JSON web tokens; private keys,
those of a kubeconfig, too."""


def is_for_a_secret(location: Iterable[int | str]) -> bool:
    """Tell whether a place is called like one for a secret, such as ``secretEnvironment.HF_TOKEN``."""
    above: int | str = ""
    for part in location:
        words = {word.lower() for word in _WORD.findall(str(part))}
        if above not in _OWN_NAMES_BELOW and words & {form for word in _WORDS for form in (word, f"{word}s")}:
            return True
        above = part
    return False


def is_token(value: object) -> bool:
    """Tell whether a value looks like a token of a kind that we know."""
    return isinstance(value, str) and _TOKEN.search(value) is not None


def without_tokens(text: str) -> str:
    """Return a text with something else in the place of every token."""
    return _TOKEN.sub(HIDDEN, text)
