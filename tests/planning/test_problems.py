"""Pydantic's findings, said in the product's own words."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError

from pulumi_lws.declarations import Count, Declaration, DnsLabel
from pulumi_lws.planning.problems import Problem, describe, invalid
from pulumi_lws.planning.validation import problems_of


class Inner(Declaration):
    kind: Literal["a", "b"] = "a"
    """Kind of the inner thing. More words."""
    how_many: Count
    """How many there are. Default none."""


class Cat(Declaration):
    kind: Literal["cat"]
    lives: Count
    """Lives that are left."""


class Dog(Declaration):
    kind: Literal["dog"]
    tricks: Count
    """Tricks that it knows."""


class Outer(Declaration):
    name: DnsLabel = "x"
    inner: Inner | None = None
    by_name: Mapping[str, Inner] = {}
    listed: tuple[Inner, ...] = ()
    either: int | str = 1
    pets: Mapping[str, Annotated[Cat | Dog, Field(discriminator="kind")]] = {}
    wordy: str | Dog = ""


def found_in(raw: Any) -> list[Problem]:
    with pytest.raises(ValidationError) as raised:
        Outer.model_validate(raw)
    return problems_of(raised.value, Outer)


def test_every_problem_is_shown_at_once() -> None:
    assert found_in({"name": "X", "inner": {"kind": "c", "howMany": 1}, "either": []}) == [
        Problem(
            "name",
            "'X'",
            "lower-case letters, digits and '-', starting with a letter, not ending with '-'",
            "Choose a name of that form: DNS and selectors are made from it.",
        ),
        Problem("inner.kind", "'c'", "a or b", "Choose one of them for kind."),
        Problem("either", "a list of 0", "a whole number or text", "Change either."),
    ]


def test_a_misspelt_field_is_answered_with_the_right_one() -> None:
    assert found_in({"byName": {"k": {"howMny": 1, "howMany": 1}}}) == [
        Problem("byName.k.howMny", "an unknown field with the value 1", "kind, howMany", "Write howMany instead.")
    ]


def test_an_unknown_field_close_to_none_is_to_be_removed() -> None:
    assert found_in({"zzz": "secret"})[0].fix == "Remove zzz."


def test_a_missing_field_is_explained_by_its_own_documentation() -> None:
    assert found_in({"listed": [{}]}) == [Problem("listed[0].howMany", "nothing", "How many there are", "Add howMany.")]


def test_the_branch_of_a_union_decides_what_is_missing_and_stands_in_no_path() -> None:
    # A pet may be called like a kind.
    assert found_in({"pets": {"cat": {"kind": "dog"}, "dog": {"kind": "dog", "trick": 1, "tricks": 1}}}) == [
        Problem("pets.cat.tricks", "nothing", "Tricks that it knows", "Add tricks."),
        Problem("pets.dog.trick", "an unknown field with the value 1", "kind, tricks", "Write tricks instead."),
    ]
    assert found_in({"pets": {"a": {"kind": "fish"}}}) == [
        Problem("pets.a.kind", "fish", "cat, dog", "Choose one of them for kind.")
    ]
    assert found_in({"wordy": {"kind": "dog"}})[-1].path == "wordy.tricks"


@pytest.mark.parametrize("value", [True, "2", 1.5])
def test_a_count_takes_whole_numbers_only(value: object) -> None:
    [problem] = found_in({"inner": {"howMany": value}})
    assert (problem.path, problem.allowed) == ("inner.howMany", "a whole number")


def test_a_bound_is_named() -> None:
    [problem] = found_in({"inner": {"howMany": -1}})
    assert str(problem) == "inner.howMany: found -1; allowed: 0 or more. Change howMany."


def test_the_contents_of_a_mapping_are_never_shown() -> None:
    assert found_in({"name": {"password": "hunter2"}})[0].found == "a mapping with password"


def test_a_problem_of_the_whole_declaration_has_no_path() -> None:
    assert str(found_in(None)[0]) == (
        "found nothing; allowed: a mapping of name, inner, byName, listed, either, pets, …."
        " Write the declaration as a mapping."
    )


def test_braces_in_a_validators_words_are_kept() -> None:
    error = invalid("{x}", "Write {y}.")
    assert error.context == {"allowed": "{x}", "fix": "Write {y}.", "field": "", "found": ""}


def test_the_headline_counts() -> None:
    problem = Problem("a", "1", "2", "Write 2.")
    assert describe([problem], "Stack dev") == "Stack dev has 1 problem:\n  - a: found 1; allowed: 2. Write 2."
    assert describe([problem, problem], "Stack dev").startswith("Stack dev has 2 problems:")


def test_a_problem_below_something_keeps_all_but_its_path() -> None:
    assert Problem("a", "1", "2", "Write 2.", rule="r").below("b") == Problem("b.a", "1", "2", "Write 2.", rule="r")
    assert Problem("", "1", "2", "Write 2.").below("b").path == "b"


def test_the_text_of_a_strange_value_is_not_asked_for() -> None:
    class Loud:
        def __str__(self) -> str:
            raise RuntimeError("not to be shown")

    assert found_in({"name": Loud()})[0].found == "a value of the type Loud"
