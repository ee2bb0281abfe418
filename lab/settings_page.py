"""The reference of everything that a stack file may say, written from its JSON schema."""

import json
import re
from collections.abc import Iterator

from pulumi_lws.platform.schema import PLATFORM, Schema, stack_schema

_PAGE = """\
# Settings

Everything that a stack file may say below `config: pulumi-lws:platform:`. Generated from the declarations in
`components/pulumi_lws/` by `make docs`. Fields that are not listed are refused.

The same as a JSON schema, for editors, is [stacks/settings.schema.json](../stacks/settings.schema.json), and what
`lws schema` prints. Editors with the YAML language server find it by the first line of a stack file:

    # yaml-language-server: $schema=settings.schema.json

Programs in Python use the same names: a section is a class, its fields in `snake_case`.

{index}

{sections}
"""

_DEFAULT = re.compile(r"\s*\bDefault:? (?P<text>.+?)\.(?=\s+[A-Z]|$)")
"""Where a description says the default."""

_LEAST_SHARED = 5
"""Fields of two sections that are alike are told once if there are so many of them."""

_MOST_NAMES = 8
"""Names of a mapping that are listed; longer lists stand with a field of their own."""

Row = tuple[str, str, str, str]


def settings_page() -> str:
    """Return the page."""
    schema = stack_schema()
    places = _places(schema)
    told: dict[Row, str] = {}
    sections = [_section(schema, name, places[name], told) for name in places]
    index = "\n".join(_entry(schema, name, places[name][0]) for name in places)
    return _PAGE.format(index=index, sections="\n\n".join(sections))


def rows_of(schema: Schema, name: str) -> list[Row]:
    """Return the fields of a part of the schema: name, type with bounds, default and meaning."""
    part = schema["$defs"][name]
    return [_row(schema, field, value, part.get("required", [])) for field, value in part["properties"].items()]


def _section(schema: Schema, name: str, places: list[str], told: dict[Row, str]) -> str:
    rows = rows_of(schema, name)
    elsewhere: dict[str, list[Row]] = {}
    for row in rows:
        if row in told:
            elsewhere.setdefault(told[row], []).append(row)
    elsewhere = {owner: shared for owner, shared in elsewhere.items() if len(shared) >= _LEAST_SHARED}
    repeated = {row for shared in elsewhere.values() for row in shared}
    own = [row for row in rows if row not in repeated]
    told.update({row: name for row in own if row not in told})
    lines = [f"## {name}", _where(places), schema["$defs"][name].get("description", "")]
    if own:
        lines.append(_table(own))
    for owner, shared in elsewhere.items():
        lines.append(f"As in [{owner}](#{owner.lower()}): {', '.join(row[0] for row in shared)}.")
    return "\n\n".join(filter(None, lines))


def _entry(schema: Schema, name: str, place: str) -> str:
    depth = len(place.replace(".<name>", "").split(".")) if place else 0
    return f"{'  ' * depth}- [{name}](#{name.lower()}): {_first(schema['$defs'][name])}"


def _where(places: list[str]) -> str:
    said = [f"`{place}`" for place in places if place]
    return f"At {', '.join(said)}." if said else ""


def _places(schema: Schema) -> dict[str, list[str]]:
    """Return where each part may stand, the parts in the order in which a reader comes upon them."""
    found: dict[str, list[str]] = {}

    def visit(part: str, place: str) -> None:
        if place in found.setdefault(part, []):
            return
        found[part].append(place)
        for field, value in schema["$defs"][part]["properties"].items():
            for below, reference in _references(value, f"{place}.{field}".removeprefix(".")):
                visit(_name(reference), below)

    visit(_name(PLATFORM), "")
    return found


def _references(value: Schema, place: str) -> Iterator[tuple[str, str]]:
    if "$ref" in value:
        yield place, value["$ref"]
    for branch in (*value.get("anyOf", ()), *value.get("oneOf", ())):
        yield from _references(branch, place)
    if isinstance(value.get("items"), dict):
        yield from _references(value["items"], f"{place}[]")
    if isinstance(value.get("additionalProperties"), dict):
        yield from _references(value["additionalProperties"], f"{place}.<name>")


def _row(schema: Schema, field: str, value: Schema, required: list[str]) -> Row:
    meaning = value.get("description", "")
    said = _DEFAULT.search(meaning)
    default = "required" if field in required else said["text"] if said else "none"
    literal = value.get("default")
    if (
        default != "required"
        and isinstance(literal, bool | int | float | str)
        and json.dumps(literal).strip('"') not in default
    ):
        default = f"{default} (`{json.dumps(literal)}`)"
    if said:
        meaning = (meaning[: said.start()] + meaning[said.end() :]).strip()
    kinds = _type(schema, value)
    return f"`{field}`", kinds, default, "" if meaning == f"{kinds}." else meaning


def _type(schema: Schema, value: Schema) -> str:
    """Say what a value may be, with its bounds."""
    branches = [branch for branch in (*value.get("anyOf", ()), *value.get("oneOf", ())) if branch.get("type") != "null"]
    if branches:
        return " or ".join(_type(schema, branch) for branch in branches)
    if "$ref" in value:
        name = _name(value["$ref"])
        kind = schema["$defs"][name]["properties"].get("kind", {}).get("const")
        return f"[{name}](#{name.lower()})" + (f" (`{kind}`)" if kind else "")
    if value.get("type") == "array":
        least = f", at least {value['minItems']}" if "minItems" in value else ""
        return f"list of {_type(schema, value.get('items', {}))}{least}"
    if value.get("type") == "object":
        keys, parts = value.get("propertyNames", {}), value.get("additionalProperties")
        to = f" to {_type(schema, parts)}" if isinstance(parts, dict) else ""
        names = f" of {_plain(keys)}" if 0 < len(keys.get("enum", ())) <= _MOST_NAMES else ""
        return f"mapping{names}{to}"
    return _plain(value)


def _plain(value: Schema) -> str:
    if choices := value.get("enum", [value["const"]] if "const" in value else []):
        return ", ".join(f"`{choice}`" for choice in choices)
    match value.get("type"):
        case "integer":
            return ", ".join(filter(None, ["whole number", _bounds(value)]))
        case "number":
            return ", ".join(filter(None, ["number", _bounds(value)]))
        case "string":
            return _text(value)
        case "boolean":
            return "`true`, `false`"
        case _:
            return "anything"


def _bounds(value: Schema) -> str:
    least, most = value.get("minimum"), value.get("maximum")
    above, below = value.get("exclusiveMinimum"), value.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f"{least} to {most}"
    said = {"more than {}": above, "less than {}": below, "{} or more": least, "{} or less": most}
    return ", ".join(words.format(bound) for words, bound in said.items() if bound is not None)


def _text(value: Schema) -> str:
    if value.get("format") == "date-time":
        return "time"
    form = f"text of the form `{value['pattern']}`" if "pattern" in value else "text"
    if "examples" in value:
        form = f"text such as `{value['examples'][0]}`"
    return form + (f", at most {value['maxLength']} characters" if "maxLength" in value else "")


def _table(rows: list[Row]) -> str:
    lines = [("field", "type", "default", "meaning"), ("---",) * 4, *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )


def _first(part: Schema) -> str:
    return str(part.get("description", "")).partition("\n")[0]


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]
