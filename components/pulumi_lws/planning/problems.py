"""What is wrong with a declaration, said so that the reader can mend it.

Planning and rules return problems instead of raising, so that all of them are shown at once. Only the edge of the
library (a component, a command) turns them into an error.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError


class Severity(StrEnum):
    """How bad a problem is."""

    ERROR = "error"
    """It would be refused, hang, or break a running deployment: nothing is applied."""
    WARNING = "warning"
    """It works, at a price that the reader may not know."""
    UNSEEN = "unseen"
    """A value is not known before the update, so the rule could not judge it."""


@dataclass(frozen=True)
class Problem:
    """One thing to mend.

    Attributes:
        path: Where it stands, in the reader's own spelling, such as ``deployments.glm-5.parallelism.tensor``.
        found: What stands there.
        allowed: What may stand there.
        fix: What to do, as an imperative sentence.
        severity: How bad it is.
        rule: Name of the rule that found it; empty for the shape of a declaration itself.
        refused: Whether the API server would refuse the object for it.
    """

    path: str
    found: str
    allowed: str
    fix: str
    severity: Severity = Severity.ERROR
    rule: str = ""
    refused: bool = False

    def __str__(self) -> str:
        """Say the problem in one line."""
        where = f"{self.path}: " if self.path else ""
        return f"{where}found {self.found}; allowed: {self.allowed}. {self.fix}"

    def below(self, prefix: str) -> "Problem":
        """Return the same problem with ``prefix`` before its path."""
        path = f"{prefix}.{self.path}" if self.path else prefix
        return replace(self, path=path)


def describe(problems: Sequence[Problem], subject: str) -> str:
    """Say all problems of ``subject`` at once: a headline, then a line for each."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    return "\n".join([f"{subject} has {count}:", *(f"  - {problem}" for problem in problems)])


def errors_of(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems that forbid applying."""
    return [problem for problem in problems if problem.severity is Severity.ERROR]


def invalid(allowed: str, fix: str, *, field: str = "", found: str = "") -> PydanticCustomError:
    """Return the error that a validator raises to say what is allowed and how to get there.

    Pydantic adds the path and the value that was found. The validator of a whole model names the field that it means,
    and what it found there.
    """
    # Not in the message: pydantic would read braces in it as fields of a template.
    return PydanticCustomError(
        "problem", "not allowed", {"allowed": allowed, "fix": fix, "field": field, "found": found}
    )


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Translate what pydantic found wrong with a declaration of ``model``."""
    return [_problem_of(details, model) for details in error.errors(include_url=False)]


def path_of(location: Iterable[int | str]) -> str:
    """Write a location as a reader would: ``roles[1].name``."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path


def _problem_of(details: ErrorDetails, model: type[BaseModel]) -> Problem:
    kind, context = details["type"], details.get("ctx", {})
    location = [part for part in details["loc"] if not _is_union_branch(part)]
    own = _without_tags(model, location)
    path, last = path_of(own), str(own[-1]) if own else "the declaration"
    found = shown(details["input"])
    match kind:
        case "problem":
            path = path_of([*own, context["field"]]) if context["field"] else path
            return Problem(path, context["found"] or found, context["allowed"], context["fix"])
        case "missing":
            return Problem(path, "nothing", _allowed_by_schema(model, location), f"Add {last}.")
        case "extra_forbidden":
            fields = _fields_at(model, location[:-1])
            close = difflib.get_close_matches(last, fields, n=1)
            fix = f"Write {close[0]} instead." if close else f"Remove {last}."
            return Problem(path, f"an unknown field with the value {found}", ", ".join(fields), fix)
        case "literal_error" | "enum":
            return Problem(path, found, context["expected"].replace("'", ""), f"Choose one of them for {last}.")
        case "union_tag_invalid" | "union_tag_not_found":
            tag = context["discriminator"].strip("'")
            allowed = context.get("expected_tags", "one of the documented kinds").replace("'", "")
            found = context.get("tag", "nothing")
            return Problem(f"{path}.{tag}", found, allowed, f"Choose one of them for {tag}.")
        case _:
            allowed = _bound_of(kind, context) or details["msg"][0].lower() + details["msg"][1:]
            return Problem(path, found, allowed, f"Change {last}.")


_BOUNDS: Mapping[str, str] = {
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "greater_than": "more than {gt}",
    "less_than": "less than {lt}",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "list_type": "a list",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "string_pattern_mismatch": "text of the form {pattern}",
}


def _bound_of(kind: str, context: Mapping[str, Any]) -> str | None:
    template = _BOUNDS.get(kind)
    return template.format(**context) if template else None


def _is_union_branch(part: int | str) -> bool:
    """Tell whether pydantic added this part, for a branch of a union or a mapping's key, and no reader wrote it."""
    return part in {"str", "int", "[key]"} or str(part).startswith(("is-instance[", "function-", "constrained-"))


def _without_tags(model: type[BaseModel], location: Sequence[int | str]) -> list[int | str]:
    """Leave out the parts that pydantic adds to a location to say which branch of a union it took."""
    current: Any = model
    own: list[int | str] = []
    for part in location:
        if branch := _branch(current, part):
            current = branch
        else:
            own.append(part)
            current = _step(current, part)
    return own


def _model_at(model: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel] | None:
    """Walk from ``model`` along ``location`` to the model that declares the fields there."""
    current: Any = model
    for part in location:
        current = _branch(current, part) or _step(current, part)
    return next((member for member in _members(current) if _is_model(member)), None)


def _branch(annotation: Any, part: int | str) -> type[BaseModel] | None:
    """Return the model of a union that a tag or its own name stands for; None if the part is neither."""
    members = _members(annotation)
    models = [member for member in members if _is_model(member)] if len(members) > 1 else []
    return next((model for model in models if part == model.__name__ or part in _tags_of(model)), None)


def _step(annotation: Any, part: int | str) -> Any:
    """Return the type of a field, or of the parts of a mapping or a list; None if there is no such field."""
    for member in _members(annotation):
        if _is_model(member):
            for name, field in member.model_fields.items():
                if part in {name, field.alias}:
                    return field.annotation
        elif arguments := [argument for argument in get_args(member) if argument is not Ellipsis]:
            return arguments[-1]
    return None


def _members(annotation: Any) -> list[Any]:
    """Return the branches of a union, or the only one, without what annotates them."""
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        return [member for argument in get_args(annotation) for member in _members(argument)]
    return [annotation]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _tags_of(model: type[BaseModel]) -> set[Any]:
    """Return what a model's fields of one possible value can be: its tag in a union."""
    values = (get_args(field.annotation) for field in model.model_fields.values() if _is_literal(field.annotation))
    return {value for only in values if len(only) == 1 for value in only}


def _is_literal(annotation: Any) -> bool:
    return get_origin(annotation) is Literal


def _fields_at(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    found = _model_at(model, location)
    return [field.alias or name for name, field in found.model_fields.items()] if found else []


def _allowed_by_schema(model: type[BaseModel], location: Sequence[int | str]) -> str:
    parent = _model_at(model, location[:-1])
    if parent is not None:
        for name, field in parent.model_fields.items():
            if location[-1] in {name, field.alias} and field.description:
                return field.description.replace("``", "").replace("\n", " ").partition(". ")[0].rstrip(".")
    return "a value"


_LONGEST_TEXT = 200


def shown(value: Any) -> str:
    """Show a value shortly. A mapping or list is named by its shape: it may hold a secret, and is too long anyway."""
    match value:
        case None:
            text = "nothing"
        case bool():
            text = str(value).lower()
        case int() | float():
            text = str(value)
        case str():
            text = repr(value if len(value) <= _LONGEST_TEXT else f"{value[:_LONGEST_TEXT]}…")
        case list() | tuple():
            text = f"a list of {len(value)}"
        case Mapping():
            text = "a mapping with " + (", ".join(map(str, value)) or "no fields")
        case _:
            # Its own text may be long, secret, or an error: that of an Output of Pulumi is.
            text = f"a value of the type {type(value).__name__}"
    return text
