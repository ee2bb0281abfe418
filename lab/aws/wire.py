"""Values as the engine sends them, and as the stand-in works with them: plain Python with one mark for unknown."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf import json_format, struct_pb2

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Stands for a value that a preview cannot know; on the wire it is the unknown string."""

_UNKNOWN = {
    # One for each type of value: sdk/go/common/resource/plugin/rpc.go of pulumi.
    UNKNOWN,
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "030794c1-ac77-496b-92df-f27374a8bd58",
    "e48ece36-62e2-4504-bad9-02848725956a",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
}
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the protocol's mark of a secret, not one
_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


def received(message: struct_pb2.Struct) -> dict[str, Any]:
    """What the engine sent, as plain values: secrets opened, whole numbers as integers, absent values left out."""
    plain: dict[str, Any] = _plain(json_format.MessageToDict(message))
    return plain


def sent(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """Plain values as the engine expects them."""
    message = struct_pb2.Struct()
    message.update(dict(values))
    return message


def is_known(value: Any) -> bool:
    """Whether a value holds nothing unknown, however deep."""
    if isinstance(value, Mapping):
        return all(map(is_known, value.values()))
    if isinstance(value, list):
        return all(map(is_known, value))
    return bool(value != UNKNOWN)


def at(values: Any, path: str) -> Iterator[str]:
    """The known strings at a dotted path; lists on the way are entered."""
    head, _, rest = path.partition(".")
    if isinstance(values, list):
        for item in values:
            yield from at(item, path)
    elif not path:
        if isinstance(values, str) and values and values != UNKNOWN:
            yield values
    elif isinstance(values, Mapping) and head in values:
        yield from at(values[head], rest)


def as_document(text: Any) -> Any:
    """A string that holds a JSON object or list, parsed; None for anything else."""
    if isinstance(text, str) and text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return None
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, dict) and _SIGNATURE in value:
        return _opened(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str) and value in _UNKNOWN:
        return UNKNOWN
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _opened(special: Mapping[str, Any]) -> Any:
    """What stands in a secret or an output; of a resource, its id, or its URN where it has none."""
    if special[_SIGNATURE] in (_SECRET, _OUTPUT):
        return _plain(special.get("value", UNKNOWN))
    return special.get("id", special.get("urn")) or UNKNOWN
