"""Writes imported resources as Python, which ``pulumi import`` asks of the language host."""

import json
import keyword
import re
from collections.abc import Iterator
from typing import Any

from lab.language_host.pcl import Block, Call, PclError, Property, Reference, parse

FUNCTIONS = {
    "secret": "pulumi.Output.secret",
    "fileAsset": "pulumi.FileAsset",
    "stringAsset": "pulumi.StringAsset",
    "remoteAsset": "pulumi.RemoteAsset",
    "fileArchive": "pulumi.FileArchive",
    "remoteArchive": "pulumi.RemoteArchive",
    "assetArchive": "pulumi.AssetArchive",
}

LOGICAL_NAME = "__logicalName"
"""Attribute with the name of a resource in Pulumi, where it could not serve as that of a variable."""

RESERVED = {*keyword.kwlist, "exec", "print"}  # the last two since Pulumi's generator knows Python 2

WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-rt-z])")
"""Where a word begins in `camelCase`. The `s` of `clusterIPs` is of the plural, not the beginning of a word."""


def generate(source: str) -> str:
    """A Python program that declares the resources that ``source`` declares in PCL.

    Raises:
        PclError: It has something that ``pulumi import`` does not write.
    """
    waiting = {block.labels[0]: block for block in parse(source) if block.kind in {"resource", "component"}}
    packages = {constructor(block.labels[1])[0] for block in waiting.values() if block.kind == "resource"}
    lines = ["import pulumi", *(f"import pulumi_{package} as {package}" for package in sorted(packages))]
    while waiting:
        ready = (name for name, block in waiting.items() if not (set(references(block)) & waiting.keys()) - {name})
        name = next(ready, next(iter(waiting)))
        lines += ["", declaration(name, waiting.pop(name))]
    return "\n".join(lines) + "\n"


def declaration(name: str, block: Block) -> str:
    """The statement that declares one resource."""
    attributes = dict(block.attributes)
    arguments = [python(attributes.pop(LOGICAL_NAME, name), 1)]
    if block.kind == "component":
        function = "pulumi.ComponentResource"
        arguments.insert(0, python(attributes.pop("token"), 1))
    else:
        function = ".".join(constructor(block.labels[1]))
    arguments += [f"{snake_case(key)}={python(value, 1)}" for key, value in attributes.items()]
    for inner in block.blocks:
        options = ", ".join(f"{snake_case(key)}={python(value, 1)}" for key, value in inner.attributes.items())
        arguments.append(f"opts=pulumi.ResourceOptions({options})")
    return "\n".join([f"{variable(name)} = {function}(", *(f"    {argument}," for argument in arguments), ")"])


def constructor(token: str) -> tuple[str, str]:
    """The package of a resource type and the path of its class in it, for ``kubernetes:apps/v1:Deployment``."""
    package, module, name = token.split(":")
    if (package, module) == ("pulumi", "providers"):
        return variable(name), "Provider"
    parts = [variable(part.split(".")[0]) for part in module.split("/")]  # `rbac` of `rbac.authorization.k8s.io`
    if parts[-1] in {name[0].lower() + name[1:], "index"}:
        parts.pop()
    return variable(package), ".".join([*parts, name])


def references(item: Any) -> Iterator[str]:
    """The names of the resources that a block or a value refers to."""
    match item:
        case Reference(path=path):
            yield path[0]
        case Call(argument=argument):
            yield from references(argument)
        case Block(attributes=attributes, blocks=blocks):
            yield from references([attributes, *blocks])
        case dict():
            yield from references(list(item.values()))
        case list():
            for each in item:
                yield from references(each)


def python(value: Any, depth: int) -> str:
    """A value as Python, its further lines indented for ``depth`` levels."""
    match value:
        case Reference(path=(name, *properties)):
            return ".".join([variable(name), *map(snake_case, properties)])
        case Call(function=function, argument=argument) if function in FUNCTIONS:
            return f"{FUNCTIONS[function]}({python(argument, depth)})"
        case dict() | list() if value:
            indent = "    " * depth
            items = (
                [f"{python(key, 0)}: {python(each, depth + 1)}" for key, each in value.items()]
                if isinstance(value, dict)
                else [python(each, depth + 1) for each in value]
            )
            opening, closing = "{}" if isinstance(value, dict) else "[]"
            return "\n".join([opening, *(f"{indent}    {item}," for item in items), f"{indent}{closing}"])
        case Property():
            return python(snake_case(value), 0)
        case str():
            return json.dumps(value, ensure_ascii=False)
        case Call(function=function):
            raise PclError(f"the function {function} is not known")
    return repr(value)


def snake_case(name: str) -> str:
    """The Python name of a property."""
    return variable(WORD.sub("_", name).lower())


def variable(name: str) -> str:
    """A name that Python accepts as that of a variable."""
    safe = re.sub(r"\W", "_", name)
    return f"{safe}_" if safe in RESERVED else safe
