"""What pydantic finds wrong with a declaration, in the product's own words."""

import difflib
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pulumi_lws.planning.annotations import (
    Location,
    example_at,
    field_at,
    models_at,
    models_of,
    names_of,
    tags_of,
    without_tags,
)
from pulumi_lws.planning.problems import Problem, path_of, shown
from pulumi_lws.planning.secrets import HIDDEN, is_for_a_secret, is_token

_BOUNDS: Mapping[str, str] = {
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "greater_than": "more than {gt}",
    "less_than": "less than {lt}",
    "finite_number": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} of them",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "string_pattern_mismatch": "text of the form {pattern}",
}

_MAPPINGS = frozenset({"dict_type", "mapping_type", "model_type", "model_attributes_type"})
_LISTS = frozenset({"list_type", "tuple_type", "set_type"})
_WHOLE = frozenset({"int_type", "int_parsing", "int_from_float"})

_ABBREVIATIONS: Mapping[str, str] = {
    "dp": "data",
    "ep": "expert",
    "pp": "pipeline",
    "tp": "tensor",
}
"""What people write for fields."""

_LEAST_CONTAINED = 3
"""Letters from which on a part of a name stands for it."""

_MOST_FIELDS = 6
"""Fields of a mapping that are named at most where it is missing."""

_IN_THOUSANDS = re.compile(r"(\d{1,6})\s*[kK]")


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Translate what pydantic found wrong with a declaration of ``model``."""
    # Of a list pydantic counts only the entries that are right.
    found = [details for details in error.errors(include_url=False) if not _is_long_enough(details)]
    left, alternatives = _of_meant_branches(found)
    return _once([problem for details in left for problem in _problems_of(details, model)], model, alternatives)


def _is_long_enough(details: ErrorDetails) -> bool:
    value = details["input"]
    return details["type"] == "too_short" and isinstance(value, Sized) and len(value) >= details["ctx"]["min_length"]


def _of_meant_branches(found: Sequence[ErrorDetails]) -> tuple[list[ErrorDetails], set[tuple[int | str, ...]]]:
    """Leave out what was said of a union's text where a mapping stands; return the places of such unions too."""
    texts = [
        details
        for details in found
        if details["type"] == "string_type"
        and isinstance(details["input"], Mapping)
        and _is_union_branch(details["loc"][-1])
    ]
    others = [details for details in found if details not in texts]
    # Where nothing else is said of the mapping, text is all that may stand there.
    places = {
        place
        for place in (details["loc"][:-1] for details in texts)
        if any(details["loc"][: len(place)] == place for details in others)
    }
    return [details for details in found if details in others or details["loc"][:-1] not in places], places


def _once(
    problems: Sequence[Problem], model: type[BaseModel], alternatives: set[tuple[int | str, ...]]
) -> list[Problem]:
    """Say one thing of one place: what may stand there by any branch, and fields that are missing together."""
    by_place: defaultdict[tuple[str, str], list[Problem]] = defaultdict(list)
    for problem in problems:
        by_place[problem.path, problem.found].append(problem)
    said = [
        replace(first, allowed=" or ".join(dict.fromkeys([first.allowed, *(other.allowed for other in others)])))
        for first, *others in by_place.values()
    ]
    for place in alternatives:
        own = without_tags(model, [part for part in place if not _is_union_branch(part)])
        path = path_of(own)
        missing = [each for each in said if each.found == "nothing" and each.path.rpartition(".")[0] == path]
        if len(missing) > 1:
            names = ", ".join(each.path.rpartition(".")[2] for each in missing)
            whole = Problem(path, f"a mapping without {names}", _described(model, own), "Add them.")
            said[said.index(missing[0])] = whole
            said = [each for each in said if each not in missing]
    return said


def _problems_of(details: ErrorDetails, model: type[BaseModel]) -> list[Problem]:
    location = [part for part in details["loc"] if not _is_union_branch(part)]
    if details["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        return _of_no_kind(details, model, location)
    return [_problem_of(details, model, location)]


def _of_no_kind(details: ErrorDetails, model: type[BaseModel], location: Location) -> list[Problem]:
    """Say which kinds there are. Where one is close, what is written is judged as that: more may be wrong."""
    context, path = details["ctx"], path_of(without_tags(model, location))
    field, found = context["discriminator"].strip("'"), context.get("tag", "nothing")
    kinds = {tag: branch for branch in models_at(model, location) for tag in tags_of(branch)}
    close = difflib.get_close_matches(found, kinds, n=1)
    fix = f"Write {close[0]} instead." if close else f"Choose one of them for {field}."
    problem = Problem(f"{path}.{field}" if path else field, found, ", ".join(kinds), fix)
    if not close:
        return [problem]
    branch = kinds[close[0]]
    try:
        branch.model_validate({**details["input"], field: close[0]})
    except ValidationError as error:
        return [problem, *(other.below(path) if path else other for other in problems_of(error, branch))]
    return [problem]


def _problem_of(details: ErrorDetails, model: type[BaseModel], location: Location) -> Problem:
    kind, context = details["type"], details.get("ctx", {})
    own = without_tags(model, location)
    path, last = path_of(own), _last(own)
    found = _shown(details["input"], own)
    is_key = details["loc"][-1:] == ("[key]",)
    match kind:
        case "problem":
            path = path_of([*own, context["field"]]) if context["field"] else path
            fix = _PUT_AWAY if is_for_a_secret(own) and is_token(details["input"]) else context["fix"]
            return Problem(path, context["found"] or found, context["allowed"], fix)
        case "missing":
            return Problem(path, "nothing", _described(model, location), f"Add {last}.")
        case "extra_forbidden":
            return _of_no_field(model, location, path, found)
        case "literal_error" | "enum":
            fix = f"Write one of them instead of {last}." if is_key else f"Choose one of them for {last}."
            return Problem(path, found, context["expected"].replace("'", ""), fix)
        case _ if kind in _MAPPINGS:
            return Problem(path, found, *_shape(model, location, details["input"], own))
        case _:
            allowed = _bound_of(kind, context, example_at(model, location, is_key=is_key))
            fix = f"Rename {last}." if is_key else _correction(kind, details["input"], last)
            return Problem(path, found, allowed or details["msg"][0].lower() + details["msg"][1:], fix)


_PUT_AWAY = "Put it into a Secret of the namespace, and name that here."


def _counts_tokens(location: Sequence[int | str]) -> bool:
    return bool(location) and "tokens" in str(location[-1]).lower()


def _shown(value: Any, location: Location) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # A password may be a number; what counts the tokens of a text is none.
    is_hidden = (isinstance(value, str) or (is_number and not _counts_tokens(location))) and is_for_a_secret(location)
    return HIDDEN if is_hidden or is_token(value) else shown(value)


def _of_no_field(model: type[BaseModel], location: Location, path: str, found: str) -> Problem:
    last = str(location[-1])
    owner = next(iter(models_at(model, location[:-1])), None)
    fields = names_of(owner) if owner else {}
    below = [name for name, field in fields.items() if any(last in names_of(m) for m in models_of(field.annotation))]
    # Where one must stand, that is meant rather than one that may.
    below = [name for name in below if fields[name].is_required()] or below
    if below and last != "kind":
        fix = f"Write it below {' and '.join(below)}."
    elif close := _close(last, fields):
        fix = f"Write {' or '.join(close)} instead."
    else:
        fix = f"Remove {last}."
    return Problem(path, f"an unknown field with the value {found}", ", ".join(fields), fix)


def _close(name: str, fields: Mapping[str, Any]) -> list[str]:
    """Return the fields that a wrong name is likely to mean, by what people write, by its letters, or by a part."""
    if (written_out := _ABBREVIATIONS.get(name.lower())) in fields and written_out is not None:
        return [written_out]
    if close := difflib.get_close_matches(name, fields, n=1):
        return close
    lower = name.lower()
    contained = [
        field
        for field in fields
        for short, long in [sorted((lower, field.lower()), key=len)]
        if len(short) >= _LEAST_CONTAINED and short in long
    ]
    return [field for field in contained if field.lower().startswith(lower)][:2] or contained[:2]


def _shape(model: type[BaseModel], location: Location, value: Any, own: Location) -> tuple[str, str]:
    """Return which mapping may stand at a place, and what to do."""
    last = _last(own)
    branches = models_at(model, location)
    if not branches:
        return "a mapping", f"Write {last} as a mapping."
    kinds = {tag: branch for branch in branches for tag in tags_of(branch)} if len(branches) > 1 else {}
    meant = kinds.get(value) if isinstance(value, str) else None
    chosen = meant or branches[0]
    if len(branches) == 1 or meant:
        mapping = _example_of(chosen, with_kind=bool(meant))
        allowed = f"a mapping such as {mapping}" if mapping else f"a mapping {_fields_in_words(chosen)}"
    else:
        allowed = "a mapping with kind: " + ", ".join(map(str, kinds)) if kinds else "a mapping"
    if meant:
        return allowed, f"Write {_example_of(meant, with_kind=True)}."
    if is_for_a_secret(own):
        return allowed, "Put it into a Secret of the namespace, and name that and its key here."
    return allowed, f"Write {last} as a mapping."


def _example_of(model: type[BaseModel], *, with_kind: bool) -> str:
    """Return the smallest mapping that a model takes, with examples of what may stand there; empty without any."""
    kind = [f"kind: {tag}" for tag in tags_of(model)] if with_kind else []
    wanted = [f"{name}: {_or_dots(model, name)}" for name, field in names_of(model).items() if field.is_required()]
    return f"{{{', '.join(kind + wanted)}}}" if kind or wanted else ""


def _or_dots(model: type[BaseModel], name: str) -> str:
    example = example_at(model, [name])
    return "…" if example is None else str(example)


def _fields_in_words(model: type[BaseModel]) -> str:
    fields = list(names_of(model))
    more = ", …" if len(fields) > _MOST_FIELDS else ""
    return "of " + ", ".join(fields[:_MOST_FIELDS]) + more


def _bound_of(kind: str, context: Mapping[str, Any], example: Any) -> str | None:
    template = _BOUNDS.get(kind)
    if kind == "string_pattern_mismatch" and example is not None:
        template = f"text such as {example}"
    return template.format(**context) if template else None


def _correction(kind: str, value: Any, last: str) -> str:
    """Say what to do about a value of the wrong type."""
    if kind == "string_type" and isinstance(value, bool | int | float):
        return f"Write {last} in quotes."
    if kind in _LISTS:
        return f"Write {last} as a list, also of one."
    if kind in _WHOLE and isinstance(value, str):
        if thousands := _IN_THOUSANDS.fullmatch(value.strip()):
            return f"Write {int(thousands[1]) * 1024}."
        if value.strip().isdecimal():
            return f"Write {int(value)} without quotes."
    return f"Change {last}."


def _last(location: Location) -> str:
    """Return what a reader calls a place: its field, an entry of a list with its number."""
    named = [number for number, part in enumerate(location) if isinstance(part, str)]
    return path_of(location[named[-1] :]) if named else path_of(location) or "the declaration"


def _described(model: type[BaseModel], location: Location) -> str:
    """Return what the declaration itself says of a field, in a sentence."""
    field = field_at(model, location)
    if field is None or not field.description:
        return "a value"
    return field.description.replace("``", "").replace("\n", " ").partition(". ")[0].rstrip(".")


def _is_union_branch(part: int | str) -> bool:
    """Tell whether pydantic added this part, for a branch of a union or a mapping's key, and no reader wrote it."""
    return part in {"str", "int", "[key]"} or str(part).startswith(("is-instance[", "function-", "constrained-"))
