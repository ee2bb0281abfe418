"""What programs may write, taken from the installed SDKs: properties of resources and arguments of functions.

Tables are derived by a process of their own (`lab.aws.derive`) and kept in the cache by the SDK's version: importing
the services of a large SDK takes seconds, more than a hundred megabytes, and registers the SDK's classes.
"""

import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from filelock import FileLock

from lab.folders import cache_folder

_DERIVE = Path(__file__).with_name("derive.py")


class Property(TypedDict):
    """One property.

    ``type`` is ``string``, ``boolean``, ``integer``, ``number``, ``any``, or a dict with one key: ``list`` or ``map``
    (of a type), ``object`` (a name in the table's ``objects``), ``choice`` (of values) or ``either`` (of types).
    ``replaces`` says that the SDK's own words have a change replace the resource.
    """

    type: Any
    required: bool
    replaces: bool


Properties = dict[str, Property]


class Table(TypedDict):
    """A resource type or a function: what goes in, what comes out, and the nested objects of both by their names."""

    token: str
    inputs: Properties
    outputs: Properties
    objects: dict[str, Properties]


class UnknownTokenError(Exception):
    """The SDK has no such resource type or function.

    Args:
        token: What was asked for, such as ``aws:ec2/subnet:Subnet``.
    """

    def __init__(self, token: str) -> None:
        super().__init__(f"{package_of(token)} {version(package_of(token))} has no {token}.")


def package_of(token: str) -> str:
    """The distribution that a token belongs to."""
    return f"pulumi-{token.partition(':')[0]}"


@cache
def version(package: str) -> str:
    """The installed version of a distribution."""
    return importlib.metadata.version(package)


@cache
def table(token: str) -> Table:
    """The table of a resource type, a component or a function.

    Raises:
        UnknownTokenError: The SDK has none of this name.
    """
    file = file_of(token)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(file.parent / ".lock"):
            if not file.exists():
                subprocess.run([sys.executable, "-P", _DERIVE, token], check=True)
    found: Table | None = json.loads(file.read_text(encoding="utf-8"))
    if found is None:
        raise UnknownTokenError(token)
    return found


def file_of(token: str) -> Path:
    """Where the table of a token is kept; what is kept there for a token that the SDK lacks is null."""
    # Another way to derive, another table.
    form = hashlib.sha256(_DERIVE.read_bytes()).hexdigest()[:10]
    folder = cache_folder() / "sdk-tables" / f"{package_of(token)}-{version(package_of(token))}-{form}"
    return folder / f"{re.sub('[:/]', '.', token)}.json"


def keep(token: str, found: Table | None) -> None:
    """Keep a table."""
    file = file_of(token)
    draft = file.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(found), encoding="utf-8")
    draft.replace(file)
