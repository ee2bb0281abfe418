"""What a declaration's types say of a place in it: its models, fields and branches of unions."""

from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

Location = Sequence[int | str]
"""Where something stands: fields, keys and indices, from the outside to the inside."""


def without_tags(model: type[BaseModel], location: Location) -> list[int | str]:
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


def models_at(model: type[BaseModel], location: Location) -> list[type[BaseModel]]:
    """Walk from ``model`` along ``location`` to the models of which one declares the fields there."""
    return models_of(_annotation_at(model, location))


def field_at(model: type[BaseModel], location: Location) -> FieldInfo | None:
    """Return the field that a location ends with; None where it ends with anything else."""
    if not location:
        return None
    for owner in models_at(model, location[:-1]):
        for name, field in owner.model_fields.items():
            if location[-1] in {name, field.alias}:
                return field
    return None


def example_at(model: type[BaseModel], location: Location, *, is_key: bool = False) -> Any:
    """Return an example of what may stand at a place, or be a key there; None where its type gives none."""
    field = None if is_key else field_at(model, location)
    infos = [field] if field else []
    if is_key:
        mappings = map(get_args, _members(_annotation_at(model, location[:-1])))
        infos += [info for arguments in mappings if arguments for info in _infos(arguments[0])]
    else:
        infos += _infos(field.annotation if field else _annotation_at(model, location))
    return next((example for info in infos for example in info.examples or ()), None)


def names_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a model by their name in a stack file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def models_of(annotation: Any) -> list[type[BaseModel]]:
    """Return the models among the branches of a type."""
    return [member for member in _members(annotation) if _is_model(member)]


def tags_of(model: type[BaseModel]) -> set[Any]:
    """Return what a model's fields of one possible value can be: its tag in a union."""
    fields = (field.annotation for field in model.model_fields.values())
    values = (get_args(annotation) for annotation in fields if get_origin(annotation) is Literal)
    return {value for only in values if len(only) == 1 for value in only}


def _annotation_at(model: type[BaseModel], location: Location) -> Any:
    current: Any = model
    for part in location:
        current = _branch(current, part) or _step(current, part)
    return current


def _branch(annotation: Any, part: int | str) -> type[BaseModel] | None:
    """Return the model of a union that a tag or its own name stands for; None if the part is neither."""
    members = _members(annotation)
    models = [member for member in members if _is_model(member)] if len(members) > 1 else []
    return next((model for model in models if part == model.__name__ or part in tags_of(model)), None)


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


def _infos(annotation: Any) -> Iterator[FieldInfo]:
    """Yield what annotates a type or a branch of it."""
    if get_origin(annotation) is Annotated:
        first, *rest = get_args(annotation)
        yield from (info for info in rest if isinstance(info, FieldInfo))
        yield from _infos(first)
    elif get_origin(annotation) in {Union, UnionType}:
        for argument in get_args(annotation):
            yield from _infos(argument)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
