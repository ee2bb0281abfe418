"""Derives tables from the classes of the installed SDKs; a program of its own: ``derive.py <token>``.

Importing an SDK's services is what takes time, so that it derives every type that has rules here along with the one
that it was asked for.
"""

import enum
import importlib
import inspect
import keyword
import re
import sys
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pulumi

# Started by its path, in the folder of whoever asks.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lab.aws import functions
from lab.aws.kinds import KINDS
from lab.aws.tables import Properties, Property, Table, UnknownTokenError, file_of, keep, package_of


def derive(wanted: str) -> None:
    """Derive and keep the table of a token, and those of the same SDK that have rules."""
    package = package_of(wanted)
    for token in dict.fromkeys((wanted, *KINDS, *functions.TOKENS)):
        if package_of(token) == package and not file_of(token).exists():
            read = resource if token.rpartition(":")[2][0].isupper() else function
            try:
                keep(token, read(token))
            except UnknownTokenError:
                keep(token, None)


def _member(token: str, python_name: Callable[[str], str]) -> Any:
    package, _, rest = token.partition(":")
    service, _, name = rest.partition(":")
    service = service.partition("/")[0].lower()
    module = f"pulumi_{package}"
    if service != "index":
        module += f".{service}{'_' if keyword.iskeyword(service) else ''}"
    try:
        return getattr(importlib.import_module(module), python_name(name))
    except (ImportError, AttributeError) as error:
        raise UnknownTokenError(token) from error


def resource(token: str) -> Table:
    """The table of a resource type or component.

    Raises:
        UnknownTokenError: The SDK has none of this name.
    """
    resource_class = _member(token, str)
    if getattr(resource_class, "pulumi_type", token) not in (token, f"pulumi:providers:{token.partition(':')[0]}"):
        raise UnknownTokenError(token)
    arguments = getattr(inspect.getmodule(resource_class), f"{resource_class.__name__}Args")
    objects: dict[str, Properties] = {}
    inputs = _properties(arguments, objects, _required(arguments))
    outputs = _properties(resource_class, objects, None)
    return Table(token=token, inputs=inputs, outputs=outputs, objects=objects)


def function(token: str) -> Table:
    """The table of a function.

    Raises:
        UnknownTokenError: The SDK has none of this name.
    """
    called = _member(token, lambda name: re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower())
    # Wire names stand only in the body: __args__['vpcId'] = vpc_id
    names = re.findall(r"__args__\['(\w+)'\] = (\w+)", inspect.getsource(called))
    hints = typing.get_type_hints(called, localns=_SDK_NAMES)
    parameters = inspect.signature(called).parameters
    objects: dict[str, Properties] = {}
    inputs = {
        wire: Property(
            type=_type(hints[python], objects),
            required=parameters[python].default is inspect.Parameter.empty,
            replaces=False,
        )
        for wire, python in names
    }
    result = hints["return"].__mro__[1]
    return Table(token=token, inputs=inputs, outputs=_properties(result, objects, None), objects=objects)


_SDK_NAMES = {"Output": pulumi.Output, "T": Any}
"""Names within the SDK's alias ``Input``, which annotations use from modules that lack them."""

_SIMPLE = {bool: "boolean", int: "integer", float: "number", str: "string"}
# Whole sentences only: where a condition comes before it, the words say nothing of a plain change.
_FORCES = re.compile(
    r"(?:^|[.;(])\s*(?:chang\w+ this[^.]{0,20} forces?|forces? (?:a )?new|forces? replacement)", re.IGNORECASE
)


def _required(arguments: type) -> set[str]:
    parameters = inspect.signature(arguments).parameters
    return {name for name, parameter in parameters.items() if parameter.default is inspect.Parameter.empty}


def _properties(described: type, objects: dict[str, Properties], required: set[str] | None) -> Properties:
    """The properties of a class of the SDK; where ``required`` is None, those are required that cannot be None."""
    found: Properties = {}
    for name, member in vars(described).items():
        if isinstance(member, property) and member.fget and not name.startswith("_"):
            hint = typing.get_type_hints(member.fget, localns=_SDK_NAMES).get("return", Any)
            found[getattr(member.fget, "_pulumi_name", name)] = Property(
                type=_type(hint, objects),
                required=not _allows_none(hint) if required is None else name in required,
                replaces=bool(_FORCES.search(member.fget.__doc__ or "")),
            )
    return found


def _allows_none(hint: Any) -> bool:
    if typing.get_origin(hint) is pulumi.Output:
        return _allows_none(typing.get_args(hint)[0])
    return type(None) in typing.get_args(hint) or hint is Any


def _members(hint: Any) -> list[Any]:
    """The plain types that a hint allows: those of Input and Output opened, None and doubles of objects left out."""
    origin = typing.get_origin(hint)
    if origin is pulumi.Output:
        return _members(typing.get_args(hint)[0])
    if origin is typing.Union:
        plain = [m for m in typing.get_args(hint) if typing.get_origin(m) not in (Awaitable, pulumi.Output)]
        members = [opened for member in plain for opened in _members(member)]
        if any(_module(member).endswith("._inputs") for member in members):
            members = [member for member in members if not _module(member).endswith(".outputs")]
        return members
    return [] if hint is type(None) or typing.is_typeddict(hint) else [hint]


def _module(hint: Any) -> str:
    return hint.__module__ if isinstance(hint, type) else ""


def _type(hint: Any, objects: dict[str, Properties]) -> Any:
    types = [_one_type(member, objects) for member in _members(hint)]
    distinct = [one for position, one in enumerate(types) if one not in types[:position]]
    if not distinct or "any" in distinct:
        return "any"
    return distinct[0] if len(distinct) == 1 else {"either": distinct}


def _one_type(hint: Any, objects: dict[str, Properties]) -> Any:
    origin = typing.get_origin(hint)
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if origin in (Sequence, list):
        return {"list": _type(typing.get_args(hint)[0], objects)}
    if origin in (Mapping, dict):
        return {"map": _type(typing.get_args(hint)[1], objects)}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"choice": [member.value for member in hint]}
    if _module(hint).startswith("pulumi_") and not issubclass(hint, pulumi.Resource):
        name = f"{hint.__module__}.{hint.__name__}"
        if name not in objects:
            objects[name] = {}  # first, since an object may hold its own kind
            required = None if hint.__module__.endswith(".outputs") else _required(hint)
            objects[name].update(_properties(hint, objects, required))
        return {"object": name}
    return "any"


if __name__ == "__main__":
    derive(sys.argv[1])
