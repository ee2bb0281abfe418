"""The schema of stack files says what the declarations say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from lab.settings_page import rows_of
from pulumi_lws.platform.schema import stack_schema
from tests.conftest import PROJECT, platform_of

SCHEMA = stack_schema()
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)
FILES = [
    *sorted((PROJECT / "stacks").glob("Pulumi.*.yaml")),
    *sorted((PROJECT / "examples" / "serving").glob("*.yaml")),
    *sorted((PROJECT / "examples" / "plan").glob("*.yaml")),
]


def wrong(platform: Any) -> list[tuple[str, str]]:
    """Where a platform is wrong by the schema, the innermost places, and why."""
    errors = VALIDATOR.iter_errors({"config": {"pulumi-lws:platform": platform}})
    return [(".".join(map(str, error.instance_path[2:])), error.message) for error in errors]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from references(part)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_our_own_files_are_right_by_it(file: Path) -> None:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert [error.message for error in VALIDATOR.iter_errors(content)] == []


def test_a_stack_of_this_project_names_it_for_editors() -> None:
    lines = {file.read_text(encoding="utf-8").partition("\n")[0] for file in FILES if file.parent.name == "stacks"}
    assert lines == {"# yaml-language-server: $schema=settings.schema.json"}


@pytest.mark.parametrize(
    ("section", "change", "message"),
    [
        ("pools", {"nodesPerIslnd": 2}, "Additional properties are not allowed ('nodesPerIslnd' was unexpected)"),
        ("pools", {"islands": -1}, "-1 is less than the minimum of 0"),
        ("pools", {"zone": "ohio"}, "\"ohio\" is not valid under any of the schemas listed in the 'anyOf' keyword"),
        ("pools", {"instanceType": "p5.47xlarge"}, '"p5.47xlarge" is not one of'),
    ],
)
def test_what_no_declaration_takes_is_wrong_by_it(section: str, change: dict[str, Any], message: str) -> None:
    platform = platform_of("dev")
    platform[section]["p5"] |= change
    (found,) = wrong(platform)
    assert found[0].startswith(f"{section}.p5")
    assert found[1].startswith(message)


def test_a_name_that_dns_does_not_take_and_a_kind_that_is_missing_are_wrong_by_it() -> None:
    platform = platform_of("dev")
    platform["pools"]["P5"] = platform["pools"]["p5"]
    assert [path for path, _ in wrong(platform)] == ["pools"]
    platform = platform_of("dev")
    del platform["deployments"]["glm-5"]["kind"]
    assert [path for path, _ in wrong(platform)] == ["deployments.glm-5"]


def test_every_part_that_it_refers_to_is_in_it() -> None:
    assert set(references(SCHEMA)) == {f"#/$defs/{name}" for name in SCHEMA["$defs"]}


@pytest.mark.parametrize("name", SCHEMA["$defs"])
def test_every_field_is_explained_and_its_default_is_the_real_one(name: str) -> None:
    fields = SCHEMA["$defs"][name]["properties"]
    for field, (_, kinds, default, _meaning) in zip(fields.values(), rows_of(SCHEMA, name), strict=True):
        assert field.get("description"), field
        assert kinds != "anything", field
        literal = field.get("default")
        # The page adds what the description does not say; of a number it says it.
        assert not isinstance(literal, int | float) or "(`" not in default, (field, default)
