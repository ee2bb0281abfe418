"""The JSON schema of a stack file, for editors and for the reference of all settings."""

import json
from collections.abc import Iterator
from typing import Any

from pulumi_lws.platform.secrets import SETTINGS_KEY
from pulumi_lws.platform.settings import PlatformArgs

Schema = dict[str, Any]

PLATFORM = "#/$defs/PlatformArgs"
"""Reference to the schema of the platform itself."""

_WIDEST = 2**31
"""A bound that only says how many bits a number has."""


def stack_schema() -> Schema:
    """Return the schema of a whole stack file. It knows nothing of what is not ours there.

    What a schema cannot say, such as whether a model fits its GPUs, ``lws plan`` says.
    """
    platform = PlatformArgs.model_json_schema(ref_template="#/$defs/{model}")
    parts = platform.pop("$defs") | {PlatformArgs.__name__: platform}
    for schema in _all(parts):
        _tidy(schema)
    for union in list(_all(parts)):
        # Pydantic asks for the kind although the models of a union have a default for it.
        if "discriminator" in union:
            field, kinds = union["discriminator"]["propertyName"], union.pop("discriminator")["mapping"]
            for reference in kinds.values():
                branch = parts[reference.rpartition("/")[2]]
                branch["required"] = list(dict.fromkeys([field, *branch.get("required", [])]))
    return {
        # The newest that editors know.
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Stack file of pulumi-lws",
        "type": "object",
        "properties": {"config": {"type": "object", "properties": {SETTINGS_KEY: {"$ref": PLATFORM}}}},
        "$defs": dict(sorted(parts.items())),
    }


def stack_schema_text() -> str:
    """Return the schema as a file has it."""
    return json.dumps(stack_schema(), indent=2, ensure_ascii=False) + "\n"


def _all(value: Any) -> Iterator[Schema]:
    """Return every schema within a value, and every mapping that only looks like one."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _all(part)


def _tidy(schema: Schema) -> None:
    # Pydantic does not translate bounds of what has a validator of its own.
    for bound, name in (("ge", "minimum"), ("le", "maximum")):
        if isinstance(schema.get(bound), int):
            schema[name] = schema.pop(bound)
    for name in ("minimum", "maximum"):
        if isinstance(schema.get(name), int) and abs(schema[name]) >= _WIDEST - 1:
            del schema[name]
    # Pydantic bounds the names of a mapping so that others would go through.
    if isinstance(schema.get("patternProperties"), dict):
        ((pattern, schema["additionalProperties"]),) = schema.pop("patternProperties").items()
        schema["propertyNames"] = {"pattern": pattern}
    if isinstance(schema.get("title"), str) and "properties" not in schema:
        del schema["title"]
    if isinstance(schema.get("description"), str):
        schema["description"] = "\n\n".join(
            " ".join(paragraph.split()) for paragraph in schema["description"].replace("``", "`").split("\n\n")
        )
