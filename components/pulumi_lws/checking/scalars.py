"""What a YAML scalar means to the Kubernetes tools.

They read YAML 1.1 with a Go library (``sigs.k8s.io/yaml`` over ``go.yaml.in/yaml/v2``) and turn it into JSON. So
``on``, ``yes`` and ``y`` are true, ``0777`` is 511, ``1e3`` is 1000; unlike in PyYAML, dates and ``1:30`` stay text.
"""

import base64
import re

Scalar = str | int | float | bool | None
"""A value without parts."""

_CORE_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NOT_A_NUMBER = re.compile(r"\.(nan|NaN|NAN)|[-+]?\.(inf|Inf|INF)")
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<binary>[01]+)|0[oO]?(?P<octal>[0-7]+)"
    r"|(?P<decimal>0|[1-9][0-9]*))"
)
_BASES = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LARGEST_EXACT = 1e21
"""From here on Go writes a float with an exponent, which no integer field takes."""


def resolve(text: str, tag: str | None, *, plain: bool) -> Scalar:
    """Return the value of a scalar.

    Args:
        text: The scalar as it stands, unquoted.
        tag: Its explicit tag, such as ``tag:yaml.org,2002:str``.
        plain: Whether it stands without quotes.

    Raises:
        ValueError: The Kubernetes tools cannot read it; the message says why.
    """
    if tag is None:
        return _resolve_plain(text) if plain else text
    kind = tag.removeprefix(_CORE_TAG)
    if tag == kind or kind in {"str", "timestamp"}:
        return text
    if kind == "binary":
        return base64.b64decode("".join(text.split()), validate=True).decode()
    value = _resolve_plain(text)
    fits = {"bool": bool, "int": int, "float": int | float, "null": type(None)}.get(kind, object)
    if not isinstance(value, fits) or (isinstance(value, bool) and kind in {"int", "float"}):
        raise ValueError(f"'{text}' is tagged !!{kind} but is none")
    return value


def key_text(key: Scalar) -> str:
    """Return a key as JSON has it: ``on`` is ``true``, ``1`` is ``"1"``.

    Raises:
        ValueError: It has no text.
    """
    if key is None:
        raise ValueError("a key is empty")
    if isinstance(key, bool):
        return str(key).lower()
    return f"{key:g}" if isinstance(key, float) else str(key)


def _resolve_plain(text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first.isascii() and (first.isdigit() or first in "+-."):
        return _resolve_number(text)
    return text


def _resolve_number(text: str) -> Scalar:
    if _NOT_A_NUMBER.fullmatch(text):
        raise ValueError(f"{text} is no number that an API can take")
    # A number of more digits is refused as a float would be, and Python would take long to read it.
    plain = text.replace("_", "") if text[0] != "." and len(text) < 400 else text
    if (match := _INTEGER.fullmatch(plain)) and match.lastgroup:
        whole = int(match["sign"] + match[match.lastgroup], _BASES[match.lastgroup])
        if -(2**63) <= whole < 2**64:
            return whole
    if not _FLOAT.fullmatch(plain):
        return text
    number = float(plain)
    if abs(number) == float("inf"):
        return text
    return int(number) if number.is_integer() and abs(number) < _LARGEST_EXACT else number
